"""The folder, the file and the lock; and every place that is refused before anything is touched there."""

import errno
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.store.filled import listing, sql
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite import mounts, place
from waybread_daemon.store.sqlite.connection import prepare
from waybread_daemon.store.sqlite.place import (
    examine_place,
    hold_place,
    is_held,
    is_read_only,
    make_folder,
    make_place,
)

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
OTHER = 54_321


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def prepared(path: Path) -> None:
    prepare(path, None)


def refusal(path: Path) -> str:
    """Why the place is refused: by every way into it, with nothing touched."""
    before = listing(path.parent) if path.parent.is_dir() else {}
    sentences: set[str] = set()
    for enter in (examine_place, make_place, prepared):
        with pytest.raises(StoreRefusal) as caught:
            enter(path)
        sentences.add(str(caught.value))
    assert (listing(path.parent) if path.parent.is_dir() else {}) == before
    (sentence,) = sentences
    return sentence


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
    prepare(path, None)
    content = path.read_bytes()
    path.chmod(0o640)
    tmp_path.chmod(0o750)
    make_place(path)
    assert (mode(path), mode(tmp_path), path.read_bytes()) == (0o640, 0o750, content)


def test_one_process_at_a_time_holds_a_place(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    assert not is_held(path)
    assert list(tmp_path.iterdir()) == []
    lock = hold_place(path)
    assert is_held(path)
    before = listing(tmp_path)
    with pytest.raises(StoreRefusal, match=r"Another Waybread serves the store at .*: stop it, or name another file"):
        hold_place(path)
    assert listing(tmp_path) == before
    os.close(lock)
    assert not is_held(path)
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


def test_a_folder_of_ours_and_one_that_is_not_there_yet_are_taken(tmp_path: Path) -> None:
    examine_place(tmp_path / "s")
    examine_place(tmp_path / "new" / "deep" / "s")
    assert list(tmp_path.iterdir()) == []
    make_folder(tmp_path / "new" / "deep" / "s")
    assert mode(tmp_path / "new" / "deep") == 0o700


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file" / "s") == (
        f"{tmp_path}/file is no folder: move that file away, or name another file."
    )
    assert refusal(tmp_path / "file" / "deep" / "s") == (
        f"{tmp_path}/file/deep cannot be a folder, because a file is in its way: move it, or name another file."
    )


def test_a_link_to_a_folder_is_taken_and_one_to_nowhere_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    make_place(tmp_path / "link" / "s")
    assert (tmp_path / "real" / "s").exists()
    (tmp_path / "broken").symlink_to(tmp_path / "unmounted")
    assert "is a link to a folder that is not there: make that one (is its disk mounted?)" in refusal(
        tmp_path / "broken" / "s"
    )


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal", ".lock"])
def test_a_folder_or_a_link_in_the_place_of_a_file_is_refused(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"s{suffix}"
    file.mkdir()
    assert refusal(tmp_path / "s") == f"{file} is no file: move it away, or name another file."
    file.rmdir()
    (tmp_path / "elsewhere").touch()
    file.symlink_to(tmp_path / "elsewhere")
    assert refusal(tmp_path / "s") == (
        f"{file} is a link, and a store's log lies beside its own file: name the folder that it leads to, or name another "
        "file."
    )


def test_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()

    def file_system(folder: Path) -> str:
        return mounts.file_system(folder, tmp_path / "mounts")

    monkeypatch.setattr(place, "file_system", file_system)
    (tmp_path / "mounts").write_text(f"1 1 0:1 / / rw - ext4 a rw\n2 1 0:2 / {tmp_path}/data rw - nfs4 nas:/x rw\n")
    for path in (tmp_path / "data" / "s", tmp_path / "data" / "new" / "s"):
        assert refusal(path) == (
            f"{path.parent} lies on a network file system (nfs4), where a database's locks and shared memory do not hold and "
            "a store can be lost: put it on a disk of this machine (`waybread backup` can copy it to the network), or name "
            "another file."
        )


@ROOT_ONLY
def test_root_is_refused_in_the_folder_of_another_user_and_told_both_ways(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    os.chown(tmp_path / "data", OTHER, OTHER)
    assert refusal(tmp_path / "data" / "s") == (
        f"{tmp_path}/data belongs to user {OTHER} and this process runs as user root (0), whose files that user could not "
        f"open: run this as user {OTHER} (`sudo -u '#{OTHER}' …`), or `chown -R 0:0 {tmp_path}/data` if the store is to be "
        "root's, or name another file."
    )


@ROOT_ONLY
@pytest.mark.parametrize("suffix", ["", "-wal", ".lock"])
def test_a_file_of_another_user_is_refused(tmp_path: Path, suffix: str) -> None:
    prepare(tmp_path / "s", None)
    (tmp_path / f"s{suffix}").touch()
    os.chown(tmp_path / f"s{suffix}", OTHER, OTHER)
    assert refusal(tmp_path / "s").startswith(f"{tmp_path}/s{suffix} belongs to user {OTHER} and this process runs as")


def as_other_user(path: Path, *, before: str = "") -> str:
    """The refusal that a process of another user gets."""
    program = (
        f"import os, sys; from pathlib import Path; from waybread_daemon.store.sqlite import place; {before}\n"
        f"os.setgroups([]); os.setgid({OTHER}); os.setuid({OTHER})\n"
        "try: place.make_place(Path(sys.argv[1]))\n"
        "except Exception as refusal: print(refusal)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True, cwd="/"
    )
    return ended.stdout.strip()


@pytest.fixture
def open_tmp() -> Iterator[Path]:
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="waybread-place-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@ROOT_ONLY
def test_a_folder_of_another_user_is_refused_with_the_command_that_helps(open_tmp: Path) -> None:
    (open_tmp / "data").mkdir(mode=0o700)
    before = listing(open_tmp)
    assert as_other_user(open_tmp / "data" / "s", before="place._CONTAINER_MARKS = ()") == (
        f"{open_tmp}/data belongs to user root (0) and this process runs as user {OTHER}: run `chown -R {OTHER}:{OTHER} "
        f"{open_tmp}/data` as root, or name another file."
    )
    assert listing(open_tmp) == before


@ROOT_ONLY
def test_in_a_container_the_command_is_for_the_host_and_its_ids(open_tmp: Path) -> None:
    (open_tmp / "data").mkdir(mode=0o700)
    (open_tmp / "mark").touch()
    (open_tmp / "map").write_text("         0       1000          1\n         1     100000      65536\n")
    before = (
        f"place._CONTAINER_MARKS = (Path('{open_tmp}/mark'),); place._UID_MAP = place._GID_MAP = Path('{open_tmp}/map')"
    )
    assert as_other_user(open_tmp / "data" / "s", before=before) == (
        f"{open_tmp}/data belongs to user root (0) and this process runs as user {OTHER}. In a container that folder is a "
        f"volume: run `chown -R {OTHER + 99_999}:{OTHER + 99_999} FOLDER` as root on the host, where FOLDER is what is "
        f"mounted at {open_tmp}/data, or name another file."
    )


@ROOT_ONLY
def test_a_folder_that_root_lends_to_a_group_is_taken(open_tmp: Path) -> None:
    (open_tmp / "data").mkdir()
    (open_tmp / "data").chmod(0o2777)
    assert as_other_user(open_tmp / "data" / "s") == ""
    assert (open_tmp / "data" / "s").stat().st_uid == OTHER


@ROOT_ONLY
def test_a_folder_that_cannot_be_made_is_never_answered_with_a_chown_of_what_lies_above(open_tmp: Path) -> None:
    assert as_other_user(open_tmp / "new" / "s") == (
        f"{open_tmp}/new cannot be made or reached by user {OTHER} (Permission denied): run `install -d -o {OTHER} -g "
        f"{OTHER} -m 700 {open_tmp}/new` as root, or name another file."
    )
    (open_tmp / "closed").mkdir(mode=0o700)
    sentence = as_other_user(open_tmp / "closed" / "data" / "s")
    assert "let that user search the folders above it" in sentence
    assert "chown" not in sentence


@ROOT_ONLY
def test_a_folder_of_ours_that_we_may_not_write_is_refused(open_tmp: Path) -> None:
    (open_tmp / "data").mkdir(mode=0o500)
    os.chown(open_tmp / "data", OTHER, OTHER)
    assert f"run `chmod -R u+rwX {open_tmp}/data`" in as_other_user(open_tmp / "data" / "s")


def test_a_disk_that_is_mounted_read_only_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    real = os.statvfs(tmp_path)

    class ReadOnly:
        f_flag = real.f_flag | os.ST_RDONLY

    def look(_: object) -> type[ReadOnly]:
        return ReadOnly

    monkeypatch.setattr(os, "statvfs", look)
    assert "is on a disk that is mounted read-only: mount it for writing" in refusal(tmp_path / "data" / "s")
    # Who only looks is not refused.
    examine_place(tmp_path / "data" / "s", to_look=True)
    assert is_read_only(tmp_path)
    monkeypatch.undo()
    assert not is_read_only(tmp_path)
    assert not is_read_only(tmp_path / "nothing" / "there")


def test_a_newer_store_and_another_programs_are_refused_by_their_heads(tmp_path: Path) -> None:
    prepare(tmp_path / "s", None)
    sql(tmp_path / "s", "PRAGMA user_version = 99")
    assert "was written by a newer Waybread (its schema is version 99" in refusal(tmp_path / "s")
    (tmp_path / "theirs").mkdir()
    sql(tmp_path / "theirs" / "s", "CREATE TABLE a (b); PRAGMA application_id = 7")
    assert "is another program's database" in refusal(tmp_path / "theirs" / "s")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "s").write_text("dear diary")
    assert "is no database" in refusal(tmp_path / "text" / "s")


def test_any_other_fault_of_the_system_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreRefusal) as caught:
        make_place(tmp_path / "s")
    assert str(caught.value) == (
        f"The store's file {tmp_path}/s cannot be opened for writing (Too many open files): look at its folder, or name "
        "another file."
    )
