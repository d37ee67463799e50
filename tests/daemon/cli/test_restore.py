"""`waybread restore`, and what clients find afterwards."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.daemon.cli.support import Daemon, serving, waybread
from tests.daemon.store.filled import listing, sql
from waybread_client import Link, Refused


async def _insert(daemon: Daemon, token: str, name: str, *bodies: str) -> list[str]:
    async with Link(daemon.url, token) as link:
        session = await link.open(name, "agent")
        return [(await session.result("bash", {}, body)).result for body in bodies]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


async def _lived(data: Path, backup: Path) -> str:
    """A store that went on after a backup, which was made while its daemon ran; the token."""
    with serving(data) as daemon:
        token = daemon.device()["token"]
        await _insert(daemon, token, "work", "one", "two")
        ran = await asyncio.to_thread(waybread, "backup", backup, "--data", data)
        assert ran.status == 0
        assert await _insert(daemon, token, "work", "lost") == ["#0003"]
        ran = await asyncio.to_thread(waybread, "restore", backup, "--data", data)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err == (
            f"waybread: Another Waybread serves the store at {data}/waybread.sqlite: stop it, or name another data folder "
            "with --data.\n"
        )
    return token


async def test_after_a_restore_older_sessions_are_read_only_and_new_ones_work(data: Path, tmp_path: Path) -> None:
    token = await _lived(data, tmp_path / "b")
    ran = await asyncio.to_thread(waybread, "restore", tmp_path / "b", "--data", data)
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == f"restored {data}/waybread.sqlite"
    kept = re.fullmatch(
        r"the store from before is kept as (.*/waybread\.sqlite\.before-restore-[0-9TZ-]+): remove it when you are sure",
        lines[1],
    )
    assert kept is not None
    assert lines[2:] == ["its sessions are read-only: open new ones"]
    assert sql(Path(kept[1]), "SELECT results FROM session") == [(3,)]
    with serving(data) as daemon:
        async with Link(daemon.url, token) as link:
            work = await link.open("work", "agent")
            with pytest.raises(Refused) as caught:
                await work.result("bash", {}, "again")
            assert caught.value.code == "read_only"
            assert (await work.show("0002")).text == "two"
        # An id that the lost store gave is given to nothing else.
        assert await _insert(daemon, token, "new", "fresh") == ["#0001"]
        assert daemon.stop() == 0


async def test_a_store_that_moved_goes_on_in_its_sessions(data: Path, tmp_path: Path) -> None:
    with serving(data) as daemon:
        token = daemon.device()["token"]
        await _insert(daemon, token, "work", "one")
        daemon.stop()
    assert (await asyncio.to_thread(waybread, "backup", tmp_path / "b", "--data", data)).status == 0
    there = tmp_path / "there"
    ran = await asyncio.to_thread(waybread, "restore", tmp_path / "b", "--moved", "--data", there, "--json")
    (told,) = ran.objects()
    assert told["kept"] is None
    assert told["read_only"] is False
    with serving(there) as daemon:
        assert await _insert(daemon, token, "work", "two") == ["#0002"]


async def test_a_backup_made_beside_a_daemon_is_not_moved(data: Path, tmp_path: Path) -> None:
    await _lived(data, tmp_path / "b")
    ran = await asyncio.to_thread(waybread, "restore", tmp_path / "b", "--moved", "--data", data)
    assert (ran.status, ran.out) == (1, "")
    assert "was made while a daemon served the store" in ran.err
    assert sql(data / "waybread.sqlite", "SELECT results FROM session") == [(3,)]


async def test_a_restore_over_the_log_of_a_killed_daemon(data: Path, tmp_path: Path) -> None:
    with serving(data) as daemon:
        token = daemon.device()["token"]
        await _insert(daemon, token, "work", "one")
        assert (await asyncio.to_thread(waybread, "backup", tmp_path / "b", "--data", data)).status == 0
        await _insert(daemon, token, "work", "two", "three")
        daemon.process.kill()
        daemon.process.wait()
    assert (data / "waybread.sqlite-wal").stat().st_size > 0
    ran = await asyncio.to_thread(waybread, "restore", tmp_path / "b", "--data", data, "--json")
    (told,) = ran.objects()
    assert not (data / "waybread.sqlite-wal").exists()
    assert sql(data / "waybread.sqlite", "SELECT results FROM session") == [(1,)]
    assert sql(Path(told["kept"]), "SELECT results FROM session") == [(3,)]


def test_what_is_no_backup_is_refused_and_nothing_touched(data: Path, tmp_path: Path) -> None:
    waybread("device", "add", "phone", "--data", data)
    (tmp_path / "notes").write_text("dear diary" * 100)
    before = listing(data)
    for name, why in (
        ("nothing", "There is no backup at"),
        ("notes", "no backup of one of Waybread's stores: name a backup that"),
        (".", "is a folder"),
    ):
        ran = waybread("restore", tmp_path / name, "--data", data)
        assert (ran.status, ran.out) == (1, "")
        assert why in ran.err
    assert listing(data) == before


@pytest.mark.parametrize("words", [[], [""], ["a", "b"]])
def test_wrong_usage_has_status_2(words: list[str]) -> None:
    assert waybread("restore", *words).status == 2
