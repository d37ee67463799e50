"""A small window of a huge result costs what the window costs; and what was cut once is not cut again."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.daemon.wire import CODECS, Map, Wire, greeted, text_result
from tests.limits.watched import MIB, assert_no_fault, growing, new_account
from tests.running import Daemon, running

LINE = "x" * 99 + "\n"
HUGE_LINES = 400_000
"""40 MB."""
SMALL_LINES = 2_000


@pytest.fixture
def daemon(tmp_path: Path) -> Generator[Daemon]:
    with running(tmp_path / "data") as daemon:
        yield daemon
        assert daemon.stop() == 0
        assert_no_fault(daemon)


async def insert_in_parts(wire: Wire, key: str, text: str) -> str:
    await wire.say_in_parts({"type": "result", "id": 7_000_000, **text_result("s", key, text)}, 700_000)
    answer = await wire.answer_to(7_000_000)
    assert answer["capped"]
    return str(answer["result"])


async def median_s(wire: Wire, result: str, offset: int) -> float:
    """How long five lines of a result take, looked at and recalled."""
    took: list[float] = []
    for number in range(15):
        began = time.monotonic()
        shown = await wire.ask("show", session="s", result=result, offset=offset, limit=5)
        recalled = await wire.ask(
            "recall", session="s", key=f"{result} {offset} {number}", result=result, offset=offset, limit=5
        )
        took.append(time.monotonic() - began)
        assert shown["text"] == LINE * 5
        assert recalled["text"].partition("\n")[2] == (LINE * 5)[:-1]
    return sorted(took)[len(took) // 2]


@pytest.mark.parametrize("codec", CODECS)
async def test_five_lines_of_a_result_of_40_mb_cost_what_they_cost_of_one_of_200_kb(daemon: Daemon, codec: str) -> None:
    async with greeted(daemon.url, new_account(daemon.data).token, codec, max_message=2**26) as wire:
        await wire.ask("open", session="s", kind="agent")
        small = await insert_in_parts(wire, "small", LINE * SMALL_LINES)
        huge = await insert_in_parts(wire, "huge", LINE * HUGE_LINES)
        of_small_s = await median_s(wire, small, SMALL_LINES - 10)
        async with growing(daemon) as growth:
            of_huge_s = [await median_s(wire, huge, offset) for offset in (1, HUGE_LINES // 2, HUGE_LINES - 10)]
        print(
            f"\nwindows, {codec}: {of_small_s * 1000:.1f} ms of 200 KB, {max(of_huge_s) * 1000:.1f} of 40 MB, {growth}"
        )
        # All of it would take a tenth of a second to unpack, and 40 MB.
        assert max(of_huge_s) < 5 * of_small_s + 0.02
        assert growth.most < 16 * MIB


@pytest.mark.parametrize("codec", CODECS)
async def test_json_over_the_cap_is_cut_once_by_one_line_and_comes_back_whole_by_recall_and_show(
    daemon: Daemon, codec: str
) -> None:
    rows = [{"number": number, "text": "é\u2028\r" * 9, "escape": "\x1b[31mred\x1b[0m"} for number in range(1500)]
    output = json.dumps(rows, indent=1, ensure_ascii=False)
    async with greeted(daemon.url, new_account(daemon.data).token, codec) as wire:
        await wire.ask("open", session="s", kind="agent")
        answer = await wire.ask("result", **text_result("s", "json", output))
        shown = answer["text"].partition("\n")[2].split("\n")
        notices = [line for line in shown if "elided" in line]
        total = output.count("\n") + 1
        assert answer["capped"]
        assert notices == [f"[{total - (len(shown) - 1)} lines elided, full output #0001]"]
        # What stands around the notice are lines of the output, whole, from its start and from its end.
        at = shown.index(notices[0])
        assert shown[:at] == output.split("\n")[:at]
        assert shown[at + 1 :] == output.split("\n")[-len(shown[at + 1 :]) :]
        # Recall goes on where it ended, and no window of it is cut again.
        pieces: list[str] = []
        recalled: Map = {}
        while sum(piece.count("\n") + 1 for piece in pieces) < total:
            offset = sum(piece.count("\n") + 1 for piece in pieces) + 1
            recalled = await wire.ask("recall", session="s", key=f"from {offset}", result="#0001", offset=offset)
            assert (recalled["capped"], recalled["stub_of"]) == (False, None)
            pieces.append(recalled["text"].partition("\n")[2])
        assert json.loads("\n".join(pieces)) == rows
        # A recall of a recall is what that recall showed, and a phone sees the same text as the model.
        again = await wire.ask("recall", session="s", key="again", result=recalled["result"])
        assert again["text"].partition("\n")[2] == pieces[-1]
        page = await wire.ask("history", session="s", limit=1)
        assert page["entries"][0]["text_chars"] == len(again["text"])


async def test_two_results_of_one_call_id_are_two_results(daemon: Daemon) -> None:
    async with greeted(daemon.url, new_account(daemon.data).token) as wire:
        await wire.ask("open", session="s", kind="agent")
        for number in (1, 2):
            # Some models number their calls from 0 again in every turn.
            await wire.ask("turn", session="s", turn=f"t{number}")
            answer = await wire.ask("result", **text_result("s", f"k{number}", f"text {number}", call="call_0"))
            assert (answer["text"], answer["repeated"]) == (f"[#000{number}]\ntext {number}", False)
        page = await wire.ask("history", session="s")
        told = [(entry["call"], entry["text"]) for entry in page["entries"] if entry["kind"] == "result"]
        assert told == [("call_0", "[#0001]\ntext 1"), ("call_0", "[#0002]\ntext 2")]
