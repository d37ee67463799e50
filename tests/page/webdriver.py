"""Drives WebKit, the engine of Safari, as WebKitGTK's small browser on a screen that nobody sees: WebDriver over HTTP."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tests.page.browsers import WebKit
from tests.page.browsing import PAIR, House

ENTER = "\ue007"
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""How WebDriver calls a reference to an element."""
_CALL_TIMEOUT_S = 40
_START_TIMEOUT_S = 15
_TRIES = 3
_UNTIL_S = 15
_LOOK_EVERY_S = 0.05
_LIMITS_MS = {"script": 20_000, "pageLoad": 30_000, "implicit": 0}
_PHONE = {"width": 390, "height": 844}
"""The browser's own bar makes it a little wider than that."""
_WATCH = """
if (window.faults === undefined) {
  window.faults = [];
  addEventListener('error', (event) => window.faults.push(event.message));
  addEventListener('unhandledrejection', (event) => window.faults.push(String(event.reason)));
  document.addEventListener('securitypolicyviolation', (event) => window.faults.push(event.violatedDirective));
  const said = console.error;
  console.error = (...words) => { window.faults.push(words.join(' ')); said(...words); };
}
return window.faults;
"""
"""WebKit tells its driver nothing of what a page complains of, so the page itself is asked."""


class DriverError(Exception):
    """What WebKit's driver could not do, in its words."""


class Driver:
    """Starts WebKit on a display. `home` is an empty folder, in which it keeps nothing."""

    def __init__(self, webkit: WebKit, display: str, home: Path) -> None:
        self._webkit = webkit
        self._home = home
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
        homes = ("HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME")
        self._env = {
            **kept,
            **dict.fromkeys(homes, str(home)),
            "DISPLAY": display,
            "GDK_BACKEND": "x11",
            "NO_AT_BRIDGE": "1",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            # It is root in a container, as the other browsers are, and only ever sees pages of the tests.
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
        }

    @asynccontextmanager
    async def tab(self, house: House, *, dark: bool = False) -> AsyncGenerator[Tab]:
        """A browser that keeps nothing of those before it, at about a phone's size."""
        with ExitStack() as started:
            port, session = await self._session(started, dark=dark)
            tab = Tab(port, f"/session/{session}", house)
            await tab.call("POST", "/window/rect", _PHONE)
            yield tab
            assert await tab.faults() == []
            await tab.call("DELETE", "")

    async def _session(self, started: ExitStack, *, dark: bool) -> tuple[int, str]:
        """The port of a driver, and its session. Once in some sixty times it does not come to one: then another tries."""
        flags = ["--automation", *(["--dark-mode"] if dark else [])]
        wanted = {"webkitgtk:browserOptions": {"binary": self._webkit.browser, "args": flags}, "timeouts": _LIMITS_MS}
        given = {"capabilities": {"alwaysMatch": wanted}}
        for left in reversed(range(_TRIES)):
            port = started.enter_context(self._running())
            try:
                made = await asyncio.to_thread(call, port, "POST", "/session", given, _START_TIMEOUT_S)
                return port, str(made["sessionId"])
            except DriverError:
                started.close()
                if left == 0:
                    raise
        raise AssertionError

    @contextmanager
    def _running(self) -> Generator[int]:
        port = _free_port()
        command = [self._webkit.driver, f"--port={port}"]
        with (
            (self._home / "driver.log").open("ab") as log,
            subprocess.Popen(command, env=self._env, stdout=log, stderr=log, start_new_session=True) as process,
        ):
            try:
                _wait_for(port)
                yield port
            finally:
                # Its browser too, where that has not ended by itself.
                os.killpg(process.pid, signal.SIGKILL)


def call(
    port: int, method: str, path: str, body: dict[str, Any] | None = None, timeout_s: float = _CALL_TIMEOUT_S
) -> Any:
    """One command of WebDriver, and what it gives."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        value = json.loads(answer.read())["value"]
    except TimeoutError as fault:
        said = f"WebKit hangs: it did not answer to {method} {path} {body} within {timeout_s:.0f} s"
        raise DriverError(said) from fault
    finally:
        connection.close()
    if answer.status != http.HTTPStatus.OK:
        raise DriverError(f"{method} {path}: {value['error']}: {value['message']}")
    return value


class Tab:
    """What a person does with the page, and sees."""

    def __init__(self, port: int, path: str, house: House) -> None:
        self._port = port
        self._path = path
        self.house = house

    async def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return await asyncio.to_thread(call, self._port, method, self._path + path, body)

    async def go(self, url: str) -> None:
        """Loads an address. One that differs behind the `#` alone loads nothing."""
        await self.call("POST", "/url", {"url": url})
        await self.faults()

    async def open(self, address: str = "#/") -> None:
        await self.go(self.house.url + address)

    async def reload(self) -> None:
        await self.call("POST", "/refresh", {})
        await self.faults()

    async def back(self) -> None:
        await self.call("POST", "/back", {})

    async def faults(self) -> list[str]:
        """What the page complained of since it was loaded."""
        found: list[str] = await self.run(_WATCH)
        return found

    async def run(self, script: str, *args: Any) -> Any:
        """What the body of a function gives; a promise is waited for."""
        return await self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    async def pair(self) -> None:
        """Puts a pairing where the page keeps it, from an address of its site that is not the page."""
        await self.go(self.house.plain_url)
        link = f"ws://127.0.0.1:{self.house.door}/link"
        given = {"url": link, "device": self.house.device, "name": "laptop", "role": "viewer"}
        await self.run(f"return ({PAIR})(arguments[0])", {**given, "token": self.house.viewer})

    async def until(self, expression: str, *args: Any) -> Any:
        """Waits until that is so in the page; `given` are the arguments."""
        end = time.monotonic() + _UNTIL_S
        while not (value := await self.run(f"const given = arguments; return {expression};", *args)):
            if time.monotonic() > end:
                said = await self.run("return document.body.innerText.slice(0, 600)")
                raise AssertionError(f"it did not come to this: {expression} {args}; the page says: {said}")
            await asyncio.sleep(_LOOK_EVERY_S)
        return value

    async def shows(self, text: str) -> None:
        await self.until("document.body.innerText.includes(given[0])", text)

    async def texts(self, selector: str) -> list[str]:
        """What the elements hold, in order."""
        found: list[str] = await self.run(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector
        )
        return found

    async def click(self, selector: str, text: str = "") -> None:
        """Clicks on the first such element, or the first that holds that text, as soon as one can."""
        end = time.monotonic() + _UNTIL_S
        while True:
            element = await self._find(selector, text)
            try:
                await self.call("POST", f"/element/{element}/click", {})
            except DriverError:
                # It is on its way into the page, or was made anew.
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(_LOOK_EVERY_S)
            else:
                return

    async def type(self, selector: str, text: str) -> None:
        element = await self._find(selector, "")
        await self.call("POST", f"/element/{element}/value", {"text": text})

    async def _find(self, selector: str, text: str) -> str:
        found = await self.until(
            "[...document.querySelectorAll(given[0])].find((one) => one.textContent.includes(given[1]))", selector, text
        )
        return str(found[_ELEMENT])


@contextmanager
def screen(xvfb: str) -> Generator[str]:
    """An X server without a screen, and its name."""
    there, told = os.pipe()
    command = [xvfb, "-displayfd", str(told), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[told], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        os.close(told)
        try:
            with os.fdopen(there) as names:
                number = names.readline().strip()
            assert number, "Xvfb did not start"
            yield f":{number}"
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    end = time.monotonic() + _UNTIL_S
    while True:
        try:
            call(port, "GET", "/status")
        except ConnectionError:
            assert time.monotonic() < end, "WebKit's driver does not answer"
            time.sleep(_LOOK_EVERY_S)
        else:
            return


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
