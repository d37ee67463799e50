"""The folder, the file and the lock."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.connection import prepare
from waybread_daemon.store.sqlite.place import hold_place, make_place


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folder_and_files_are_their_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "store.sqlite"
    prepare(path, None)
    os.close(hold_place(path))
    assert mode(path.parent) == 0o700
    assert {file.name: mode(file) for file in path.parent.iterdir()} == {
        "store.sqlite": 0o600,
        "store.sqlite.lock": 0o600,
    }


def test_a_place_that_is_there_keeps_its_permissions_and_content(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"content")
    path.chmod(0o640)
    make_place(path)
    assert (mode(path), path.read_bytes()) == (0o640, b"content")


def test_one_process_at_a_time_holds_a_place(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    lock = hold_place(path)
    with pytest.raises(StoreRefusal, match=r"Another Waybread serves the store at .*: stop it, or name another file"):
        hold_place(path)
    os.close(lock)
    os.close(hold_place(path))


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    program = (
        "import os, signal, sys; from pathlib import Path; "
        "from waybread_daemon.store.sqlite.place import hold_place; "
        "hold_place(Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert ended.returncode == -9
    os.close(hold_place(path))


def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreRefusal, match=r"The store's file .*/file/store.sqlite cannot be opened for writing"):
        make_place(tmp_path / "file" / "store.sqlite")


def test_a_folder_of_another_user_is_refused_with_the_command_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "getegid", lambda: 100)
    with pytest.raises(StoreRefusal) as caught:
        make_place(tmp_path / "store.sqlite")
    assert str(caught.value) == (
        f"The store's file {tmp_path}/store.sqlite cannot be opened for writing: Permission denied. The folder belongs "
        f"to user {tmp_path.stat().st_uid} and this process runs as user 1000: run `chown -R 1000:100 {tmp_path}` as "
        "root, or name another file."
    )
