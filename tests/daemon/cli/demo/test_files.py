from pathlib import Path

import pytest

import waybread_daemon
from waybread_client import Change
from waybread_daemon.cli.demo.files import Files

IDS = "waybread_daemon/hygiene/ids.py"
SOURCES = Path(waybread_daemon.__file__).parent


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "files")


def test_the_copy_has_every_source_of_the_package(files: Files) -> None:
    copied = {path.relative_to(files.folder / "waybread_daemon") for path in files.folder.rglob("*.py")}
    assert copied == {path.relative_to(SOURCES) for path in SOURCES.rglob("*.py")}
    assert files.read(IDS) == (SOURCES / "hygiene/ids.py").read_bytes()


def test_a_replacement_is_written_to_the_copy_alone(files: Files) -> None:
    original = files.read(IDS)
    change = files.replace(IDS, "import re\n", "import re as regular\n")
    assert change == Change(
        IDS, files.absolute(IDS), original, original.replace(b"import re\n", b"import re as regular\n")
    )
    assert files.read(IDS) == change.after != original
    assert (SOURCES / "hygiene/ids.py").read_bytes() == original


def test_a_file_is_created_and_deleted(files: Files) -> None:
    created = files.create("new.md", "é\n")
    assert created == Change("new.md", str((files.folder / "new.md").resolve()), None, b"\xc3\xa9\n")
    assert files.read("new.md") == b"\xc3\xa9\n"
    assert files.delete("new.md") == created._replace(before=b"\xc3\xa9\n", after=None)
    assert not (files.folder / "new.md").exists()


def test_a_search_names_file_line_and_text_in_order(files: Files) -> None:
    files.create("waybread_daemon/link/b.py", "x\nneedle 1\n")
    files.create("waybread_daemon/link/a.py", "needle 2\n")
    assert files.search(r"^needle \d", "waybread_daemon") == (
        "waybread_daemon/link/a.py:1: needle 2\nwaybread_daemon/link/b.py:2: needle 1\n"
    )


async def test_a_command_runs_in_the_folder_and_both_its_outputs_are_taken(files: Files) -> None:
    code = "import os, sys; print(os.getcwd(), flush=True); print('wrong', file=sys.stderr)"
    assert await files.run("-c", code) == f"{files.folder.resolve()}\nwrong\n"
