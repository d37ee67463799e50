"""What a page of the log costs: as much as what it shows, however large the entries behind it are."""

from __future__ import annotations

from pathlib import Path

from tests.daemon.wire import greeted
from tests.limits.produce import PIECE_CHARS, produce
from tests.limits.watched import MIB, assert_no_fault, growing, new_account
from tests.running import running


async def test_a_page_of_two_of_three_hundred_large_entries_does_not_read_the_others(tmp_path: Path) -> None:
    with running(tmp_path / "data") as daemon:
        async with greeted(daemon.url, new_account(daemon.data).token) as wire:
            await wire.ask("open", session="s", kind="agent")
            await produce(wire, 0, 300)
            first = await wire.ask("sync")
            last = await wire.ask("history", session="s")
            async with growing(daemon) as growth:
                for _ in range(20):
                    assert (await wire.ask("sync"))["entries"] == first["entries"]
                    assert (await wire.ask("history", session="s"))["entries"] == last["entries"]
        print(f"\npages of large entries: {growth}")
        assert [entry["text_chars"] for entry in first["entries"]] == [0, PIECE_CHARS]
        assert [entry["seq"] for entry in last["entries"]] == [301]
        # All of them would be 75 MB.
        assert growth.most < 24 * MIB
        assert daemon.stop() == 0
        assert_no_fault(daemon)
