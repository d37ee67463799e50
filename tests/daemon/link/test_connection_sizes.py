"""Parts and sizes, in both directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.daemon.served import Served, serving
from tests.daemon.wire import CODECS, JSON, MSGPACK, Map, Wire, greeted, text_result


def part(index: int, data: bytes, *, last: bool = False) -> Map:
    return {"type": "part", "index": index, "last": last, "data": data}


async def closed_with(wire: Wire) -> int | None:
    """The close code where the daemon says nothing else before."""
    with pytest.raises(ConnectionClosed):
        await wire.hear()
    return wire.socket.close_code


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("piece_bytes", [1, 7, 100_000])
async def test_a_message_in_parts_takes_its_place_when_it_is_complete(
    served: Served, codec: str, piece_bytes: int
) -> None:
    async with greeted(served.url, await served.new_token(), codec) as wire:
        await wire.say({"type": "open", "id": 10, "session": "s", "kind": "agent"})
        text = "é€😀\n" * (20 if piece_bytes < 10 else 30_000)
        await wire.say_in_parts({"type": "result", "id": 11, **text_result("s", "k", text)}, piece_bytes)
        await wire.say({"type": "show", "id": 12, "session": "s", "result": "1", "limit": 1})
        opened, inserted, shown = [await wire.hear() for _ in range(3)]
        assert (opened["re"], inserted["re"], shown["re"]) == (10, 11, 12)
        assert (inserted["result"], shown["text"]) == ("#0001", "é€😀\n")
        assert shown["lines"] == text.count("\n")


@pytest.mark.parametrize("codec", CODECS)
async def test_a_message_that_fits_a_frame_may_come_in_parts_and_the_last_may_be_empty(
    served: Served, codec: str
) -> None:
    async with greeted(served.url, await served.new_token(), codec) as wire:
        await wire.say(part(0, wire.encode({"type": "ping", "id": 5})))
        await wire.say(part(1, b"", last=True))
        assert await wire.hear() == {"type": "done", "re": 5, "seq": 0, "repeated": False}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "messages",
    [
        [part(1, b"x")],
        [part(0, b"x"), part(0, b"x")],
        [part(0, b"x"), part(2, b"x")],
        [part(0, b"x"), {"type": "ping", "id": 5}],
        [part(0, b"x"), {"type": "wave", "id": 5}],
        [part(0, b"x"), {"type": "part", "index": -1, "last": False, "data": b"x"}],
        [part(0, b"no message", last=True)],
        [part(0, b"", last=True)],
    ],
)
async def test_parts_that_do_not_fit_together_close_with_1007(served: Served, codec: str, messages: list[Map]) -> None:
    async with greeted(served.url, await served.new_token(), codec) as wire:
        for message in messages:
            await wire.say(message)
        assert await closed_with(wire) == 1007


@pytest.mark.parametrize("codec", CODECS)
async def test_a_part_within_a_part_closes_with_1007(served: Served, codec: str) -> None:
    async with greeted(served.url, await served.new_token(), codec) as wire:
        await wire.say(part(0, wire.encode(part(0, b"x", last=True)), last=True))
        assert await closed_with(wire) == 1007


@pytest.mark.parametrize("codec", CODECS)
async def test_a_joined_message_that_does_not_fit_the_contract_is_answered(served: Served, codec: str) -> None:
    async with greeted(served.url, await served.new_token(), codec) as wire:
        await wire.say_in_parts({"type": "wave", "id": 6, "padding": "x" * 100}, 30)
        answer = await wire.hear()
        assert (answer["code"], answer["re"]) == ("unknown_type", 6)
        assert (await wire.ask("ping"))["type"] == "done"


@pytest.mark.parametrize("codec", CODECS)
async def test_a_frame_over_max_frame_closes_with_1009_and_one_of_it_does_not(tmp_path: Path, codec: str) -> None:
    async with serving(tmp_path, max_frame=8192, max_message=32_768) as served:
        token = await served.new_token()
        async with greeted(served.url, token, codec) as wire:
            # A string of more than 255 bytes takes two bytes more for its length in MessagePack.
            bare = len(wire.encode({"type": "ping", "id": 5, "padding": ""})) + (0 if wire.text else 2)
            full: Map = {"type": "ping", "id": 5, "padding": "x" * (8192 - bare)}
            assert len(wire.encode(full)) == 8192
            await wire.say(full)
            assert (await wire.hear())["type"] == "done"
            await wire.say(full | {"padding": full["padding"] + "x"})
            assert await closed_with(wire) == 1009


@pytest.mark.parametrize("codec", CODECS)
async def test_a_joined_message_over_max_message_closes_with_1009_and_one_of_it_does_not(
    tmp_path: Path, codec: str
) -> None:
    async with serving(tmp_path, max_frame=8192, max_message=32_768) as served:
        token = await served.new_token()
        async with greeted(served.url, token, codec) as wire:
            bare = len(wire.encode({"type": "ping", "id": 5, "padding": ""})) + (0 if wire.text else 2)
            full: Map = {"type": "ping", "id": 5, "padding": "x" * (32_768 - bare)}
            assert len(wire.encode(full)) == 32_768
            await wire.say_in_parts(full, 4096)
            assert (await wire.hear())["type"] == "done"
            await wire.say_in_parts(full | {"padding": full["padding"] + "x"}, 4096)
            assert await closed_with(wire) == 1009


async def test_a_fragmented_frame_counts_as_one(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, max_frame=8192, max_message=32_768) as served,
        greeted(served.url, await served.new_token(), JSON) as wire,
    ):
        data = wire.encode({"type": "ping", "id": 5, "padding": "x" * 5000}).decode()
        await wire.socket.send([data[:3000], data[3000:]])
        assert (await wire.hear())["type"] == "done"
        await wire.socket.send([data[:3000], data[3000:-2] + "x" * 5000, '"}'])
        assert await closed_with(wire) == 1009


@pytest.mark.parametrize("codec", CODECS)
async def test_no_frame_to_the_client_is_over_its_max_frame(served: Served, codec: str) -> None:
    text = "".join(f"{number:05} é€😀\n" for number in range(2000))
    async with greeted(served.url, await served.new_token(), codec, max_frame=4096) as wire:
        await wire.ask("open", session="s", kind="agent")
        inserted = await wire.ask("result", **text_result("s", "k", text))
        assert inserted["capped"] is True
        recalled = await wire.ask("recall", session="s", key="r", result="1")
        assert recalled["text"] == f"[#0002 recall #0001 lines 1-2000 of 2000]\n{text[:-1]}"
        page = await wire.ask("sync", follow=True)
        assert [entry["kind"] for entry in page["entries"]] == ["opened", "result", "recall"]
        await wire.ask("recall", session="s", key="r2", result="1")
        assert (await wire.push())["entry"]["text"][:30] == "[#0003 recall #0001 lines 1-20"
        assert 4000 < max(wire.frame_sizes) <= 4096


async def filled(wire: Wire, count: int = 40) -> None:
    """A session of many entries: small ones, large ones, long arguments, characters that grow in JSON."""
    await wire.ask("open", session="s", kind="agent", title="a title")
    for number in range(count):
        kind = number % 4
        text = ("small", "x" * 5000, "\x01" * 700 + "\n", "é€😀" * 90)[kind]
        args: Map = ({}, {"command": "ls"}, {"rows": ["y" * 50] * 100}, {"c": "\u2028é" * 40})[kind]
        await wire.ask("result", **text_result("s", f"k{number}", text, args=args, call=f"call_{number}"))
        await wire.ask("turn", session="s", turn=f"turn {number}")


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("max_message", [4096, 6000, 20_000])
async def test_a_client_of_small_messages_gets_the_whole_log_in_order(
    served: Served, codec: str, max_message: int
) -> None:
    device = await served.add_device()
    token = await served.add_token(device)
    async with greeted(served.url, token) as large:
        await filled(large)
        wanted = (await large.ask("sync"))["entries"]
    limits = {"max_frame": 4096, "max_message": max_message}
    async with greeted(served.url, token, codec, **limits) as wire:
        entries: list[Map] = []
        page: Map = {"next": 0, "more": True}
        while page["more"]:
            page = await wire.ask("sync", after=page["next"], epoch=served.store.epoch)
            assert page["type"] == "page", page
            assert len(wire.encode(page)) <= max_message
            entries += page["entries"]
        assert page["next"] == page["head"] == 81
        assert [entry["seq"] for entry in entries] == list(range(1, 82))
        for entry, whole in zip(entries, wanted, strict=True):
            assert {name: entry[name] for name in ("kind", "result", "call", "turn", "text_chars", "args_chars")} == {
                name: whole[name] for name in ("kind", "result", "call", "turn", "text_chars", "args_chars")
            }
            assert entry["args"] in (whole["args"], {})
            text = entry["text"]
            while len(text) < whole["text_chars"]:
                piece = await wire.ask("entry_text", seq=entry["seq"], from_char=len(text))
                assert piece["text"] != ""
                text += piece["text"]
            assert text == whole["text"]


@pytest.mark.parametrize("codec", CODECS)
async def test_a_client_of_small_messages_gets_the_whole_history_backwards(served: Served, codec: str) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as large:
        await filled(large, 20)
    async with greeted(served.url, token, codec, max_frame=4096, max_message=4096) as wire:
        numbers: list[int] = []
        page: Map = {"next": 0, "more": True}
        while page["more"]:
            page = await wire.ask("history", session="s", before=page["next"], limit=1000)
            assert page["type"] == "page", page
            numbers = [entry["seq"] for entry in page["entries"]] + numbers
        assert numbers == list(range(1, 42))
        assert page["next"] == 0


@pytest.mark.parametrize("codec", CODECS)
async def test_a_client_of_small_messages_gets_all_its_sessions(served: Served, codec: str) -> None:
    token = await served.new_token()
    async with greeted(served.url, token, codec, max_frame=4096, max_message=4096) as wire:
        for number in range(30):
            await wire.ask("open", session=f"s{number}", kind="agent", title="t" * 100)
        names: list[str] = []
        before, more = 0, True
        while more:
            page = await wire.ask("sessions", before=before, limit=1000)
            assert page["type"] == "session_list", page
            names += [row["session"] for row in page["sessions"]]
            before, more = page["sessions"][-1]["head"], page["more"]
        assert names == [f"s{number}" for number in reversed(range(30))]


@pytest.mark.parametrize("codec", CODECS)
async def test_a_client_of_small_messages_is_pushed_nothing_larger_than_it_takes(served: Served, codec: str) -> None:
    token = await served.new_token()
    async with (
        greeted(served.url, token) as large,
        greeted(served.url, token, codec, max_frame=4096, max_message=4096) as wire,
    ):
        await wire.ask("sync", follow=True)
        await filled(large, 12)
        pushes = await wire.pushes(25)
        assert [push["entry"]["seq"] for push in pushes] == list(range(1, 26))
        assert max(len(wire.encode(push)) for push in pushes) <= 4096


@pytest.mark.parametrize("codec", CODECS)
async def test_an_entry_that_a_client_cannot_take_whole_comes_with_shorter_labels(served: Served, codec: str) -> None:
    token = await served.new_token()
    async with (
        greeted(served.url, token) as large,
        greeted(served.url, token, codec, max_frame=4096, max_message=4096) as wire,
    ):
        await large.ask("open", session="s", kind="agent")
        await wire.ask("sync", follow=True)
        await large.ask("turn", session="s", turn="t")
        await large.ask("result", **text_result("s", "k", call="é" * 1024, tool="é" * 1024))
        await large.ask("turn", session="s", turn="u")
        assert (await wire.push())["entry"]["kind"] == "turn"
        cut = (await wire.push())["entry"]
        page = await wire.ask("sync", after=2, epoch=served.store.epoch)
        assert page["entries"][0] == cut
        assert (cut["seq"], cut["result"]) == (3, "#0001")
        for label in (cut["call"], cut["tool"]):
            assert label == "é" * len(label)
        assert len(cut["call"] + cut["tool"]) < 2048
        assert (await wire.push())["entry"]["turn"] == "u"


@pytest.mark.parametrize("codec", CODECS)
async def test_an_answer_over_max_message_is_too_large_before_anything_is_stored(served: Served, codec: str) -> None:
    token = await served.new_token()
    async with greeted(served.url, token, codec, max_frame=4096, max_message=4096) as wire:
        await wire.ask("open", session="s", kind="agent")
        read: Map = {"kind": "read", "path": "a", "absolute": "/a", "content": {"text": "x" * 4096}}
        requests: list[tuple[str, Map]] = [
            ("result", text_result("s", "k", "x" * 4096)),
            ("result", text_result("s", "k", "y" * 4096, tool="grep")),
            ("result", {"session": "s", "key": "k", "tool": "read", "body": read}),
        ]
        for type_, fields in requests:
            number = 1000 + len(fields["tool"])
            await wire.say_in_parts({"type": type_, "id": number, **fields}, 3000)
            answer = await wire.answer_to(number)
            assert (answer["code"], answer["retry"]) == ("too_large", False)
        page = await wire.ask("sync")
        assert [entry["kind"] for entry in page["entries"]] == ["opened"]
        # The key is free, and the number is the first.
        assert (await wire.ask("result", **text_result("s", "k", "fits")))["result"] == "#0001"


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("letter", ["x", "é", '"', "\x01"])
async def test_an_answer_near_max_message_is_given_or_refused_but_never_larger(
    served: Served, codec: str, letter: str
) -> None:
    token = await served.new_token()
    in_json = {"x": 1, "é": 2, '"': 2, "\x01": 6}[letter]
    each = in_json if codec == JSON else len(letter.encode())
    async with greeted(served.url, token, codec, max_frame=8192, max_message=8192) as wire:
        await wire.ask("open", session="s", kind="agent")
        fits = await wire.ask("result", **text_result("s", "fits", letter * ((8192 - 300) // each)))
        assert fits["type"] == "inserted"
        assert 7500 < max(wire.frame_sizes) <= 8192
        over = await wire.ask("result", **text_result("s", "over", letter * (8192 // each)))
        assert over["code"] == "too_large"
        assert max(wire.frame_sizes) <= 8192


async def test_a_repeat_whose_answer_a_smaller_link_cannot_take_is_too_large_and_changes_nothing(
    served: Served,
) -> None:
    token = await served.new_token()
    request: dict[str, Any] = text_result("s", "k", "x" * 6000)
    async with greeted(served.url, token) as large:
        await large.ask("open", session="s", kind="agent")
        await large.ask("result", **request)
    async with greeted(served.url, token, MSGPACK, max_message=4096, max_frame=4096) as wire:
        assert (await wire.ask("result", **request))["code"] == "too_large"
        assert (await wire.ask("sync"))["head"] == 2
