"""Tokens and pairing codes stand nowhere but where they are shown once, whatever clients do with theirs."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from pathlib import Path

import pytest

from tests.daemon.cli.support import waybread
from tests.daemon.waiting import until
from tests.daemon.wire import CODECS, text_result
from tests.secrets import program
from tests.secrets.watched import Watched, watching
from waybread_daemon.cli.asking import asking
from waybread_daemon.link.accounts import make_token
from waybread_daemon.link.codes import make_code
from waybread_daemon.link.control.messages import AskPair, Offered, PairedWith


async def put_tokens_where_they_belong_and_where_not(daemon: Watched, codec: str, token: str, wrong: str) -> None:
    """Good, wrong and revoked tokens: in `hello`, in the address, in headers, in fields of all kinds."""
    secret = token.partition(".")[2]
    for text in (token, wrong, secret, f"{token}x", token[:-1]):
        headers = {"Authorization": f"Bearer {text}", "Cookie": f"token={text}", "X-Token": text, "User-Agent": text}
        for path in ("/link", "/healthz", "/readyz", "/", f"/{text}"):
            await asyncio.to_thread(daemon.get, f"{path}?token={text}", headers)
        await asyncio.to_thread(daemon.get, "/", {"Host": f"{text}.example"})
        await asyncio.to_thread(daemon.get, "/", {"Origin": f"https://{text}.example"})
        await asyncio.to_thread(daemon.get, "/link", {"Sec-WebSocket-Protocol": f"{codec}, {text}"})
        async with daemon.link(codec, f"/link?token={text}", **headers) as link:
            await link.ask("hello", token="", client=text)
            assert await link.rest("an empty token") == 4401
    for hello in (
        {"token": wrong},
        {"token": f"{token}x"},
        {"token": token[:-1]},
        {"token": secret},
        {"token": [token]},
        {"token": {"a": token}},
        {"code": token},
        {"code": [token]},
        {"client": token},
        {"token": wrong, "client": [token], "max_frame": token},
    ):
        async with daemon.link(codec) as link:
            await link.wire.send("hello", **hello)
            assert await link.rest(f"hello of {sorted(hello)}") == 4401
    for type_ in ("ping", token, "part"):
        async with daemon.link(codec) as link:
            await link.wire.send(type_, token=token)
            assert await link.rest("another first message") == 4401
    for frame in (f"{token}", f'{{"type":"hello","token":"{token}"', f"\x81{token}"):
        async with daemon.link(codec) as link:
            await link.wire.say_bytes(frame.encode())
            await link.rest("a first frame that is no message")


async def work_with(daemon: Watched, codec: str, token: str) -> None:
    """A link that is welcomed, and puts its token into what the daemon speaks of in its errors and its log."""
    secret = token.partition(".")[2]
    for client in (token, f"app {secret}", f"{'long ' * 23}{token}", f"{'x ' * 50}{secret}", token[:40]):
        async with daemon.link(codec) as link:
            # A bad field beside a good token is told, and the link goes on.
            refused = await link.ask("hello", token=token, client=client, max_frame=token)
            assert refused["code"] == "bad_message"
            welcome = await link.ask("hello", token=token, client=client, token2=token, extra={"a": [token]})
            assert welcome["type"] == "welcome"
            for text in (token, secret):
                for type_, fields in (
                    (text, {}),
                    ("hello", {"token": text}),
                    ("open", {"session": "s", "kind": text}),
                    ("show", {"session": text, "result": "1"}),
                    ("reads", {"session": text}),
                    ("delete", {"session": text}),
                    ("sync", {"after": 1, "epoch": text}),
                    ("result", {"session": text, "key": text, "tool": text, "body": {"kind": text}}),
                    (
                        "result",
                        {"session": "s", "key": "k", "tool": "t", "body": {"kind": "read", "path": 1}, text: text},
                    ),
                    ("message", {"session": "s", "key": "k", "role": text, "text": ""}),
                    ("history", {"session": text, "limit": text}),
                ):
                    answer = await link.ask(type_, **fields)
                    assert answer["type"] == "error", (type_, answer)
            await link.ask("open", session="s", kind="agent")
            await link.ask("result", **text_result("s", "k"))
            await link.ask("show", session="s", result=token)
            await link.wire.say_bytes(f"\xc1{token}".encode())
            assert await link.rest("a frame that is no message") == 1007


async def pair(daemon: Watched, codec: str) -> str:
    """Codes: a wrong one, a good one, the same again, and in places where none belongs. Gives the token."""
    with asking(daemon.data) as asked:
        offer = asked.ask(AskPair(name="tablet"), Offered)
        code = daemon.secrets.code("the code", offer.code)
        for path in (f"/pair?code={code}", f"/{code}", f"/link?code={code}"):
            await asyncio.to_thread(daemon.get, path, {"Cookie": f"code={code}", "Authorization": f"Code {code}"})
        for hello in (
            {"code": daemon.secrets.code("a wrong code", make_code()), "name": code},
            {"token": code, "client": code},
            {"token": f"{code}.{code}"},
            {"code": [code]},
        ):
            async with daemon.link(codec, f"/link?code={code}") as link:
                await link.wire.send("hello", **{"client": code} | hello)
                assert await link.rest(f"hello of {sorted(hello)}") == 4401
        async with daemon.link(codec) as link:
            refused = await link.ask("hello", code=code, client=code, max_frame=code)
            assert refused["code"] == "bad_message"
            paired = await link.ask("hello", code=code.lower(), name="my tablet", client=f"app {code}", other=code)
            assert paired["type"] == "paired"
            token = daemon.secrets.token("the token of the code", str(paired["token"]))
            assert (await link.ask("hello", token=token, client=code.replace("-", "")))["type"] == "welcome"
            await link.ask(code)
        assert isinstance(asked.next(20), PairedWith)
    async with daemon.link(codec) as link:
        await link.wire.send("hello", code=code, client=code)
        assert await link.rest("a code that was used") == 4401
    return token


async def meet_faults(daemon: Watched, codec: str, token: str) -> None:
    """A handler, a disk and a thread that fail, with the token in what they fail at."""
    (daemon.data / program.SENT).write_text(token)
    async with daemon.link(codec) as link:
        await link.ask("hello", token=token, client="test")
        await link.ask("open", session="fault", kind="agent")
        assert (await link.ask("reads", session="fault"))["code"] == "internal"
        (daemon.data / program.DISK).touch()
        assert (await link.ask("result", **text_result("s", "broken")))["type"] == "error"
        async with daemon.link(codec) as another:
            await another.wire.send("hello", token=token, client=token)
            await another.wire.send("hello", code=token, client=token)
            await another.wire.socket.close()
        (daemon.data / program.DISK).unlink()
    daemon.process.send_signal(signal.SIGUSR1)
    await until(lambda: "thread_crash" in daemon.log())


def leaks(daemon: Watched) -> list[tuple[str, list[str]]]:
    """Where secrets are found, and which."""
    commands = [
        ("status",),
        ("status", "--json"),
        ("device", "list"),
        ("device", "list", "--json"),
        ("sessions", "--json"),
    ]
    ran = {" ".join(words): waybread(*words, "--data", daemon.data) for words in commands}
    texts = [
        *daemon.heard,
        *((f"waybread {words}", f"{command.out}{command.err}") for words, command in ran.items()),
        ("the metrics", daemon.metrics()),
        ("the log", daemon.log()),
    ]
    files = {f"/proc: {name}": data for name, data in daemon.process_files().items()} | daemon.stored_files()
    assert [command.status for command in ran.values()] == [0] * len(ran)
    assert {"waybread.sqlite", "waybread.toml"} <= set(files)
    found = [(where, daemon.secrets.in_text(text)) for where, text in texts]
    found += [(where, daemon.secrets.in_bytes(data)) for where, data in files.items()]
    return [(where, names) for where, names in found if names]


@pytest.mark.parametrize("codec", CODECS)
async def test_no_token_and_no_code_stands_in_anything_that_a_daemon_lets_out(tmp_path: Path, codec: str) -> None:
    with watching(tmp_path) as daemon:
        token = await asyncio.to_thread(daemon.token, "phone")
        revoked = await asyncio.to_thread(daemon.token, "lost")
        await asyncio.to_thread(waybread, "device", "revoke", revoked.partition(".")[0], "--data", daemon.data)
        wrong = daemon.secrets.token(
            "a wrong token", f"{token.partition('.')[0]}.{make_token().text.partition('.')[2]}"
        )
        for bad in (wrong, revoked):
            await put_tokens_where_they_belong_and_where_not(daemon, codec, token, bad)
        await work_with(daemon, codec, token)
        await work_with(daemon, codec, await pair(daemon, codec))
        await meet_faults(daemon, codec, token)
        assert await asyncio.to_thread(leaks, daemon) == []
        events = {json.loads(line)["event"] for line in daemon.log().splitlines()}
        assert {"link_opened", "hello_refused", "request", "refused", "paired", "fault", "thread_crash"} <= events
        # The end, by a fault of the whole: what the process leaves behind is looked at again.
        (daemon.data / program.CRASH).touch()
        daemon.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(daemon.process.wait, 40) == 1
        assert '"crash"' in daemon.log()
        assert daemon.secrets.in_text(daemon.log()) == []
        assert [name for name, data in daemon.stored_files().items() if daemon.secrets.in_bytes(data)] == []


async def test_a_daemon_that_stops_in_good_order_leaves_nothing_either(tmp_path: Path) -> None:
    with watching(tmp_path) as daemon:
        token = await asyncio.to_thread(daemon.token, "phone")
        async with daemon.link(CODECS[0]) as link:
            await link.ask("hello", token=token, client=token)
            daemon.process.send_signal(signal.SIGTERM)
            assert await link.rest("a daemon that stops") == 1012
        assert await asyncio.to_thread(daemon.process.wait, 40) == 0
        assert daemon.secrets.in_text(daemon.log()) == []
        assert [name for name, data in daemon.stored_files().items() if daemon.secrets.in_bytes(data)] == []


def test_a_secret_that_stood_there_would_be_found(tmp_path: Path) -> None:
    with watching(tmp_path) as daemon:
        token = daemon.token("phone")
        code = daemon.secrets.code("the code", make_code())
        assert leaks(daemon) == []
        (daemon.data / "note").write_bytes(b"\0" + token.partition(".")[2].encode() + b"\0")
        with daemon.log_file.open("a") as log:
            log.write(json.dumps({"event": f"x{code.replace('-', '').lower()}x", "at": time.time()}) + "\n")
        daemon.heard.append(("an answer", f"there is no session '{token}'"))
        found = dict(leaks(daemon))
    assert found["note"] == ["phone, its secret half"]
    assert found["an answer"] == ["phone, its text", "phone, its secret half"]
    assert len(found["the log"]) == 1
