"""The line that a list shows of each session."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.daemon.office import Office, an_office, opening, read, text
from waybread_daemon.sessions.last_lines import LINE_CHARS, LOOK_BYTES, last_line_of
from waybread_daemon.store.contract import LARGE_BYTES
from waybread_protocol.messages import Done, Message, SessionList, Sessions, TakeBack, Turn

# What the page does with the same texts, it does the same: see tests/page/core/texts.test.js.
CASES = json.loads((Path(__file__).parents[2] / "page/core/last_lines.json").read_text("utf-8"))


async def line_of(office: Office, session: str = "s") -> str:
    found = await office.ask(Sessions(id=1), SessionList)
    return next(row.last_line for row in found.sessions if row.session == session)


async def say(office: Office, words: str, key: str = "m") -> None:
    await office.ask(Message(id=1, session="s", key=key, role="user", text=words), Done)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_last_line_that_has_text(case: dict[str, str]) -> None:
    assert last_line_of(case["text"].encode()) == case["line"]


def test_a_line_that_began_before_the_look_is_shown_from_a_whole_character_on() -> None:
    assert last_line_of(b"x" + "é".encode() * LOOK_BYTES) == "é" * LINE_CHARS


async def test_a_session_without_a_word_has_none(office: Office) -> None:
    assert await line_of(office) == ""
    await office.ask(Turn(id=1, session="s", turn="t"), Done)
    assert await line_of(office) == ""


async def test_the_newest_of_messages_and_results_counts(office: Office) -> None:
    await say(office, "Fix it.\n\n")
    assert await line_of(office) == "Fix it."
    await office.insert(text("k", "one\ntwo\x1b\n\n"))
    assert await line_of(office) == "two\\x1b"
    await office.insert(text("k2", ""))
    assert await line_of(office) == "[#0002]"
    await office.ask(Turn(id=1, session="s", turn="t"), Done)
    await office.ask(TakeBack(id=1, session="s", key="b", turns=["t"]), Done)
    assert await line_of(office) == "[#0002]"


async def test_of_a_read_it_is_the_last_line_shown_behind_its_number(office: Office) -> None:
    await office.insert(read("k", "one\ntwo\r\nthree\n", limit=2))
    assert await line_of(office) == "2: two"
    await office.insert(read("k2", "", path="/b", absolute="/b"))
    assert (await line_of(office)).startswith("[#0002 /b empty sha ")


@pytest.mark.parametrize("lines", [["x" * 100] * 5000, ["x" * LARGE_BYTES, "end"], ["€" * LARGE_BYTES]])
async def test_of_a_large_text_only_the_end_is_looked_at(
    office: Office, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "\n".join(lines)
    await office.insert(text("k", body))
    await say(office, body, key="m")
    monkeypatch.setattr("waybread_daemon.sessions.bodies.text_of", None)
    assert await line_of(office) == lines[-1][:LINE_CHARS]


async def test_of_a_read_of_a_large_file_only_the_last_line_is_looked_at(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "".join(f"{number} {'x' * 90}\n" for number in range(5000))
    await office.insert(read("k", content, offset=100, limit=7))
    monkeypatch.setattr("waybread_daemon.sessions.bodies.text_of", None)
    assert await line_of(office) == f"106: 105 {'x' * 90}"


async def test_a_list_of_200_sessions_with_large_last_texts_takes_no_longer_than_it_may(tmp_path: Path) -> None:
    async with an_office(tmp_path) as office:
        for number in range(200):
            await office.ask(opening(f"t{number}"), object)
            await office.insert(text("k", f"{number}\n" * 20_000, session=f"t{number}"))
        begun = time.perf_counter()
        found = await office.ask(Sessions(id=1), SessionList)
        took_s = time.perf_counter() - begun
    assert [row.last_line for row in found.sessions[:2]] == ["199", "198"]
    assert len(found.sessions) == 200
    assert took_s < 2, took_s
