"""Keys: a request sent again is answered as the first time, and nothing is done twice."""

from __future__ import annotations

import hashlib
import random
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.daemon.office import (
    Asker,
    Office,
    an_office,
    change,
    change_of,
    content_of,
    opening,
    read,
    recall,
    text,
    window,
)
from waybread_daemon.sessions.job import error_answer, fault_answer
from waybread_daemon.store.contract import StoreFault
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.messages import (
    Carry,
    Compact,
    Content,
    Done,
    Error,
    Inserted,
    Message,
    Request,
    Result,
    TakeBack,
    TextBody,
    Turn,
)

BODY = "one\ntwo\nthree\n"
SHA = hashlib.sha256(BODY.encode()).hexdigest()


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office, None]:
    async with an_office(tmp_path, "s", "other") as opened:
        yield opened


def told(answer: msgspec.Struct) -> dict[str, Any]:
    """An answer's fields but for the id of its request."""
    fields = msgspec.structs.asdict(answer)
    del fields["re"]
    return fields | {"type": type(answer)}


EVERY_KEYED: list[tuple[str, Request]] = [
    ("result", text("k", "out", args={"a": 1}, call="c1")),
    ("error", text("k", "failed", error=True)),
    ("capped", text("k", "line\n" * 1000)),
    ("empty", text("k", "")),
    ("large", text("k", "x" * 300_000)),
    ("read", read("k", BODY)),
    ("large read", read("k", "line\n" * 100_000)),
    ("window", read("k", window("one\n", 3, SHA), 1, 1)),
    ("past the end", read("k", BODY, 9)),
    ("change", change("k", change_of("a", BODY, "one\n"), note="a note")),
    ("recall", recall("k", "1")),
    ("unknown recall", recall("k", "ffff")),
    ("carry", Carry(id=1, session="s", key="k", results=["#0001"])),
    ("take_back", TakeBack(id=1, session="s", key="k", turns=["t", "never"])),
    ("compact", Compact(id=1, session="s", key="k")),
    ("message", Message(id=1, session="s", key="k", role="user", text="hello")),
    ("large message", Message(id=1, session="s", key="k", role="user", text="h" * 300_000)),
]


@pytest.mark.parametrize("request_", [request for _, request in EVERY_KEYED], ids=[name for name, _ in EVERY_KEYED])
async def test_a_request_sent_again_is_answered_as_the_first_time(office: Office, request_: Request) -> None:
    await office.ask(Turn(id=1, session="s", turn="t"), Done)
    await office.insert(text("before", "stored"))
    await office.insert(read("before 2", BODY, path="b", absolute="/x/b"))
    first = await office.ask(request_, msgspec.Struct)
    assert told(first)["repeated"] is False
    head = await office.head()
    await office.insert(text("after", "stored later"))
    again = await office.ask(request_, msgspec.Struct)
    assert told(again) == told(first) | {"repeated": True}
    await office.restart()
    restarted = await office.ask(request_, msgspec.Struct)
    assert told(restarted) == told(first) | {"repeated": True}
    assert await office.head() == head + 1


async def test_a_repeat_sent_before_the_first_answer_came_waits_for_it(office: Office) -> None:
    first, again = office.send(text("k", "out")), office.send(text("k", "out"))
    one, two = await first, await again
    assert isinstance(one, Inserted)
    assert isinstance(two, Inserted)
    assert (one.result, two.result) == ("#0001", "#0001")
    assert (one.repeated, two.repeated) == (False, True)
    assert office.asker.order[-2:] == [one.re, two.re]


DIFFERENT: list[tuple[str, Request]] = [
    ("another tool", text("k", "out", tool="zsh", args={"a": 1}, call="c")),
    ("other args", text("k", "out", args={"a": 2}, call="c")),
    ("another call", text("k", "out", args={"a": 1}, call="d")),
    ("another body", text("k", "out ", args={"a": 1}, call="c")),
    ("an error", text("k", "out", args={"a": 1}, call="c", error=True)),
    ("a read of the same", read("k", "out", tool="bash", args={"a": 1}, call="c")),
    ("a recall", recall("k", "1")),
    ("a message", Message(id=1, session="s", key="k", role="user", text="out")),
    ("a carry", Carry(id=1, session="s", key="k", results="all")),
    ("a compaction", Compact(id=1, session="s", key="k")),
    ("a taking back", TakeBack(id=1, session="s", key="k", turns=["t"])),
]


@pytest.mark.parametrize("other", [request for _, request in DIFFERENT], ids=[name for name, _ in DIFFERENT])
async def test_the_key_of_another_request_is_a_conflict_before_and_after_a_restart(
    office: Office, other: Request
) -> None:
    await office.insert(text("k", "out", args={"a": 1}, call="c"))
    for _ in range(2):
        fault = await office.error(other, "key_conflict")
        assert "'k'" in fault.message
        assert fault.retry is False
        await office.restart()
    assert (await office.insert(text("k2", "x"))).result == "#0002"


@pytest.mark.parametrize(
    "other",
    [
        read("k", BODY + "x", 1, 2),
        read("k", BODY, 2, 2),
        read("k", BODY, 1, 3),
        read("k", BODY, 1, 2, path="other"),
        read("k", BODY, 1, 2, absolute="/x/other"),
        change("k", change_of("a.py", BODY, "x")),
    ],
)
async def test_a_read_that_differs_in_anything_is_another_request(office: Office, other: Result) -> None:
    await office.insert(read("k", BODY, 1, 2))
    await office.error(other, "key_conflict")


@pytest.mark.parametrize(
    "other",
    [
        change("k", change_of("a", "one", "two"), note="another"),
        change("k", change_of("a", "one", "two")),
        change("k", change_of("b", "one", "two"), note="n"),
        change("k", change_of("a", "one", "three"), note="n"),
        change("k", change_of("a", None, "two"), note="n"),
        change("k", change_of("a", "one", None), note="n"),
        change("k", change_of("a", "one", "two"), change_of("a", "one", "two"), note="n"),
    ],
)
async def test_a_change_that_differs_in_anything_is_another_request(office: Office, other: Result) -> None:
    await office.insert(change("k", change_of("a", "one", "two"), note="n"))
    await office.error(other, "key_conflict")


@pytest.mark.parametrize("first", range(6))
async def test_contents_are_the_same_however_they_are_sent(office: Office, first: int) -> None:
    await office.insert(read("known", BODY, path="other", absolute="/x/other"))
    forms = [
        content_of(BODY),
        content_of(BODY.encode()),
        Content(sha256=SHA),
        Content(text=BODY, sha256=SHA),
        Content(data=BODY.encode(), sha256=SHA),
        window("two\n", 3, SHA),
    ]
    inserted = await office.insert(read("k", forms[first], 2, 1))
    assert inserted.text == f"[#0002 a.py lines 2-2 of 3 sha {SHA[:8]}]\n2: two"
    for form in forms:
        again = await office.insert(read("k", form, 2, 1))
        assert (again.repeated, again.text, again.seq) == (True, inserted.text, inserted.seq)


async def test_a_change_is_the_same_by_text_bytes_and_hash(office: Office) -> None:
    first = await office.insert(change("k", change_of("a", "one\n", BODY)))
    by_hash = Content(sha256=hashlib.sha256(b"one\n").hexdigest())
    for before, after in ((b"one\n", BODY.encode()), (by_hash, Content(sha256=SHA)), ("one\n", Content(sha256=SHA))):
        again = await office.insert(change("k", change_of("a", before, after)))
        assert (again.repeated, again.text) == (True, first.text)


async def test_a_repeat_by_hash_needs_no_content_that_was_only_sent_in_a_window(office: Office) -> None:
    await office.insert(read("k", window("two\n", 3, SHA), 2, 1))
    assert (await office.insert(read("k", Content(sha256=SHA), 2, 1))).repeated is True
    await office.error(read("k2", Content(sha256=SHA), 1, 1), "content_needed")


async def test_defaults_and_their_spelt_out_values_are_the_same_request(office: Office) -> None:
    short = Result(id=1, session="s", key="k", tool="bash", body=TextBody(text="x"))
    full = Result(id=1, session="s", key="k", tool="bash", args={}, call="", body=TextBody(text="x", error=False))
    await office.insert(short)
    assert (await office.insert(full)).repeated is True


async def test_args_are_the_same_in_canonical_form(office: Office) -> None:
    await office.insert(text("k", "x", args={"b": {"d": 1, "c": [2.0]}, "a": None}))
    assert (await office.insert(text("k", "x", args={"a": None, "b": {"c": [2], "d": 1.0}}))).repeated is True
    await office.error(text("k", "x", args={"a": None, "b": {"c": [2, 0], "d": 1}}), "key_conflict")


async def test_a_key_belongs_to_its_session(office: Office) -> None:
    await office.insert(text("k", "out"))
    assert (await office.insert(text("k", "out", session="other"))).repeated is False


@pytest.mark.parametrize(
    "failing, code",
    [
        (read("k", Content(sha256="0" * 64)), "content_needed"),
        (read("k", Content(text="x", sha256="0" * 64)), "hash_mismatch"),
        (read("k", window("one\n", 3, SHA), 1, 2), "bad_message"),
        (change("k", change_of("a", Content(sha256="0" * 64), "x")), "content_needed"),
        (change("k", change_of("a", Content(text="x", sha256="0" * 64), "y")), "hash_mismatch"),
    ],
)
async def test_a_request_that_ended_in_an_error_leaves_its_key_and_its_number_free(
    office: Office, failing: Result, code: str
) -> None:
    await office.error(failing, code)
    await office.error(failing, code)
    inserted = await office.insert(text("k", "something else"))
    assert (inserted.result, inserted.repeated) == ("#0001", False)


async def test_an_answer_that_does_not_fit_the_caller_leaves_nothing_behind(office: Office) -> None:
    await office.insert(text("stored", "x" * 3000))
    await office.insert(read("known", "y" * 3000, path="b", absolute="/x/b"))
    sha256 = hashlib.sha256(b"y" * 3000).hexdigest()
    before = await office.head()
    small = Asker()
    small.most_chars = 1000
    requests: list[Request] = [
        text("k", "x" * 1000),
        text("k", "x" * 300_000),
        text("k", "y" * 1000, error=True),
        read("k", "z" * 1000),
        read("k", "z\n" * 300_000),
        read("k", Content(sha256=sha256)),
        read("k", window("w" * 1000, 1, "1" * 64)),
        change("k", change_of("a", "", "x" * 1000)),
        change("k", change_of("a", "", "x\n"), note="n" * 1000),
        recall("k", "1"),
    ]
    for request in requests:
        answer = await office.ask(request, Error, small)
        assert (answer.code, answer.retry) == ("too_large", False), request
    assert await office.head() == before
    assert (await office.insert(text("k", "free"))).result == "#0003"


@pytest.mark.parametrize("ordered", [True, False])
async def test_keys_are_known_after_a_restart_whether_or_not_they_rise(office: Office, ordered: bool) -> None:
    keys = [f"{number:08}" for number in range(40)] + ["é", "😀", "~"]
    if not ordered:
        random.Random(5).shuffle(keys)
    for number, key in enumerate(keys):
        await office.insert(text(key, f"body {number}"))
    await office.restart()
    for number, key in enumerate(keys):
        again = await office.insert(text(key, f"body {number}"))
        assert (again.result, again.repeated) == (f"#{number + 1:04x}", True)
    for key in ("0", "00000039x", "z", "é0", "\U0010ffff"):
        assert (await office.insert(text(key, "new"))).repeated is False


async def test_a_taken_back_result_is_still_what_its_key_stands_for(office: Office) -> None:
    await office.ask(Turn(id=1, session="s", turn="t"), Done)
    first = await office.insert(read("k", BODY))
    await office.ask(TakeBack(id=1, session="s", key="tb", turns=["t"]), Done)
    assert (await office.insert(read("k", BODY))).text == first.text


async def test_checks_go_session_before_key_before_the_rest(office: Office) -> None:
    await office.insert(text("k", "x"))
    missing = Content(sha256="0" * 64)
    await office.error(read("k", missing, session="never"), "unknown_session")
    await office.error(read("k", missing), "key_conflict")
    await office.error(read("new", missing), "content_needed")
    await office.error(read("k", Content(text="x", sha256="0" * 64)), "key_conflict")


async def test_of_sessions_that_are_unknown_gone_or_from_before_a_restore(office: Office) -> None:
    assert "'never'" in (await office.error(text("k", "x", session="never"), "unknown_session")).message
    first = await office.insert(text("k", "x"))
    await office.restore()
    for request in (text("k2", "y"), text("k", "x"), recall("k3", "1")):
        await office.error(request, "read_only")
    await office.ask(opening("new"), object)
    assert (await office.insert(text("k", "x", session="new"))).result == first.result


def test_an_error_is_told_with_its_hashes_and_a_fault_of_the_store_may_be_tried_again() -> None:
    needed = error_answer(3, RequestError(ErrorCode.CONTENT_NEEDED, "send it", needed=("ab",)))
    assert (needed.re, needed.code, needed.message, needed.retry, needed.needed) == (
        3,
        "content_needed",
        "send it",
        False,
        ["ab"],
    )
    full = fault_answer(4, StoreFault(ErrorCode.STORAGE_FULL, "the disk is full"))
    assert (full.re, full.code, full.message, full.retry) == (4, "storage_full", "the disk is full", True)
