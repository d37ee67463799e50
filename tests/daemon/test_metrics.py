"""Metrics of a real daemon: each number moves by the exact value, and none of them tells what it must not."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import socket
import subprocess
import sys
import urllib.error
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.daemon.waiting import until
from tests.daemon.watching.scraped import page_of
from tests.daemon.watching.watched import SETTINGS, logged, watched
from tests.daemon.wire import CODECS, JSON, Map, Wire, greeted, linked, text_result
from tests.running import environment, running
from waybread_daemon.metrics import MetricsRefusal

FILE = "".join(f"line {number} of a file\n" for number in range(500))
SHA256 = hashlib.sha256(FILE.encode()).hexdigest()
LONG = "".join(f"line {number} of an output that is capped\n" for number in range(2000))
EDITED = FILE.replace("line 7 of", "line seven of")


def read(key: str, content: Map, offset: int = 1, limit: int = 2000) -> Map:
    body = {"kind": "read", "path": "a", "absolute": "/a", "offset": offset, "limit": limit, "content": content}
    return {"session": "s", "key": key, "tool": "read", "body": body}


def change(key: str, before: str, after: str) -> Map:
    changes = [{"path": "a", "absolute": "/a", "before": {"text": before}, "after": {"text": after}}]
    return {"session": "s", "key": key, "tool": "edit", "body": {"kind": "change", "changes": changes}}


async def inserted(wire: Wire, fields: Map) -> str:
    answer = await wire.ask("result", **fields)
    assert answer["type"] == "inserted", answer
    return str(answer["text"])


async def test_every_request_counts_once_under_its_type(tmp_path: Path) -> None:
    requests: list[tuple[str, Map]] = [
        ("describe", {}),
        ("ping", {}),
        ("open", {"session": "s", "kind": "agent"}),
        ("turn", {"session": "s", "turn": "t"}),
        ("carry", {"session": "s", "key": "c", "results": "all"}),
        ("result", text_result("s", "k")),
        ("recall", {"session": "s", "key": "r", "result": "1"}),
        ("take_back", {"session": "s", "key": "b", "turns": ["t"]}),
        ("compact", {"session": "s", "key": "p"}),
        ("message", {"session": "s", "key": "m", "role": "user", "text": "x"}),
        ("show", {"session": "s", "result": "1"}),
        ("reads", {"session": "s"}),
        ("sessions", {}),
        ("sync", {}),
        ("history", {"session": "s"}),
        ("entry_text", {"seq": 1}),
        ("unfollow", {}),
        ("delete", {"session": "s"}),
    ]
    with watched(tmp_path) as seen:
        token = seen.daemon.token()
        before = seen.scrape()
        async with greeted(seen.daemon.url, token) as wire:
            for type_, fields in requests:
                answer = await wire.ask(type_, **fields)
                assert answer["type"] != "error", answer
        rises = seen.scrape().rise_since(before)
    assert rises["requests"] == {"hello": 1, **{type_: 1 for type_, _ in requests}}
    assert rises["results"] == {"full": 1, "recall": 1}
    assert "errors" not in rises
    assert "failed_hellos" not in rises


async def test_results_count_by_what_was_done_to_them_with_the_bytes_that_it_saved(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        async with greeted(seen.daemon.url, seen.daemon.token()) as wire:
            await wire.ask("open", session="s", kind="agent")
            before = seen.scrape()
            await inserted(wire, read("full", {"text": FILE}))
            known = await inserted(wire, read("by-hash", {"sha256": SHA256}))
            again = await inserted(wire, read("in-full", {"text": FILE}))
            piece = await inserted(wire, read("a-part", {"sha256": SHA256}, offset=1, limit=100))
            capped = await inserted(wire, text_result("s", "long", LONG))
            diff = await inserted(wire, change("edit", FILE, EDITED))
            grep: Map = {"args": {"pattern": "x"}, "tool": "grep"}
            await inserted(wire, text_result("s", "g1", "für\n" * 100) | grep)
            same = await inserted(wire, text_result("s", "g2", "für\n" * 100) | grep)
            await wire.ask("recall", session="s", key="r", result="1")
            repeated = await wire.ask("result", **text_result("s", "long", LONG))
            rises = seen.scrape().rise_since(before)
    assert repeated["repeated"] is True
    assert "Unchanged since" in known
    assert "Unchanged since" in again
    assert "Unchanged since" in piece
    assert "lines elided" in capped
    assert "line seven" in diff
    assert "Same result as" in same
    assert rises["results"] == {"full": 2, "stub": 4, "capped": 1, "diff": 1, "recall": 1}
    stubs = [(len(FILE), known), (len(FILE), again), (len(FILE) // 5, piece), (500, same)]
    assert rises["saved_bytes"] == {
        "stub": sum(given - len(text) for given, text in stubs),
        "capped": len(LONG) - len(capped),
        "diff": len(EDITED) - len(diff),
    }


async def test_errors_count_by_their_code_and_messages_that_are_none_as_unknown(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        async with greeted(seen.daemon.url, seen.daemon.token(role="viewer")) as wire:
            before = seen.scrape()
            codes = [
                (await wire.ask("result", **text_result("s", "k")))["code"],
                (await wire.ask("history", session="none"))["code"],
                (await wire.ask("no-such-type"))["code"],
                (await wire.ask("history", session=7))["code"],
                (await wire.ask("hello", token="x", client="c"))["code"],
                (await wire.ask("sync", after=5, epoch="other"))["code"],
            ]
            rises = seen.scrape().rise_since(before)
    assert codes == ["forbidden", "unknown_session", "unknown_type", "bad_message", "bad_message", "reset"]
    assert rises["errors"] == {"forbidden": 1, "unknown_session": 1, "unknown_type": 1, "bad_message": 2, "reset": 1}
    assert rises["requests"] == {"result": 1, "history": 1, "unknown": 2, "hello": 1, "sync": 1}


async def test_a_result_that_is_refused_counts_as_an_error_and_not_as_a_result(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        async with greeted(seen.daemon.url, seen.daemon.token(), max_message=4096) as wire:
            await wire.ask("open", session="s", kind="agent")
            before = seen.scrape()
            assert (await wire.ask("result", **text_result("s", "k", "x" * 8000)))["code"] == "too_large"
            rises = seen.scrape().rise_since(before)
    assert rises["errors"] == {"too_large": 1}
    assert {"results", "saved_bytes", "written_raw_bytes"} & set(rises) == set()


async def test_links_count_by_role_while_they_are_open(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        device, viewer = seen.daemon.token(), seen.daemon.token(role="viewer")
        async with AsyncExitStack() as links:
            await links.enter_async_context(greeted(seen.daemon.url, device))
            for _ in range(2):
                await links.enter_async_context(greeted(seen.daemon.url, viewer))
            await links.enter_async_context(linked(seen.daemon.url))
            page = seen.scrape()
            assert page.by("links", "role") == {"device": 1, "viewer": 2}
            assert page.value("waiting_hellos") == 1
        await until(lambda: seen.scrape().by("links", "role") == {})
        assert seen.scrape().value("waiting_hellos") == 0


async def test_a_hello_that_fails_counts(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        before = seen.scrape()
        for _ in range(2):
            async with linked(seen.daemon.url) as wire:
                assert (await wire.ask("hello", token="0.1", client="c"))["code"] == "unauthenticated"
        rises = seen.scrape().rise_since(before)
    assert rises["failed_hellos"] == {"": 2}
    assert rises["errors"] == {"unauthenticated": 2}
    assert rises["requests"] == {"hello": 2}


async def refused(url: str, **options: Any) -> int:
    """The status with which a handshake is refused."""
    wanted: dict[str, Any] = {"proxy": None, "subprotocols": [JSON]} | options
    with pytest.raises(InvalidStatus) as caught:
        async with connect(url, **wanted):
            pass
    return caught.value.response.status_code


async def test_connections_that_are_refused_count_by_reason(tmp_path: Path) -> None:
    settings = "max_connections = 2\nmax_device_connections = 1\nmax_failed_hellos = 1\n"
    with watched(tmp_path, settings) as seen:
        url = seen.daemon.url
        token, other = seen.daemon.token(), seen.daemon.token("other")
        before = seen.scrape()
        assert await refused(url, origin="https://evil.example") == 403
        assert await refused(url, additional_headers={"Host": "evil.example"}) == 403
        assert await refused(url, subprotocols=["waybread.v9"]) == 400
        async with greeted(url, token):
            async with linked(url) as wire:
                assert (await wire.ask("hello", token=token, client="c"))["code"] == "busy"
            async with greeted(url, other):
                assert await refused(url) == 503
        async with linked(url) as wire:
            assert (await wire.ask("hello", token="0.1", client="c"))["code"] == "unauthenticated"
        assert await refused(url) == 429
        rises = seen.scrape().rise_since(before)
    assert rises["refused_connections"] == {
        "origin": 1,
        "host": 1,
        "subprotocol": 1,
        "device_connections": 1,
        "connections": 1,
        "failed_hellos": 1,
    }
    assert rises["failed_hellos"] == {"": 1}


@pytest.mark.parametrize("codec", CODECS)
async def test_bytes_are_those_of_the_messages_as_they_are_on_the_wire(tmp_path: Path, codec: str) -> None:
    with watched(tmp_path) as seen:
        token = seen.daemon.token()
        before = seen.scrape()
        async with greeted(seen.daemon.url, token, codec) as wire:
            hello = {"type": "hello", "id": 1, "token": token, "client": "test 1"}
            said = [len(wire.encode(hello))]
            messages: list[Map] = [
                {"type": "open", "id": 2, "session": "s", "kind": "agent"},
                {"type": "result", "id": 3, **text_result("s", "k", "für " * 1000)},
            ]
            for message in messages:
                await wire.say(message)
                await wire.answer_to(message["id"])
                said.append(len(wire.encode(message)))
            await until(
                lambda: seen.scrape().rise_since(before)["sent_bytes"] == {"": sum(wire.frame_sizes)},
            )
            assert seen.scrape().rise_since(before)["received_bytes"] == {"": sum(said)}


async def test_what_is_written_counts_as_it_came_and_compressed_by_batches(tmp_path: Path) -> None:
    large = "".join(f"{number} lines of a body that is written ahead\n" for number in range(30_000))
    with watched(tmp_path) as seen:
        async with greeted(seen.daemon.url, seen.daemon.token(), JSON) as wire:
            await wire.ask("open", session="s", kind="agent")
            before = seen.scrape()
            await inserted(wire, text_result("s", "k1", LONG, args={"command": "make"}))
            await inserted(wire, read("k2", {"text": FILE}))
            small = seen.scrape()
            await wire.say_in_parts({"type": "result", "id": 100, **text_result("s", "k3", large)}, 512 * 1024)
            assert (await wire.answer_to(100))["type"] == "inserted"
            after = seen.scrape()
    args = len('{"command":"make"}') + len("{}")
    rises, more = small.rise_since(before), after.rise_since(small)
    assert rises["written_raw_bytes"] == {"": len(LONG) + len(FILE) + args}
    assert 100 < rises["written_bytes"][""] < (len(LONG) + len(FILE)) / 3
    assert more["written_raw_bytes"] == {"": len(large) + len("{}")}
    assert 1000 < more["written_bytes"][""] < len(large) / 3
    assert small.value("batch_records_sum") - before.value("batch_records_sum") == 2
    assert small.value("commit_seconds_count") - before.value("commit_seconds_count") == 2
    assert after.value("commit_seconds_sum") > before.value("commit_seconds_sum") >= 0
    assert "failed_commits" not in after.rise_since(before)


async def test_sizes_tell_what_is_there(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        async with greeted(seen.daemon.url, seen.daemon.token()) as wire:
            for session in ("s", "t"):
                await wire.ask("open", session=session, kind="agent")
            await inserted(wire, text_result("s", "k", LONG))
            # A name of no session has no state.
            assert (await wire.ask("reads", session="none"))["type"] == "error"
            # Nobody asked before: the figures are fresh.
            page = seen.scrape()
        store = seen.daemon.data / "waybread.sqlite"
        assert page.value("database_bytes") == store.stat().st_size
        assert page.value("log_bytes") == store.with_name(f"{store.name}-wal").stat().st_size
    assert (page.value("devices"), page.value("sessions"), page.value("live_sessions")) == (1, 2, 2)
    assert page.value("raw_bytes") >= len(LONG)
    assert 0 < page.value("stored_bytes") < len(LONG)
    assert (page.value("purging_bytes"), page.value("ready")) == (0, 1)
    assert page.value("free_disk_bytes") > 0
    assert page.value("unused_bytes") >= 0


async def test_the_loop_and_the_process_are_told_of(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        await until(lambda: seen.scrape().value("loop_lag_seconds_count") >= 2)
        page = seen.scrape()
    assert page.samples["process_resident_memory_bytes", frozenset()] > 10_000_000
    assert page.samples["process_open_fds", frozenset()] > 3
    assert [name for name in page.families if not name.startswith(("waybread_", "process_"))] == []


async def test_no_metric_tells_a_secret_or_anything_that_a_client_chose(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        token = seen.daemon.token("my-very-own-phone")
        async with linked(seen.daemon.url) as wire:
            assert (await wire.ask("hello", token=token, client="client-of-mine"))["type"] == "welcome"
            await wire.ask("open", session="session-of-mine", kind="agent", title="{{title}}", directory="/home/mine")
            await wire.ask(
                "result", **text_result("session-of-mine", "key-of-mine", "text-of-mine", tool="tool-of-mine")
            )
            await wire.ask("type-of-mine")
            page = seen.scrape().page
    public, _, secret = token.partition(".")
    for told in (token, public, secret, "mine", "my-very-own", "{{title}}", "127.0.0.1"):
        assert told not in page


async def test_whatever_names_clients_bring_the_samples_are_the_same_ones(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        async with greeted(seen.daemon.url, seen.daemon.token()) as wire:
            await wire.ask("ping")
            before = set(seen.scrape().samples)
            for number in range(200):
                await wire.ask(f"type-{number}", session=f"session-{number}")
                await wire.ask("open", session=f"s-{number}", kind="agent")
                await wire.ask("result", **text_result(f"s-{number}", "k", tool=f"tool-{number}"))
            assert set(seen.scrape().samples) == before


async def test_metrics_are_not_on_the_links_port_and_links_not_on_theirs(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        with pytest.raises(urllib.error.HTTPError, match="404"):
            await asyncio.to_thread(page_of, seen.daemon.port)
        assert "waybread_ready 1.0" in await asyncio.to_thread(page_of, seen.port)


def test_nothing_is_served_unless_it_is_wanted(tmp_path: Path) -> None:
    with running(tmp_path / "data") as daemon:
        assert logged(daemon, "metrics_listening") == []
        assert len(logged(daemon, "listening")) == 1


def test_sigterm_ends_the_page_too(tmp_path: Path) -> None:
    with watched(tmp_path) as seen:
        assert seen.daemon.stop() == 0
        with pytest.raises(urllib.error.URLError, match="refused"):
            page_of(seen.port)
        assert logged(seen.daemon, "fault") == logged(seen.daemon, "loop_fault") == []


def test_a_port_that_is_taken_ends_the_start_with_a_sentence(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (data / "waybread.toml").write_text(SETTINGS.replace("metrics_port = 0", f"metrics_port = {port}"))
        ended = subprocess.run(
            [sys.executable, "-m", "waybread_daemon", "serve", "--port", "0"],
            env=environment(data),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"waybread: port {port} of 127.0.0.1, where metrics are to be, is taken: stop what listens there, or set "
        "metrics_port to another one (0 takes a free one)\n"
    )


@pytest.mark.parametrize(
    "number,sentence",
    [
        (errno.EACCES, "port 80 is for the system's own services: set metrics_port to one from 1024 up"),
        (errno.EINVAL, "metrics cannot be served on h port 80 ([Errno 22] why): set metrics_port to another one"),
    ],
)
def test_why_metrics_cannot_be_served_is_a_sentence(number: int, sentence: str) -> None:
    assert str(MetricsRefusal("h", 80, OSError(number, "why"))) == sentence
