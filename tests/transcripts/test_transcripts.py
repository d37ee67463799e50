"""Recorded agent sessions go through a real daemon, and every result comes back exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import running
from tests.transcripts.recorded import FOLDER, Recorded, files, read_content, results
from waybread_client import Link, Session
from waybread_protocol.messages import Inserted

pytestmark = [
    pytest.mark.transcripts,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="no recorded transcripts beside the checkout"),
]


@pytest.mark.parametrize("prefix", ["claude__", "codex__"])
async def test_every_recorded_result_comes_back_by_recall_and_by_show_after_a_restart(
    tmp_path: Path, prefix: str
) -> None:
    recordings = {path.name: results(path) for path in files(prefix)}
    assert sum(len(recorded) for recorded in recordings.values()) > 500
    inserted: dict[str, list[Inserted]] = {}
    with running(tmp_path / "data") as daemon:
        token = daemon.token()
        async with Link(daemon.url, token) as link:
            for name, recorded in recordings.items():
                session = await link.open(name, "agent")
                inserted[name] = [await _insert(session, result) for result in recorded]
        assert daemon.stop() == 0
    with running(tmp_path / "data") as daemon:
        async with Link(daemon.url, token) as link:
            for name, recorded in recordings.items():
                session = await link.open(name, "agent")
                for result, answer in zip(recorded, inserted[name], strict=True):
                    assert await session.show_all(answer.result) == result.text, (name, answer.result)
                    assert await _recalled(session, answer.result) == result.text.removesuffix("\n")


async def test_recorded_reads_are_stubs_when_they_come_again_and_their_lines_come_back_by_recall(
    tmp_path: Path,
) -> None:
    reads = [read for path in files("claude__") for result in results(path) if (read := read_content(result))]
    assert len(reads) > 50
    with running(tmp_path / "data") as daemon:
        async with Link(daemon.url, daemon.token()) as link:
            session = await link.open("reads", "agent")
            for path, first, text in reads:
                content = ("before\n" * (first - 1) + text).encode()
                answer = await session.read(path, path, content, first)
                numbered = [f"{number}: {line}" for number, line in enumerate(text.split("\n")[:-1], first)]
                shown = numbered[:2000]
                again = await session.read(path, path, content, first)
                assert again.stub_of is not None
                assert f"Unchanged since {again.stub_of}," in again.text
                assert await _recalled(session, again.result) == "\n".join(shown)
                if answer.stub_of is None:
                    assert answer.text.split("\n", 1)[1] == "\n".join(shown)


async def _insert(session: Session, result: Recorded) -> Inserted:
    return await session.result(result.tool, result.args, result.text, result.error, call=result.call)


async def _recalled(session: Session, result: str) -> str:
    """What a model gets that recalls window after window."""
    windows: list[str] = []
    offset = 1
    while True:
        answer = await session.recall(result, offset)
        bracket, _, window = answer.text.partition("\n")
        if bracket.endswith(" empty]"):
            return ""
        windows.append(window)
        last, lines = (int(word) for word in bracket.split(" lines ")[1].split("-")[1].rstrip("]").split(" of "))
        if last == lines:
            return "\n".join(windows)
        offset = last + 1
