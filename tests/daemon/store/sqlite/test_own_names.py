"""No backup takes the place of a store's own files, whatever name leads there."""

import os
from pathlib import Path

import pytest

from tests.daemon.store.filled import fill
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.own_names import refuse_own


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path / "data" / "waybread.sqlite", ("a",))
    (tmp_path / "data" / "waybread.toml").touch()
    return tmp_path / "data" / "waybread.sqlite"


def refused(path: Path, target: Path, *, is_backup: bool = False) -> str:
    with pytest.raises(StoreRefusal) as caught:
        refuse_own(path, target, is_backup=is_backup)
    return str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["waybread.sqlite", "waybread.sqlite-wal", "waybread.sqlite-shm", "waybread.sqlite-journal", "waybread.sqlite.lock",
     "waybread.toml", "waybread.sock", "waybread.sqlite.before-restore-2026"],
)  # fmt: skip
@pytest.mark.parametrize("way", ["", "link", "dots"])
def test_the_stores_own_names_are_refused_whether_they_are_there_or_not(path: Path, name: str, way: str) -> None:
    folder = path.parent
    if way == "link":
        (folder.parent / "other").symlink_to(folder)
        folder = folder.parent / "other"
    elif way == "dots":
        folder = folder / ".." / "data"
    assert refused(path, folder / name, is_backup=True) == (
        f"{folder / name} is the store's own file, or named like one, in {path.parent}: give another name, in another folder "
        "if you can."
    )


def test_links_to_the_stores_files_are_refused(path: Path, tmp_path: Path) -> None:
    (tmp_path / "soft").symlink_to(path)
    assert "is a link, which no backup can replace" in refused(path, tmp_path / "soft")
    os.link(path, tmp_path / "hard")
    assert "is the store's own file" in refused(path, tmp_path / "hard")
    os.link(path.parent / "waybread.toml", tmp_path / "settings")
    assert "is the store's own file" in refused(path, tmp_path / "settings")
    os.link(path, path.parent / "hard")
    assert "is in the data folder and no backup" in refused(path, path.parent / "hard")


def test_what_is_no_regular_file_is_refused(path: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for target in (tmp_path / "fifo", Path("/dev/null"), tmp_path):
        assert "is no regular file, which no backup can replace" in refused(path, target)


def test_other_stores_and_what_lies_beside_any_database_are_refused(path: Path, tmp_path: Path) -> None:
    fill(tmp_path / "there" / "other", ("a",))
    assert "is a store and no backup that `waybread backup` made" in refused(path, tmp_path / "there" / "other")
    (tmp_path / "notes").touch()
    for suffix in ("-wal", "-shm", "-journal", ".lock"):
        assert "belongs to the database beside it" in refused(path, tmp_path / f"notes{suffix}")


def test_backups_and_other_files_may_be_replaced(path: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("dear diary")
    refuse_own(path, tmp_path / "notes", is_backup=False)
    refuse_own(path, tmp_path / "new-wal", is_backup=False)
    refuse_own(path, path.parent / "waybread-2026-01-01T00-00-00Z.sqlite", is_backup=False)
    (path.parent / "mine").touch()
    refuse_own(path, path.parent / "mine", is_backup=True)
    assert "is in the data folder and no backup" in refused(path, path.parent / "mine")
