"""Faults that these tests have found, each with a test of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.daemon.served import serving
from tests.daemon.waiting import until
from tests.daemon.wire import greeted
from waybread_daemon.link.connection import Connection


async def test_a_fault_of_the_daemon_in_a_link_itself_is_logged_and_ends_that_link_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path) as served:
        token = await served.new_token()
        async with greeted(served.url, token) as other:
            fault = RuntimeError("a slip")

            async def slip(_: Connection) -> None:
                raise fault

            with monkeypatch.context() as patched:
                patched.setattr(Connection, "_receive", slip)
                async with greeted(served.url, token) as wire:
                    assert await wire.close_code() == 1011
            await until(lambda: served.faults)
            assert served.faults == [fault]
            served.faults.clear()
            assert (await other.ask("ping"))["type"] == "done"
