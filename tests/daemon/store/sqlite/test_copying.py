"""Files that are made beside their place."""

import errno
import fcntl
import os
import stat
import time
from pathlib import Path

import pytest

from tests.daemon.store.filled import Heard, set_disk
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.copying import (
    copy_bytes,
    copy_parts,
    draft,
    in_words,
    leftovers,
    need_room,
    parts_of,
    remove,
    sweep,
    sync_file,
    sync_folder,
)


def test_a_draft_is_beside_its_place_for_its_owner_alone_and_gone_at_the_end(tmp_path: Path) -> None:
    with draft(tmp_path / "file") as path:
        assert path.parent == tmp_path
        assert path.name.startswith("file.")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for suffix in ("-wal", "-shm", "-journal"):
            path.with_name(path.name + suffix).touch()
    assert list(tmp_path.iterdir()) == []


def test_a_draft_is_gone_when_its_work_fails_and_stays_under_the_name_that_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(KeyError), draft(tmp_path / "file"):
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with draft(tmp_path / "file") as path:
        path.write_text("content")
        sync_file(path)
        path.replace(tmp_path / "file")
        sync_folder(tmp_path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("file", "content")]


def test_drafts_are_swept_whose_maker_is_dead_however_new_they_are(tmp_path: Path) -> None:
    names = [
        "s.0123456789ab.waybread-tmp",
        "s.0123456789ab.waybread-tmp-lock",
        "s.0123456789ab.waybread-tmp-wal",
        "t.0123456789ab.waybread-tmp",
        "s",
        "s.0123456789ab.tmp",
        "waybread-tmp",
    ]
    for name in names:
        (tmp_path / name).touch()
    with draft(tmp_path / "made") as path:
        path.with_name(path.name + "-wal").touch()
        made = {path.name, f"{path.name}-lock", f"{path.name}-wal"}
        # Whoever made it swept first.
        assert {file.name for file in tmp_path.iterdir()} == {*names[4:], *made}
        for name in names:
            (tmp_path / name).touch()
        # In this process, too, the lock is another's.
        assert [file.name for file in leftovers(tmp_path)] == names[:4]
        assert [file.name for file in sweep(tmp_path)] == names[:4]
        assert {file.name for file in tmp_path.iterdir()} == {*names[4:], *made}
    assert sorted(file.name for file in tmp_path.iterdir()) == names[4:]


def test_where_locks_do_not_work_drafts_are_swept_that_nobody_wrote_to_for_an_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _what: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with draft(tmp_path / "made") as path:
        lock = path.with_name(f"{path.name}-lock")
        assert leftovers(tmp_path) == []
        for file in (path, lock):
            os.utime(file, (time.time() - 3700, time.time() - 3700))
        assert leftovers(tmp_path) == [path, lock]


def test_where_no_file_can_be_made_the_folder_is_named_and_not_the_file() -> None:
    why = r"^No file can be made in /proc \(.*\): look at its permissions"
    with pytest.raises(StoreRefusal, match=why) as caught, draft(Path("/proc/backup")):
        pass
    assert "waybread-tmp" not in str(caught.value)


def test_what_would_not_fit_is_refused_with_both_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_disk(monkeypatch, 100 * 1024**2, 10**10)
    need_room(tmp_path, 84 * 1024**2, "it")
    with pytest.raises(StoreRefusal) as caught:
        need_room(tmp_path, 85 * 1024**2, "a copy")
    assert str(caught.value) == (
        f"There is no room for a copy: it takes 85.0 MiB, of the disk of {tmp_path} 100.0 MiB are free, and 16.0 MiB "
        "must stay so. Free some space first; nothing was changed."
    )


@pytest.mark.parametrize(
    "size, words",
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (5 * 1024**3, "5.0 GiB"), (2**53, "8192.0 TiB")],
)
def test_sizes_are_told_in_words(size: int, words: str) -> None:
    assert in_words(size) == words


def test_bytes_are_copied_whole_and_told_of(tmp_path: Path) -> None:
    content = os.urandom(9 * 1024 * 1024)
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "b").touch()
    heard = Heard()
    copy_bytes(tmp_path / "a", tmp_path / "b", heard)
    assert (tmp_path / "b").read_bytes() == content
    assert heard.told == [("copying", mib * 1024**2, 9 * 1024**2) for mib in (4, 8, 9)]


def test_a_database_is_removed_with_what_lies_beside_it(tmp_path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal", "x"):
        (tmp_path / f"s{suffix}").touch()
    remove(tmp_path / "s")
    assert [file.name for file in tmp_path.iterdir()] == ["sx"]


def test_a_database_is_copied_with_the_logs_that_have_something_in_them(tmp_path: Path) -> None:
    assert parts_of(tmp_path / "s") == []
    for suffix, text in (("", "rows"), ("-wal", "log"), ("-journal", ""), ("-shm", "index"), (".lock", "pid")):
        (tmp_path / f"s{suffix}").write_text(text)
    assert parts_of(tmp_path / "s") == [tmp_path / "s", tmp_path / "s-wal"]
    (tmp_path / "to").mkdir()
    copy_parts(tmp_path / "s", tmp_path / "to" / "copy")
    made = sorted((tmp_path / "to").iterdir())
    assert [(file.name, file.read_text()) for file in made] == [("copy", "rows"), ("copy-wal", "log")]
    assert {stat.S_IMODE(file.stat().st_mode) for file in made} == {0o600}
