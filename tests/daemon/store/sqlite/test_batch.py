"""Records as rows."""

import apsw
import pytest

from tests.daemon.store.opened import Opened, opened, opening, result
from waybread_daemon.store.contract import Facts, Record, StoreFault
from waybread_daemon.store.sqlite.batch import BatchWriter, first_id, last_id, seq_of
from waybread_daemon.store.sqlite.packing import Packer
from waybread_daemon.store.sqlite.sizes import Usage
from waybread_daemon.store.sqlite.statements import run, value

__all__ = ["opened"]


def test_an_entrys_id_is_its_device_and_its_seq() -> None:
    assert first_id(1) == 1_099_511_627_776
    assert last_id(1) + 1 == first_id(2)
    assert seq_of(first_id(7) + 12) == 12
    assert seq_of(None) == 0


def test_a_batch_is_one_transaction_and_touches_each_session_once(opened: Opened) -> None:
    opened.batch.write(opened.cursor, [opening(1, 1), opening(2, 2, "b")])
    before = opened.connection.total_changes()
    opened.batch.write(opened.cursor, [result(n + 2, 1 + n % 2, (n + 1) // 2) for n in range(1, 101)])
    # 100 entries, 100 events, 100 keys, 2 sessions.
    assert opened.connection.total_changes() - before == 302
    assert run(opened.cursor, "SELECT number, head, results FROM session") == [(1, 102, 50), (2, 101, 50)]


def test_a_batch_that_fails_leaves_nothing_and_the_log_goes_on_where_it_was(opened: Opened) -> None:
    opened.batch.write(opened.cursor, [opening(1, 1)])
    with pytest.raises(apsw.ConstraintError):
        opened.batch.write(opened.cursor, [result(2, 1, 1), result(3, 1, 1)])
    run(opened.cursor, "ROLLBACK")
    assert value(opened.cursor, "SELECT count(*) FROM entry") == 1
    opened.batch.write(opened.cursor, [result(2, 1, 1)])
    assert opened.reader.head(1) == 2


@pytest.mark.parametrize("seq", [1, 3, 2**40])
def test_a_gap_or_a_repeat_in_a_log_is_refused(opened: Opened, seq: int) -> None:
    opened.batch.write(opened.cursor, [opening(1, 1)])
    # Another writer, as after a restart, finds the log's end in the file.
    batch = BatchWriter(Packer(), opened.numbers, "epoch", Usage())
    with pytest.raises(StoreFault, match=f"Record {seq} of the log of device 1 came where 2 is next"):
        batch.write(opened.cursor, [result(seq, 1, 1)])


def test_a_session_opened_in_an_earlier_epoch_is_read_only(opened: Opened) -> None:
    run(opened.cursor, "UPDATE meta SET value = 'epoch' WHERE name = 'epoch'")
    opened.batch.write(opened.cursor, [opening(1, 1)])
    facts = opened.reader.session(1, "a")
    assert facts is not None
    assert not facts.read_only
    run(opened.cursor, "UPDATE meta SET value = 'restored' WHERE name = 'epoch'")
    facts = opened.reader.session(1, "a")
    assert facts is not None
    assert facts.read_only


def test_a_session_may_open_and_end_in_one_batch(opened: Opened) -> None:
    deleted = Record(1, 3, 1, "deleted", Facts(3), 1, "")
    written = opened.batch.write(opened.cursor, [opening(1, 1), result(2, 1, 1), deleted])
    assert (written.sessions, written.contents) == ([1], [])
    facts = opened.reader.session(1, "a")
    assert facts is not None
    assert (facts.gone, facts.head) == (True, 3)


def test_the_newest_compaction_stays_the_base(opened: Opened) -> None:
    compacted = Record(1, 2, 1, "compacted", Facts(2), 0, "")
    opened.batch.write(opened.cursor, [opening(1, 1), compacted, result(3, 1, 1)])
    opened.batch.write(opened.cursor, [result(4, 1, 2)])
    facts = opened.reader.session(1, "a")
    assert facts is not None
    assert facts.base_seq == 2
