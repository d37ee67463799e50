import sys
import types
from collections.abc import Callable

import pytest

from waybread_client import LinkError
from waybread_daemon.__main__ import COMMANDS
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.run import run_command
from waybread_daemon.config import ConfigError
from waybread_daemon.store.contract import StoreFault, StoreRefusal
from waybread_protocol.errors import ErrorCode

Command = Callable[[list[str], dict[str, str]], int]


def run(monkeypatch: pytest.MonkeyPatch, command: Command) -> int:
    module = types.ModuleType("a_command")
    monkeypatch.setattr(module, "main", command, raising=False)
    monkeypatch.setitem(sys.modules, "a_command", module)
    return run_command("a_command", ["one"], {"HOME": "/h"})


def test_a_command_gets_words_and_environment_and_gives_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def command(words: list[str], environment: dict[str, str]) -> int:
        given.extend((words, environment))
        return 7

    assert run(monkeypatch, command) == 7
    assert given == [["one"], {"HOME": "/h"}]


@pytest.mark.parametrize(
    "fault,said",
    [
        (CommandFault("no: do that"), "waybread: no: do that\n"),
        (StoreRefusal("no store: make one"), "waybread: no store: make one\n"),
        (
            StoreFault(ErrorCode.STORAGE_FULL, "The disk is full: free some."),
            "waybread: The disk is full: free some.\n",
        ),
        (LinkError("no link: wait"), "waybread: no link: wait\n"),
        (ConfigError(["a is wrong", "b is wrong"]), "waybread: a is wrong\nwaybread: b is wrong\n"),
    ],
)
def test_what_stops_a_command_is_a_sentence_and_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: Exception, said: str
) -> None:
    def command(_: list[str], __: dict[str, str]) -> int:
        raise fault

    assert run(monkeypatch, command) == 1
    assert capsys.readouterr() == ("", said)


def test_a_sentence_that_names_a_file_stays_one_line_in_a_pipe_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(_: list[str], __: dict[str, str]) -> int:
        raise StoreRefusal("no a\nb\x1b[31m\u202e: rename it")

    assert run(monkeypatch, command) == 1
    assert capsys.readouterr().err == "waybread: no a\\nb\\x1b[31m\\u202e: rename it\n"


def test_a_fault_of_the_programs_own_is_not_dressed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def command(_: list[str], __: dict[str, str]) -> int:
        raise KeyError("x")

    with pytest.raises(KeyError):
        run(monkeypatch, command)


def test_what_a_store_says_of_its_file_is_told_of_the_data_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(_: list[str], __: dict[str, str]) -> int:
        raise StoreRefusal("There is no store at /x: start the daemon first, or name another file.")

    assert run(monkeypatch, command) == 1
    assert capsys.readouterr().err == (
        "waybread: There is no store at /x: start the daemon first, or name another data folder with --data.\n"
    )


def test_a_sentence_cannot_talk_to_a_terminal_even_through_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(_: list[str], __: dict[str, str]) -> int:
        raise LinkError("no\x1b[2J \u202elink")

    run(monkeypatch, command)
    assert capsys.readouterr().err == "waybread: no\\x1b[2J \\u202elink\n"


def test_an_argument_that_is_not_utf_8_is_wrong_usage_of_every_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for module in COMMANDS.values():
        assert run_command(module, ["--data", "odd/x\udcff"], {}) == 2
        assert capsys.readouterr().err == (
            "waybread: the argument 'odd/x\\udcff' is not UTF-8: name something else, or rename it\n"
        )
