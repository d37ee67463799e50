import asyncio
import signal
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from tests.daemon.cli.support import serving, waybread
from tests.daemon.wire import CODECS, MSGPACK, Map, Wire, greeted, text_result

LARGE = "".join(f"line {number} of a large result\n" for number in range(300_000))


async def test_sigterm_lets_what_is_under_way_be_answered_and_closes_with_1012(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        async with greeted(daemon.url, token) as wire:
            await wire.ask("open", session="s", kind="agent")
            large = await wire.send("ping")
            await wire.answer_to(large)
            await wire.say_in_parts({"type": "result", "id": 100, **text_result("s", "k1", LARGE)}, 512 * 1024)
            small = [await wire.send("result", **text_result("s", f"k{number}")) for number in range(2, 50)]
            # Its answer says that everything before it was read; the large one is still being written.
            ping = await wire.send("ping")
            await wire.answer_to(ping)
            daemon.process.send_signal(signal.SIGTERM)
            answers = await wire.answers_to([100, *small])
            assert await wire.close_code() == 1012
        assert await asyncio.to_thread(daemon.process.wait) == 0
    assert [answers[number]["type"] for number in [100, *small]] == ["inserted"] * 49
    assert [answers[number]["result"] for number in [100, *small]] == [f"#{at:04x}" for at in range(1, 50)]
    (session,) = waybread("sessions", "--data", daemon.data, "--json").objects()
    assert session["results"] == 49
    assert waybread("recall", "s", "1", "--offset", "299999", "--data", daemon.data).out == (
        "line 299998 of a large result\nline 299999 of a large result\n"
    )


async def rest(wire: Wire) -> list[Map]:
    """All that the daemon says until it closes."""
    said: list[Map] = []
    try:
        while True:
            said.append(await wire.hear())
    except ConnectionClosed:
        return said


@pytest.mark.parametrize("codec", CODECS)
async def test_sigterm_under_load_loses_no_answered_result_and_gives_no_other(tmp_path: Path, codec: str) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        async with greeted(daemon.url, token, codec) as wire:
            await wire.ask("open", session="s", kind="agent")
            for number in range(1, 1001):
                await wire.say({"type": "result", "id": number + 1000, **text_result("s", f"k{number}", f"n{number}")})
            answers = [await wire.hear()]
            daemon.process.send_signal(signal.SIGTERM)
            answers += await rest(wire)
            assert wire.socket.close_code == 1012
        assert await asyncio.to_thread(daemon.process.wait) == 0
    (session,) = waybread("sessions", "--data", daemon.data, "--json").objects()
    inserted = [answer["result"] for answer in answers if answer["type"] == "inserted"]
    assert inserted == [f"#{at:04x}" for at in range(1, session["results"] + 1)]
    others = [answer for answer in answers if answer["type"] != "inserted"]
    assert {(answer["code"], answer["retry"]) for answer in others} <= {("busy", True)}


@pytest.mark.parametrize("of", ["device", "token"])
async def test_a_revoked_tokens_live_link_closes_with_4403_and_others_go_on(tmp_path: Path, of: str) -> None:
    with serving(tmp_path / "data") as daemon:
        made, other = daemon.device(), daemon.device("laptop")
        async with greeted(daemon.url, made["token"]) as wire, greeted(daemon.url, other["token"]) as left:
            named = made["device"] if of == "device" else made["token"].partition(".")[0]
            ran = await asyncio.to_thread(waybread, "device", "revoke", named, "--data", daemon.data)
            assert ran.status == 0
            async with asyncio.timeout(2):
                assert await wire.close_code() == 4403
            assert (await left.ask("ping"))["type"] == "done"


async def test_a_daemon_started_again_knows_what_the_one_before_stored(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        async with greeted(daemon.url, token, MSGPACK) as wire:
            await wire.ask("open", session="s", kind="agent")
            first = await wire.ask("result", **text_result("s", "k", "stored"))
    with serving(tmp_path / "data") as daemon:
        async with greeted(daemon.url, token, MSGPACK) as wire:
            again = await wire.ask("result", **text_result("s", "k", "stored"))
            recalled = await wire.ask("recall", session="s", key="r", result="1")
    assert (again["text"], again["result"], again["repeated"]) == (first["text"], "#0001", True)
    assert recalled["text"] == "[#0002 recall #0001 lines 1-1 of 1]\nstored"
