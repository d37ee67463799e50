"""A daemon of which everything is kept that it ever lets out, and what must not be in it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tests.daemon.cli.support import environment, waybread
from tests.daemon.wire import Map, Wire
from tests.secrets import program

SETTINGS = """
log_level = "debug"
metrics = true
metrics_port = 0
max_failed_hellos = 1000
"""
SECRET_CHARS = 43
CODE_CHARS = 26


class Secrets:
    """What must stand nowhere, by what it is called."""

    def __init__(self) -> None:
        self._forms: dict[str, str] = {}

    def token(self, name: str, text: str) -> str:
        """A token: its text, and the half of it that is secret."""
        secret = text.partition(".")[2]
        assert len(secret) == SECRET_CHARS
        self._forms |= {f"{name}, its text": text, f"{name}, its secret half": secret}
        return text

    def code(self, name: str, text: str) -> str:
        """A pairing code: as it is shown, without its hyphens, and as somebody might type it."""
        plain = text.replace("-", "")
        assert len(plain) == CODE_CHARS
        for form in (text, plain, text.lower(), plain.lower()):
            self._forms[f"{name}, as {form}"] = form
        return text

    def in_text(self, text: str) -> list[str]:
        """The names of those that stand in a text."""
        return [name for name, form in self._forms.items() if form in text]

    def in_bytes(self, data: bytes) -> list[str]:
        """The names of those that stand in some bytes."""
        return [name for name, form in self._forms.items() if form.encode() in data]


class Watched:
    """A daemon. `heard` is all that it said to clients, by how it was asked."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.log_file = data.with_name("log")
        self.heard: list[tuple[str, str]] = []
        self.secrets = Secrets()
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.secrets.program", "--data", str(data), "--port", "0"],
                cwd=program.ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(),
            )
        assert self.process.stdout is not None
        self.first_line = self.process.stdout.readline().decode()
        self.url = self.first_line.removeprefix("waybread listening on ").strip()

    def token(self, name: str, *words: str) -> str:
        """A fresh token, made by the command."""
        (made,) = waybread("device", "add", name, *words, "--data", self.data, "--json").objects()
        return self.secrets.token(name, str(made["token"]))

    def get(self, path: str, headers: Mapping[str, str]) -> None:
        """Asks by HTTP, and keeps the answer with its headers."""
        url = self.url.replace("ws:", "http:").replace("/link", path)
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=dict(headers))) as answer:
                said = f"{answer.headers}{answer.read().decode()}"
        except urllib.error.HTTPError as fault:
            with fault:
                said = f"{fault.headers}{fault.read().decode()}"
        self.heard.append((f"GET {path.partition('?')[0]}", said))

    @asynccontextmanager
    async def link(self, codec: str, path: str = "/link", **headers: str) -> AsyncGenerator[Talk, None]:
        async with connect(
            self.url.replace("/link", path),
            subprotocols=[Subprotocol(codec), Subprotocol("other")],
            additional_headers=headers,
            compression=None,
            proxy=None,
            close_timeout=1,
        ) as socket:
            yield Talk(Wire(socket), self)

    def log(self) -> str:
        return self.log_file.read_text("utf-8")

    def metrics(self) -> str:
        """The page of its metrics."""
        lines = map(json.loads, self.log().splitlines())
        port = next(line["port"] for line in lines if line["event"] == "metrics_listening")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            return str(answer.read().decode())

    def process_files(self) -> dict[str, bytes]:
        """What anybody sees of the process."""
        place = Path(f"/proc/{self.process.pid}")
        names = ("cmdline", "environ", "comm", "status")
        return {name: (place / name).read_bytes() for name in names if (place / name).exists()}

    def stored_files(self) -> dict[str, bytes]:
        """All that is in the data folder, but for what the test put there."""
        files = [file for file in self.data.rglob("*") if file.is_file() and file.name != program.SENT]
        return {file.name: file.read_bytes() for file in files}


class Talk:
    """A link. Whatever the daemon says is kept, but for the one answer that gives a token."""

    def __init__(self, wire: Wire, watched: Watched) -> None:
        self.wire = wire
        self._watched = watched

    async def ask(self, type_: str, **fields: object) -> Map:
        answer = await self.wire.ask(type_, **fields)
        if answer["type"] != "paired":
            self._watched.heard.append((f"{type_} of {sorted(fields)}", repr(answer)))
        return answer

    async def rest(self, what: str) -> int:
        """All that is still said, and why the link ends. Gives the code."""
        try:
            while True:
                self._watched.heard.append((what, repr(await self.wire.hear())))
        except ConnectionClosed:
            socket = self.wire.socket
            self._watched.heard.append((f"the end of {what}", f"{socket.close_code} {socket.close_reason}"))
            return int(socket.close_code or 0)


@contextmanager
def watching(folder: Path) -> Generator[Watched]:
    """A daemon that tells all it ever tells: at the level debug, with metrics."""
    data = folder / "data"
    data.mkdir(mode=0o700)
    (data / "waybread.toml").write_text(SETTINGS)
    watched = Watched(data)
    try:
        assert watched.url.startswith("ws://"), watched.log()
        yield watched
    finally:
        if watched.process.poll() is None:
            watched.process.kill()
            watched.process.wait()
        assert watched.process.stdout is not None
        watched.process.stdout.close()
