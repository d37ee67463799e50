import os
from pathlib import Path

import pytest

from waybread_daemon.cli.demo.child import Daemon
from waybread_daemon.cli.faults import CommandFault


async def test_it_starts_on_a_free_port_and_again_on_the_same(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", tmp_path / "log", os.environ)
    await daemon.start()
    first = daemon.url
    assert first.startswith("ws://127.0.0.1:")
    assert await daemon.stop() == 0
    await daemon.start()
    assert daemon.url == first
    assert await daemon.stop() == 0
    assert (tmp_path / "log").read_text().count('"event": "listening"') == 2


async def test_stopping_what_does_not_run_does_nothing(tmp_path: Path) -> None:
    assert await Daemon(tmp_path / "data", tmp_path / "log", os.environ).stop() == 0


async def test_a_daemon_that_refuses_to_start_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(CommandFault) as caught:
        await Daemon(tmp_path / "data", tmp_path / "log", os.environ).start()
    assert str(caught.value) == (
        f"the daemon did not start: {tmp_path}/data is no folder: move that file away, or name another data folder with "
        f"--data. (its log is {tmp_path}/log)"
    )
