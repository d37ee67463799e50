"""A command's side of the control socket, against a daemon that says what the test wants."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from waybread_daemon.cli import asking as module
from waybread_daemon.cli.asking import NotRunning, asking
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.link.control.messages import AskPair, AskStatus, Deleted, Purged, Void
from waybread_daemon.link.control.place import SOCKET_NAME, Place

PAIR_LINE = b'{"type":"pair","name":"","role":"device","device":""}\n'


@contextmanager
def answering(folder: Path, *chunks: bytes, hang: bool = False) -> Generator[list[bytes]]:
    """A daemon for one command: hears its line, says the chunks, and hangs up, or at the end of the test if it is to `hang`."""
    heard: list[bytes] = []
    over = threading.Event()
    place = Place(folder)
    listening = place.listen()
    listening.setblocking(True)

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, connection.makefile("rb") as lines:
            heard.append(lines.readline())
            for chunk in chunks:
                connection.sendall(chunk)
            if hang:
                over.wait(20)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield heard
    finally:
        over.set()
        thread.join()
        listening.close()
        place.remove()
        place.close()


def refusal(folder: Path) -> str:
    with asking(folder) as daemon, pytest.raises(CommandFault) as caught:
        daemon.ask(AskStatus(), Deleted)
    return str(caught.value)


def test_a_request_is_one_line_and_its_answers_come_in_order(tmp_path: Path) -> None:
    with (
        answering(tmp_path, b'{"type":"del', b'eted","sessions":3}\n{"type":"purged"}\n') as heard,
        asking(tmp_path) as daemon,
    ):
        assert daemon.ask(AskPair(), Deleted) == Deleted(sessions=3)
        assert daemon.next() == Purged()
        assert heard == [PAIR_LINE]


def test_the_daemons_refusal_ends_the_command_with_its_sentence(tmp_path: Path) -> None:
    with answering(tmp_path, b'{"type":"error","message":"no: do that"}\n'):
        assert refusal(tmp_path) == "no: do that"


@pytest.mark.parametrize("said", [b"", b'{"type":"deleted","sess'])
def test_a_daemon_that_ends_amid_its_answer_is_told(tmp_path: Path, said: bytes) -> None:
    with answering(tmp_path, said):
        assert refusal(tmp_path).startswith("the daemon ended before it answered: look at its log")


def test_a_daemon_that_does_not_answer_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPLY_TIMEOUT_S", 0.05)
    with answering(tmp_path, hang=True):
        assert refusal(tmp_path) == "the daemon did not answer within 0.05 s: look at its log, and try again"


def test_a_patient_request_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPLY_TIMEOUT_S", 0.001)
    with answering(tmp_path, b'{"type":"void","why":"late"}\n'), asking(tmp_path) as daemon:
        assert daemon.ask(AskPair(), Void, patiently=True) == Void(why="late")


@pytest.mark.parametrize("said", [b"[]\n", b"no json\n", b'{"type":"sung"}\n', b'{"type":"purged"}\n'])
def test_an_answer_of_another_version_is_told(tmp_path: Path, said: bytes) -> None:
    with answering(tmp_path, said):
        assert "is it of this command's version?" in refusal(tmp_path)


def test_without_a_daemon_the_sentence_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(NotRunning) as caught, asking(tmp_path):
        pass
    assert str(caught.value) == (
        f"no daemon runs with the data folder {tmp_path}: start one with `waybread serve --data {tmp_path}`, or name "
        "the folder of the one that runs with --data"
    )


def test_neither_a_missing_folder_nor_a_socket_left_behind_is_a_daemon(tmp_path: Path) -> None:
    with pytest.raises(NotRunning), asking(tmp_path / "none"):
        pass
    place = Place(tmp_path)
    place.listen().close()
    place.close()
    assert (tmp_path / SOCKET_NAME).exists()
    with pytest.raises(NotRunning), asking(tmp_path):
        pass


def test_a_folder_of_another_user_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Place, "connect", refused)
    with pytest.raises(CommandFault) as caught, asking(tmp_path):
        pass
    assert str(caught.value) == (
        f"{tmp_path / SOCKET_NAME} is for its owner alone and this is user {os.geteuid()}: run the command as the "
        "daemon's user, or as root"
    )
