"""What becomes of each message: its answer, its errors, its place among the others."""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import Any

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed

from tests.daemon.served import Served
from tests.daemon.wire import CODECS, JSON, MSGPACK, Map, Wire, greeted, text_result

LOOKS = ("describe", "ping", "sessions", "sync", "history", "entry_text", "unfollow", "show", "reads")
CHANGES = ("open", "turn", "carry", "result", "recall", "take_back", "compact", "message")


def fields_of(type_: str) -> Map:
    """Fields with which a request is right, for a session of the id `s`."""
    fields: dict[str, Map] = {
        "open": {"session": "s", "kind": "agent"},
        "turn": {"session": "s", "turn": "t"},
        "carry": {"session": "s", "key": "c", "results": "all"},
        "result": text_result("s", "r"),
        "recall": {"session": "s", "key": "rc", "result": "1"},
        "take_back": {"session": "s", "key": "tb", "turns": ["t"]},
        "compact": {"session": "s", "key": "co"},
        "message": {"session": "s", "key": "m", "role": "user", "text": "hi"},
        "show": {"session": "s", "result": "1"},
        "reads": {"session": "s"},
        "history": {"session": "s"},
        "entry_text": {"seq": 1},
        "delete": {"session": "s"},
    }
    return fields.get(type_, {})


async def ping(wire: Wire) -> None:
    assert (await wire.ask("ping"))["type"] == "done"


@pytest.mark.parametrize("codec", CODECS)
async def test_every_request_gets_the_answer_that_the_contract_names(served: Served, codec: str) -> None:
    async with greeted(served.url, await served.new_token(), codec) as wire:
        kinds = {type_: (await wire.ask(type_, **fields_of(type_)))["type"] for type_ in (*CHANGES, *LOOKS, "delete")}
    assert kinds == {
        "open": "opened",
        "turn": "done",
        "carry": "done",
        "result": "inserted",
        "recall": "inserted",
        "take_back": "done",
        "compact": "compacted",
        "message": "done",
        "describe": "description",
        "ping": "done",
        "sessions": "session_list",
        "sync": "page",
        "history": "page",
        "entry_text": "text_piece",
        "unfollow": "done",
        "show": "shown",
        "reads": "read_list",
        "delete": "done",
    }


async def test_describe_gives_the_numbers_the_texts_and_the_prompt(served: Served) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        said = await wire.ask("describe")
    assert said["loop"]["cap"]["max_lines"] == 400
    assert said["loop"]["texts"]["same"] == "Same result as {earlier}."
    assert "recall" in said["prompt"]


@pytest.mark.parametrize(
    "role, may",
    [("device", (*CHANGES, *LOOKS, "delete")), ("agent", (*CHANGES, *LOOKS)), ("viewer", LOOKS)],
)
async def test_a_role_may_send_what_it_may_and_nothing_else(served: Served, role: str, may: tuple[str, ...]) -> None:
    device = await served.add_device()
    async with (
        greeted(served.url, await served.add_token(device)) as owner,
        greeted(served.url, await served.add_token(device, role)) as wire,
    ):
        await owner.ask("open", session="s", kind="agent")
        await owner.ask("result", **text_result("s", "first"))
        for type_ in (*CHANGES, *LOOKS, "delete"):
            answer = await wire.ask(type_, **fields_of(type_))
            assert (answer.get("code") == "forbidden") == (type_ not in may), (type_, answer)


async def test_what_is_forbidden_changes_nothing_and_goes_before_checks_of_the_session(served: Served) -> None:
    device = await served.add_device()
    async with greeted(served.url, await served.add_token(device, "viewer")) as wire:
        assert (await wire.ask("open", session="s", kind="agent"))["code"] == "forbidden"
        assert (await wire.ask("turn", session="never opened", turn="t"))["code"] == "forbidden"
        assert (await wire.ask("sessions"))["sessions"] == []


async def test_a_connection_reaches_no_other_devices_sessions(served: Served) -> None:
    async with (
        greeted(served.url, await served.new_token()) as mine,
        greeted(served.url, await served.new_token()) as theirs,
    ):
        await mine.ask("open", session="s", kind="agent")
        await mine.ask("result", **text_result("s", "r"))
        for type_ in (
            "turn",
            "carry",
            "result",
            "recall",
            "take_back",
            "compact",
            "message",
            "show",
            "reads",
            "delete",
        ):
            assert (await theirs.ask(type_, **fields_of(type_)))["code"] == "unknown_session", type_
        assert (await theirs.ask("sync"))["entries"] == []
        assert (await theirs.ask("entry_text", seq=1))["code"] == "unknown_result"
        assert (await theirs.ask("open", session="s", kind="chat"))["created"] is True


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "message, re, code",
    [
        ({"type": "wave", "id": 5}, 5, "unknown_type"),
        ({"id": 5}, 5, "bad_message"),
        ({"type": "ping"}, 0, "bad_message"),
        ({"type": "ping", "id": 0}, 0, "bad_message"),
        ({"type": "ping", "id": -1}, 0, "bad_message"),
        ({"type": "ping", "id": 2**53}, 0, "bad_message"),
        ({"type": "ping", "id": "5"}, 0, "bad_message"),
        ({"type": "ping", "id": 5.5}, 0, "bad_message"),
        ({"type": "ping", "id": True}, 0, "bad_message"),
        ({"type": "open", "id": 5, "session": "s", "kind": "robot"}, 5, "bad_message"),
        ({"type": "open", "id": 5, "session": "", "kind": "agent"}, 5, "bad_message"),
        ({"type": "open", "id": 5, "session": "s"}, 5, "bad_message"),
        ({"type": "open", "id": 5, "session": None, "kind": "agent"}, 5, "bad_message"),
        ({"type": "open", "id": 5, "session": "s", "kind": "agent", "title": None}, 5, "bad_message"),
        ({"type": "open", "id": 5, "session": "s" * 129, "kind": "agent"}, 5, "too_large"),
        ({"type": "sessions", "id": 5, "limit": 0}, 5, "bad_message"),
        ({"type": "sessions", "id": 5, "limit": 1001}, 5, "bad_message"),
        ({"type": "history", "id": 5, "session": "s", "before": -1}, 5, "bad_message"),
        ({"type": "take_back", "id": 5, "session": "s", "key": "k", "turns": []}, 5, "bad_message"),
        ({"type": "sync", "id": 5, "after": 3}, 5, "bad_message"),
        ([1, 2], 0, "bad_message"),
        ("ping", 0, "bad_message"),
        (None, 0, "bad_message"),
        (7, 0, "bad_message"),
    ],
)
async def test_a_message_that_does_not_fit_is_answered_and_the_link_goes_on(
    served: Served, codec: str, message: Any, re: int, code: str
) -> None:
    async with greeted(served.url, await served.new_token(), codec) as wire:
        await wire.say_bytes(wire.encode(message))
        answer = await wire.hear()
        assert (answer["type"], answer["re"], answer["code"], answer["retry"]) == ("error", re, code, False)
        await ping(wire)


@pytest.mark.parametrize(
    "args",
    [
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":"\\ud800"}',
        b'{"a":18446744073709551616}',
        b'{"a":-9223372036854775809}',
    ],
)
async def test_what_json_does_not_hold_is_a_bad_message(served: Served, args: bytes) -> None:
    async with greeted(served.url, await served.new_token(), JSON) as wire:
        await wire.ask("open", session="s", kind="agent")
        head = wire.encode({"type": "result", "id": 9, **text_result("s", "k")})
        await wire.say_bytes(head[:-1] + b',"args":' + args + b"}")
        answer = await wire.hear()
        assert (answer["code"], answer["re"]) == ("bad_message", 9)
        await ping(wire)


@pytest.mark.parametrize(
    "args",
    [
        {"a": b"binary"},
        {"a": msgspec.msgpack.Ext(5, b"x")},
        {"a": float("nan")},
        {"a": [float("-inf")]},
        {"a": {1: "key of no string"}},
    ],
)
async def test_what_messagepack_holds_and_json_does_not_is_a_bad_message(served: Served, args: Map) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        await wire.ask("open", session="s", kind="agent")
        answer = await wire.ask("result", **text_result("s", "k", args=args))
        assert answer["code"] == "bad_message"
        assert (await wire.ask("result", **text_result("s", "k")))["result"] == "#0001"


async def test_args_over_their_depth_or_size_are_too_large(served: Served) -> None:
    deep: Map = {}
    for _ in range(63):
        deep = {"a": deep}
    async with greeted(served.url, await served.new_token()) as wire:
        await wire.ask("open", session="s", kind="agent")
        assert (await wire.ask("result", **text_result("s", "a", args=deep)))["type"] == "inserted"
        assert (await wire.ask("result", **text_result("s", "b", args={"a": deep})))["code"] == "too_large"
        most = {"a": "x" * (1024 * 1024 - 8 - 1024)}
        assert (await wire.ask("result", **text_result("s", "c", args=most)))["type"] == "inserted"
        await wire.say_in_parts(
            {"type": "result", "id": 99, **text_result("s", "d", args={"a": "x" * (1024 * 1024 - 7)})}, 500_000
        )
        assert (await wire.answer_to(99))["code"] == "too_large"
        await wire.say_in_parts(
            {"type": "result", "id": 98, **text_result("s", "d", args={"a": "x" * (1024 * 1024 - 8)})}, 500_000
        )
        assert (await wire.answer_to(98))["type"] == "inserted"


async def test_huge_args_do_not_stop_the_others(served: Served) -> None:
    # Quick to decode and slow to look through: some seconds in the event loop.
    args = {"rows": [0.5] * 5_000_000}
    async with (
        greeted(served.url, await served.new_token()) as wire,
        greeted(served.url, await served.new_token()) as neighbour,
    ):
        await wire.ask("open", session="s", kind="agent")
        sent = asyncio.create_task(
            wire.say_in_parts({"type": "result", "id": 77, **text_result("s", "k", args=args)}, 1_000_000)
        )
        slowest_s, sent_at = 0.0, time.monotonic()
        answered = asyncio.create_task(wire.answer_to(77))
        while not answered.done():
            begun = time.monotonic()
            await ping(neighbour)
            slowest_s = max(slowest_s, time.monotonic() - begun)
        await sent
        assert (await answered)["code"] == "too_large"
        # In the event loop it would be most of the time that the request takes.
        assert slowest_s < (time.monotonic() - sent_at) / 2


@pytest.mark.parametrize("codec", CODECS)
async def test_a_frame_of_the_wrong_kind_or_no_message_closes_with_1007(served: Served, codec: str) -> None:
    token = await served.new_token()
    other_kind = msgspec.json.encode if codec == MSGPACK else msgspec.msgpack.encode
    for data, text in (
        (other_kind({"type": "ping", "id": 5}), codec == MSGPACK),
        (b"\xc1" if codec == MSGPACK else b"{,}", codec == JSON),
        (b"\x82\xa4type" if codec == MSGPACK else b'{"type":"ping"', codec == JSON),
        (b"", codec == JSON),
    ):
        async with greeted(served.url, token, codec) as wire:
            await wire.socket.send(data, text=text)
            with pytest.raises(ConnectionClosed):
                await wire.hear()
            assert wire.socket.close_code == 1007, data


async def test_what_was_asked_before_a_frame_that_ends_the_link_is_still_answered(served: Served) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        await wire.send("ping")
        await wire.socket.send("text", text=True)
        assert (await wire.hear())["type"] == "done"
        assert await wire.close_code() == 1007


async def test_an_id_in_use_is_a_bad_message_and_the_first_request_is_still_answered(served: Served) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        await wire.say({"type": "open", "id": 50, "session": "s", "kind": "agent"})
        await wire.say({"type": "ping", "id": 50})
        first, second = await wire.hear(), await wire.hear()
        assert {first["type"], second["type"]} == {"opened", "error"}
        fault = first if first["type"] == "error" else second
        assert (fault["re"], fault["code"]) == (50, "bad_message")
        await wire.say({"type": "ping", "id": 50})
        assert (await wire.hear())["type"] == "done"


async def test_requests_of_a_session_are_carried_out_in_order_without_waiting(served: Served) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        numbers = [await wire.send("open", session="s", kind="agent")]
        for count in range(300):
            # Bodies large and small, so that some wait for a thread and some do not.
            text = f"{count}\n" * (100_000 if count % 50 == 7 else 1)
            numbers.append(await wire.send("result", **text_result("s", f"k{count}", text)))
            numbers.append(await wire.send("show", session="s", result=f"{count + 1:x}", limit=1))
        answers = await wire.answers_to(numbers)
    ids = [answers[number]["result"] for number in numbers[1::2]]
    assert ids == [f"#{count:04x}" for count in range(1, 301)]
    assert [answers[number]["text"] for number in numbers[2::2]] == [f"{count}\n" for count in range(300)]


async def test_two_links_work_in_one_session_and_each_sees_what_the_other_was_answered(served: Served) -> None:
    device = await served.add_device()
    token = await served.add_token(device)
    async with greeted(served.url, token) as one, greeted(served.url, token) as two:
        await one.ask("open", session="s", kind="agent")
        for count in range(1, 21, 2):
            first = await one.ask("result", **text_result("s", f"a{count}", f"{count}"))
            assert first["result"] == f"#{count:04x}"
            assert (await two.ask("show", session="s", result=first["result"]))["text"] == f"{count}"
            second = await two.ask("result", **text_result("s", f"b{count}", "x"))
            assert second["result"] == f"#{count + 1:04x}"
        numbers = [
            (wire, await wire.send("result", **text_result("s", f"{name}{count}", "y")))
            for count in range(100, 150)
            for name, wire in (("a", one), ("b", two))
        ]
        ids = [(await wire.answer_to(number))["result"] for wire, number in numbers]
        assert sorted(ids) == [f"#{count:04x}" for count in range(21, 121)]


async def test_a_slow_session_does_not_hold_up_another(served: Served) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        await wire.ask("open", session="slow", kind="agent")
        await wire.ask("open", session="quick", kind="agent")
        before = "".join(f"{number % 97} {number}\n" for number in range(60_000))
        after = "".join(f"{number % 89} {number}\n" for number in range(60_000))
        change = {"path": "a", "absolute": "/a", "before": {"text": before}, "after": {"text": after}}
        await wire.say_in_parts(
            {
                "type": "result",
                "id": 900,
                "session": "slow",
                "key": "k",
                "tool": "edit",
                "body": {"kind": "change", "changes": [change]},
            },
            800_000,
        )
        await wire.say({"type": "result", "id": 901, **text_result("quick", "k")})
        assert [(await wire.hear())["re"] for _ in range(2)] == [901, 900]


async def test_unknown_fields_are_passed_over_and_missing_ones_take_their_defaults(served: Served) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        opened = await wire.ask("open", session="s", kind="agent", colour="green")
        assert opened == {
            "type": "opened",
            "re": 2,
            "seq": 1,
            "session": "s",
            "kind": "agent",
            "created": True,
            "results": 0,
            "turn": "",
        }
        assert (await wire.ask("sync"))["entries"][0]["title"] == ""


async def test_a_fault_of_the_daemon_is_internal_and_names_what_was_logged(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        await wire.ask("open", session="s", kind="agent")
        await wire.ask("result", **text_result("s", "k"))

        async def broken(read: object) -> object:
            raise LookupError("a secret of the daemon")

        with monkeypatch.context() as patch:
            patch.setattr(served.store, "look", broken)
            answer = await wire.ask("show", session="s", result="1")
        assert (answer["code"], answer["retry"]) == ("internal", True)
        assert "fault-1" in answer["message"]
        assert "secret" not in answer["message"]
        assert (await wire.ask("show", session="s", result="1"))["text"] == "out"
        assert [type(fault) for fault in served.faults] == [LookupError]
        served.faults.clear()


@pytest.mark.parametrize("first, second", [CODECS, CODECS[::-1]])
async def test_large_texts_are_the_same_request_in_both_codecs(served: Served, first: str, second: str) -> None:
    large = "é€😀 line\n" * 40_000
    file = {"path": "a", "absolute": "/a"}
    change = file | {"before": {"text": large}, "after": {"text": large + "more\n"}}
    bodies: list[Map] = [
        {"kind": "text", "text": large},
        {"kind": "text", "text": large, "error": True},
        {"kind": "read", **file, "content": {"text": large}, "offset": 39_999},
        {"kind": "read", **file, "absolute": "/b", "content": {"text": large, "sha256": ""}, "limit": 1},
        {"kind": "change", "changes": [change], "note": "a note"},
    ]
    bodies[3]["content"]["sha256"] = hashlib.sha256(large.encode()).hexdigest()
    token = await served.new_token()
    answers: list[list[Map]] = []
    for codec in (first, second):
        async with greeted(served.url, token, codec) as wire:
            await wire.ask("open", session="s", kind="agent")
            for number, body in enumerate(bodies, 100):
                request = {"session": "s", "key": f"k{number}", "tool": "t", "body": body}
                await wire.say_in_parts({"type": "result", "id": number, **request}, 700_000)
            message = {"session": "s", "key": "m", "role": "user", "text": large}
            await wire.say_in_parts({"type": "message", "id": 200, **message}, 700_000)
            found = await wire.answers_to([*range(100, 105), 200])
            answers.append([found[number] for number in sorted(found)])
    assert [answer["repeated"] for answer in answers[0]] == [False] * 6
    assert answers[1] == [answer | {"repeated": True} for answer in answers[0]]
    assert answers[0][2]["text"].endswith("\n39999: é€😀 line\n40000: é€😀 line")
    assert answers[0][4]["text"].endswith(
        "\n@@ -39998,3 +39998,4 @@\n é€😀 line\n é€😀 line\n é€😀 line\n+more\na note"
    )
