import os
import socket
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from waybread_daemon.link.control import place
from waybread_daemon.link.control.place import ADDRESS_BYTES, SOCKET_NAME, Place, PlaceFault, is_owner


@contextmanager
def a_place(folder: Path) -> Generator[Place]:
    made = Place(folder)
    try:
        yield made
    finally:
        made.close()


def deep(folder: Path, least_bytes: int) -> Path:
    """A folder whose socket's path has at least so many bytes."""
    while len(os.fsencode(folder / SOCKET_NAME)) < least_bytes:
        folder /= "x" * 50
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("least_bytes", [0, 300, 2000])
def test_a_daemon_is_reached_however_deep_its_folder_lies(tmp_path: Path, least_bytes: int) -> None:
    folder = deep(tmp_path, least_bytes)
    with a_place(folder) as daemons, a_place(folder) as commands:
        with daemons.listen() as listening:
            listening.setblocking(True)
            with commands.connect(5) as asking, listening.accept()[0] as asked:
                asking.sendall(b"hello")
                assert asked.recv(5) == b"hello"
        assert stat.S_ISSOCK((folder / SOCKET_NAME).stat().st_mode)
        daemons.remove()
    assert list(folder.iterdir()) == []


def test_the_socket_is_for_its_owner_alone_whatever_the_umask_is(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with a_place(tmp_path) as daemons, daemons.listen():
            assert stat.S_IMODE((tmp_path / SOCKET_NAME).stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_socket_that_a_dead_daemon_left_is_replaced(tmp_path: Path) -> None:
    with a_place(tmp_path) as daemons:
        daemons.listen().close()
        with pytest.raises(ConnectionRefusedError):
            daemons.connect(5)
        with daemons.listen(), daemons.connect(5):
            pass


def test_what_is_no_socket_stays_and_is_told(tmp_path: Path) -> None:
    (tmp_path / SOCKET_NAME).write_text("mine")
    with a_place(tmp_path) as daemons, pytest.raises(PlaceFault, match=r"waybread\.sock .* is no socket: take it away"):
        daemons.listen()
    assert (tmp_path / SOCKET_NAME).read_text() == "mine"


def test_a_link_to_a_socket_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data").mkdir()
    with a_place(tmp_path / "elsewhere") as other, other.listen():
        (tmp_path / "data" / SOCKET_NAME).symlink_to(tmp_path / "elsewhere" / SOCKET_NAME)
        with a_place(tmp_path / "data") as daemons, pytest.raises(PlaceFault, match="no socket"):
            daemons.listen()
        with other.connect(5):
            pass


def test_without_a_way_through_a_descriptor_a_deep_folder_is_refused_with_its_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "_DESCRIPTORS", str(tmp_path / "no such folder"))
    folder = deep(tmp_path, ADDRESS_BYTES + 1)
    length = len(os.fsencode(folder / SOCKET_NAME))
    with pytest.raises(PlaceFault) as caught:
        Place(folder)
    assert f"has {length} bytes, and a socket's may have 103 on this system" in str(caught.value)
    assert "name a data folder with a shorter path" in str(caught.value)


def test_a_path_just_short_enough_is_taken_as_it_is(tmp_path: Path) -> None:
    short = Path("/tmp") / ("x" * (ADDRESS_BYTES - len(f"/tmp//{SOCKET_NAME}")))
    short.symlink_to(tmp_path)
    try:
        with a_place(short) as daemons, daemons.listen():
            assert daemons.address == str(short / SOCKET_NAME)
            assert len(daemons.address) == ADDRESS_BYTES
    finally:
        short.unlink()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Place(tmp_path / "none")


def test_the_other_end_is_the_owner_where_it_is_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = socket.socketpair()
    with one, other:
        assert is_owner(one)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        # Root may ask any daemon; anyone else only their own.
        assert is_owner(one) == (os.getuid() == 0)
        monkeypatch.delattr(socket, "SO_PEERCRED")
        assert is_owner(one)
