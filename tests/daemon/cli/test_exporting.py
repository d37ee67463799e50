"""An export in pieces: none of them large, and none held by a snapshot."""

# pyright: reportPrivateUsage=false

import json
from pathlib import Path

import pytest

from tests.daemon.cli.conftest import Filled
from tests.daemon.store.filled import LARGE, fill, seal_all, sql
from waybread_daemon.cli.exporting import PIECE_BYTES, Exporter
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.looks import find_session
from waybread_daemon.store.sqlite.blocking import open_looks


def test_pieces_join_to_lines_whose_parts_are_small(filled: Filled) -> None:
    with open_looks(filled.data / "waybread.sqlite") as looks:
        with looks.snapshot() as reader:
            found = find_session(reader, "work", None)
        pieces = list(Exporter(looks, found, 7).pieces())
    lines = [json.loads(line) for line in "".join(pieces)[:-1].split("\n")]
    assert lines[0]["exported_ms"] == 7
    assert max(len(piece.encode()) for piece in pieces) < 2 * PIECE_BYTES


def test_a_large_body_comes_in_pieces_cut_anywhere_and_joins_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "s", ("a",))
    # 3 bytes: pieces end within characters.
    monkeypatch.setattr("waybread_daemon.cli.exporting.PIECE_BYTES", 3 * 7919)
    with open_looks(tmp_path / "s") as looks:
        with looks.snapshot() as reader:
            found = find_session(reader, "a", None)
        pieces = list(Exporter(looks, found, 0).pieces())
    assert max(map(len, pieces)) < 3 * 7919 * 2
    lines = [json.loads(line) for line in "".join(pieces)[:-1].split("\n")]
    bodies = [line["body"] for line in lines if line["line"] == "result"]
    assert bodies[3].encode() == LARGE
    assert bodies[4] == "a body"
    assert lines[-1] == {"line": "end", "entries": 6, "results": 5, "files": 2}


def test_what_is_added_while_it_runs_is_left_out_and_a_deletion_ends_it(tmp_path: Path) -> None:
    fill(tmp_path / "s", ("a", "b"))
    with open_looks(tmp_path / "s") as looks:
        with looks.snapshot() as reader:
            found = find_session(reader, "a", None)
        sql(
            tmp_path / "s",
            "INSERT INTO entry SELECT (1 << 40) | 99, session, 'message', NULL, NULL, NULL, facts, 0, 0, x'', 0 "
            "FROM entry WHERE id = (1 << 40) | 1; INSERT INTO event VALUES (1, (1 << 40) | 99, x'', 0)",
        )
        seal_all(tmp_path / "s")
        pieces = Exporter(looks, found, 0).pieces()
        lines = [json.loads(line) for line in "".join(pieces)[:-1].split("\n")]
        assert lines[-1]["entries"] == 6
        pieces = Exporter(looks, found, 0).pieces()
        next(pieces)
        sql(tmp_path / "s", "UPDATE session SET state = 1 WHERE number = 1")
        with pytest.raises(
            CommandFault, match="the session 'a' was deleted meanwhile: what was printed of it has no end"
        ):
            list(pieces)


def test_between_pieces_no_snapshot_is_held(tmp_path: Path) -> None:
    fill(tmp_path / "s", ("a",))
    with open_looks(tmp_path / "s") as looks:
        with looks.snapshot() as reader:
            found = find_session(reader, "a", None)
        for _ in Exporter(looks, found, 0).pieces():
            assert not looks._connection.in_transaction
