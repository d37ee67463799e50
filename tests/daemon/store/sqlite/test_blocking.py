"""Commands beside a daemon, and without one."""

# pyright: reportPrivateUsage=false

import asyncio
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.daemon.store.stores import Log, SqlitePlace
from waybread_daemon.store.contract import StoreFault, StoreRefusal
from waybread_daemon.store.sqlite import open_accounts, open_reader
from waybread_daemon.store.sqlite.blocking import open_looks
from waybread_daemon.store.sqlite.connection import close, connect_writer
from waybread_daemon.store.sqlite.statements import run

ADD = (
    "import sys; from pathlib import Path; from waybread_daemon.store.sqlite import open_accounts\n"
    "with open_accounts(Path(sys.argv[1])) as accounts:\n"
    "    for n in range(20):\n"
    "        device = accounts.add_device(f'{sys.argv[2]}-{n}', 'phone', 1)\n"
    "        accounts.add_token(f'{sys.argv[2]}-{n}', device.number, 'device', b'hash', 2)\n"
)


def test_a_look_at_a_store_that_is_not_there_is_refused_and_makes_none(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreRefusal, match=r"There is no store at .*: start the daemon first"),
        open_reader(tmp_path / "s"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_accounts_are_made_before_any_daemon_ran(tmp_path: Path) -> None:
    path = tmp_path / "data" / "store.sqlite"
    with open_accounts(path) as accounts:
        device = accounts.add_device("dev", "phone", 1)
        accounts.add_token("a", device.number, "device", b"hash", 2)
        accounts.add_token("b", device.number, "viewer", b"hash", 2)
        accounts.rename_device(device.number, "tablet")
        accounts.revoke(["a"], 3)
    with open_reader(path) as reader:
        assert [device.name for device in reader.devices()] == ["tablet"]
        assert [(token.token, token.revoked_ms) for token in reader.tokens()] == [("a", 3), ("b", 0)]


async def test_other_processes_change_accounts_while_a_daemon_writes(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    log = Log(store)
    session = await log.session()
    before = await store.look(lambda reader: reader.accounts_version())
    others = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", ADD, str(place.path), name) for name in ("x", "y")
    ]
    while any(other.returncode is None for other in others):
        await asyncio.gather(*(log.result(session) for _ in range(50)))
        await store.add_device(f"own-{log.seq}", "own", 1)
    assert [other.returncode for other in others] == [0, 0]
    tokens = await store.look(lambda reader: reader.tokens())
    assert len(tokens) == 40
    assert await store.look(lambda reader: reader.accounts_version()) > before + 80
    assert await store.look(lambda reader: reader.head(1)) == log.seq
    await store.close()


async def test_a_command_looks_while_a_daemon_writes(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    log = Log(store)
    session = await log.session()
    await log.result(session, b"the body")
    with open_reader(place.path) as reader:
        log.result(session)
        await store.settled()
        row = reader.result(session, 1)
        assert row is not None
        assert row.body == b"the body"
    await store.close()


def test_a_fault_leaves_accounts_as_they_were_and_usable(tmp_path: Path) -> None:
    with open_accounts(tmp_path / "s") as accounts:
        accounts.add_device("dev", "phone", 1)
        with pytest.raises(StoreFault):
            accounts.add_device("dev", "again", 2)
        accounts.add_device("dev-2", "tablet", 3)
    with open_reader(tmp_path / "s") as reader:
        assert [device.name for device in reader.devices()] == ["phone", "tablet"]


def test_a_lock_that_is_never_given_back_ends_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybread_daemon.store.sqlite.connection.BUSY_TIMEOUT_MS", 50)
    with open_accounts(tmp_path / "s") as accounts:
        other = connect_writer(tmp_path / "s", None)
        run(other.cursor(), "BEGIN IMMEDIATE")
        with pytest.raises(StoreFault, match=r"Another process keeps .* locked"):
            accounts.add_device("dev", "phone", 1)
        close(other)
        assert accounts.add_device("dev", "phone", 1).number == 1


def test_a_command_that_was_killed_leaves_the_store_usable(tmp_path: Path) -> None:
    path = tmp_path / "s"
    program = ADD + "    import os; os.kill(os.getpid(), 9)\n"
    assert subprocess.run([sys.executable, "-c", program, str(path), "x"], check=False).returncode == -9
    with open_reader(path) as reader:
        assert len(reader.tokens()) == 20


async def test_several_looks_see_what_was_written_between_them_and_hold_nothing(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    log = Log(store)
    session = await log.session()
    content = b"a file\n"
    digest = hashlib.sha256(content).digest()
    with open_looks(place.path) as looks:
        assert looks.epoch() == store.epoch
        assert looks.next_file(session, 0) is None
        await log.read(session, digest, content)
        with looks.snapshot() as reader:
            row = reader.result(session, 1)
        assert row is not None
        assert row.content is not None
        assert looks.hash_of(row.content.content) == digest
        assert looks.hash_of(99) is None
        file = looks.next_file(session, 0)
        assert file is not None
        assert (file.sha256, file.content) == (digest, row.content)
        assert looks.next_file(session, file.content.content) is None
        with pytest.raises(StoreFault, match="no such table"), looks.snapshot():
            run(looks._connection.cursor(), "SELECT * FROM missing")
        assert not looks._connection.in_transaction
    await store.close()
