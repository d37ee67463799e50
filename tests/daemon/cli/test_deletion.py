"""What the two deletions have in common. That they delete is tested with each command."""

import argparse
import io
import sys
from pathlib import Path

import pytest

from tests.daemon.cli.support import waybread
from waybread_daemon.cli.deletion import confirm, delete, outcome, take_deletion
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.link.control.messages import DeleteSession
from waybread_daemon.sessions.desk import Desk
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.place import hold_place
from waybread_protocol.errors import ErrorCode, RequestError

REQUEST = DeleteSession(device="d", session="s")


class Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_flags_are_off_unless_said() -> None:
    parser = argparse.ArgumentParser()
    take_deletion(parser)
    assert vars(parser.parse_args([])) == {"yes": False, "wait": False}
    assert vars(parser.parse_args(["--yes", "--wait"])) == {"yes": True, "wait": True}


@pytest.mark.parametrize("typed", ["y\n", "Y\n", " yes \n"])
def test_yes_goes_on(typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", Keyboard(typed))
    confirm("Delete \x1b[2J?")
    assert capsys.readouterr() == ("", "Delete \\x1b[2J? This cannot be undone. [y/N] ")


@pytest.mark.parametrize("typed", ["", "\n", "n\n", "yesterday\n"])
def test_anything_else_deletes_nothing(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Keyboard(typed))
    with pytest.raises(CommandFault, match="nothing was deleted: answer y to delete"):
        confirm("Delete?")


def test_where_nobody_can_be_asked_it_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    with pytest.raises(CommandFault, match="there is no terminal to ask on: say --yes"):
        confirm("Delete?")


def test_the_outcome_is_a_sentence() -> None:
    assert outcome(None) == "The daemon frees its space in the background, within some minutes; --wait waits for it."
    assert outcome(3 * 1024 * 1024) == "The store is 3.0 MiB smaller."


async def nothing(_: Desk) -> None:
    pass


def test_a_store_that_a_process_holds_that_cannot_be_asked_is_left_alone(tmp_path: Path) -> None:
    waybread("device", "add", "phone", "--data", tmp_path)
    hold_place(tmp_path / "waybread.sqlite")
    with pytest.raises(StoreRefusal, match="Another Waybread serves the store"):
        delete(tmp_path, REQUEST, nothing)


def test_what_the_desk_refuses_is_the_sentence(tmp_path: Path) -> None:
    async def refuses(_: Desk) -> None:
        raise RequestError(ErrorCode.UNKNOWN_SESSION, "there is none: open it")

    waybread("device", "add", "phone", "--data", tmp_path)
    with pytest.raises(CommandFault, match="there is none: open it"):
        delete(tmp_path, REQUEST, refuses)


def test_a_fault_of_the_programs_own_is_not_dressed_up(tmp_path: Path) -> None:
    async def fails(desk: Desk) -> None:
        desk.report(KeyError("x"))
        raise RequestError(ErrorCode.INTERNAL, "a fault")

    waybread("device", "add", "phone", "--data", tmp_path)
    with pytest.raises(KeyError):
        delete(tmp_path, REQUEST, fails)


def test_an_empty_deletion_frees_nothing(tmp_path: Path) -> None:
    waybread("device", "add", "phone", "--data", tmp_path)
    assert delete(tmp_path, REQUEST, nothing) == 0
