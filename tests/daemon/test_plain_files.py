import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from waybread_daemon.plain_files import NoPlainFile, read_plain


def test_a_file_is_read_as_utf_8_through_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("grün\r\n".encode())
    (tmp_path / "b").symlink_to("a")
    assert read_plain(tmp_path / "b") == "grün\n"
    (tmp_path / "a").write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        read_plain(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "c")


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, a_device])
def test_what_is_no_file_is_refused_at_once_and_let_go_of(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "a")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        with pytest.raises(NoPlainFile):
            read_plain(tmp_path / "a")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_socket_is_refused_by_the_system(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as there:
        there.bind(str(tmp_path / "a"))
        with pytest.raises(OSError, match="No such device"):
            read_plain(tmp_path / "a")
