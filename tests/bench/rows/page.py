"""The page on a phone: how large it is, how soon it shows something, and how soon it answers a tap."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.bench.figures import Figure, Rounds, median
from tests.bench.room import Room
from tests.running import waybread
from waybread_client import Link
from waybread_daemon.page.files import shell

_KIB = 1024
_BUDGET_KIB = 60
_PAINT_MS = 300
_TAP_MS = 100
_SLOWER = 4
_LOADS = 5
_ENTRIES = 400
_PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
_PAIRED = """async (given) => {
    const { openDatabase } = await import('/js/core/database.js');
    const { Pairings } = await import('/js/core/pairings.js');
    const database = await openDatabase();
    await new Pairings(database).add(given);
    database.close();
}"""
# The first paint that shows something: the page is empty until its script has read what it kept.
_PAINT = """() => new Promise((told) => {
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (entry.name === 'first-contentful-paint') told(entry.startTime);
    }).observe({ type: 'paint', buffered: true });
})"""
# From the tap to the frame that shows its effect, as browsers measure Interaction to Next Paint.
_WATCH = """() => {
    window.taps = [];
    new PerformanceObserver((list) => {
        for (const { interactionId, duration } of list.getEntries()) if (interactionId > 0) window.taps.push(duration);
    }).observe({ type: 'event', durationThreshold: 16 });
}"""


def page(room: Room) -> list[Figure]:
    """The page's files as they are sent, and Chromium on a processor slowed four times, all from a warm cache."""
    packed = sum(len(file.packed) for file in shell().files.values() if file.packed is not None) / _KIB
    size = Figure("page_size", "the page's files, packed", _BUDGET_KIB, packed, "KiB")
    paint = f"the page's first paint from a warm cache, processor slowed {_SLOWER} times, against {_PAINT_MS} ms"
    tap = f"the slowest of the page's answers to taps, processor slowed {_SLOWER} times, against {_TAP_MS} ms"
    try:
        rounds = _measured(room)
    except ImportError as missing:
        return [size, *(Figure(name, what, 1, None, skipped=str(missing)) for name, what in _both(paint, tap))]
    raw = rounds.raw("ms", digits=0)
    return [
        size,
        Figure("page_paint", paint, 1, rounds.median("first paint") / _PAINT_MS, raw=raw),
        Figure("page_tap", tap, 1, rounds.median("slowest tap") / _TAP_MS),
    ]


def _both(paint: str, tap: str) -> list[tuple[str, str]]:
    return [("page_paint", paint), ("page_tap", tap)]


def _measured(room: Room) -> Rounds:
    from playwright.sync_api import sync_playwright

    from tests.page.browsers import FLAGS, chromium_path

    daemon = room.daemon()
    device = json.loads(waybread("device", "add", "bench", "--json", data=daemon.data).stdout)
    asyncio.run(_fill(daemon.url, device["token"]))
    site = f"http://127.0.0.1:{daemon.port}/"
    given = {"device": device["device"], "role": "device", "token": device["token"]}
    rounds = Rounds()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        for _ in range(room.rounds):
            with browser.new_context(**_PHONE) as context:
                tab = context.new_page()
                tab.goto(site)
                tab.evaluate(_PAIRED, {"url": daemon.url, "name": "bench", "paired": given})
                tab.goto("about:blank")
                # Everything is kept now: the files by the service worker, the session by the page.
                tab.goto(f"{site}#/s/s0")
                tab.locator(".message").last.wait_for()
                tab.evaluate("navigator.serviceWorker.ready.then(() => true)")
                tab.wait_for_timeout(1000)
                slowing: Any = context.new_cdp_session(tab)
                slowing.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWER})
                paints: list[float] = []
                for _ in range(_LOADS):
                    tab.goto("about:blank")
                    tab.goto(f"{site}#/s/s0")
                    paints.append(float(tab.evaluate(_PAINT)))
                    tab.locator(".message").last.wait_for()
                rounds.add("first paint", median(paints))
                rounds.add("slowest tap", _slowest_tap(tab))
        browser.close()
    return rounds


def _slowest_tap(tab: Any) -> float:
    """Goes through the page by taps: the list, a transcript, a result and back, what opens and what folds."""
    tab.evaluate(_WATCH)
    for selector in (
        "button[aria-label='Wrap lines']",
        "button[aria-label='Wrap lines']",
        "a.id >> nth=-1",
        ".tool.named >> nth=0",
        ".tool.named >> nth=1",
        "a[aria-label='Back']",
        "a[aria-label='Files read']",
        "a[aria-label='Back']",
        "a[aria-label='Back']",
        ".session >> nth=1",
        "a[aria-label='Back']",
        "a[aria-label='Settings']",
    ):
        tab.locator(selector).tap()
        tab.wait_for_timeout(400)
    taps: list[float] = tab.evaluate("window.taps")
    return max(taps)


async def _fill(url: str, token: str) -> None:
    """Sessions as people have them: messages, output, and some sessions beside."""
    async with Link(url, token) as link:
        for number in range(1, 40):
            beside = await link.open(f"s{number}", "agent", title=f"Session {number}", directory="/home/me/src")
            await beside.message("user", "Why do the tests fail?")
        session = await link.open("s0", "agent", title="The long one", directory="/home/me/src")
        output = "".join(f"{line:06d} a line of what a tool answered, as long as many are\n" for line in range(60))
        for number in range(_ENTRIES // 2):
            await session.result("bash", {"command": f"make {number}"}, f"{number}\n{output}")
            await session.message("assistant", f"That was number {number}. " + "And so it goes on. " * (number % 9))
