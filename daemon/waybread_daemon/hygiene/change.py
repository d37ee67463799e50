"""Edits answer with the diff of what they changed (section 5)."""

from __future__ import annotations

from typing import NamedTuple

from waybread_daemon.hygiene.answer import Answer, Shape
from waybread_daemon.hygiene.bracket import change_bracket, patched_bracket, result_bracket
from waybread_daemon.hygiene.cap import cap
from waybread_daemon.hygiene.diff import hunks
from waybread_daemon.hygiene.events import Changed
from waybread_daemon.hygiene.lines import count_file_lines
from waybread_daemon.hygiene.session import State
from waybread_protocol.loop import CONTEXT


class FileChange(NamedTuple):
    """One file's change: `before` None is created, `after` None deleted. `sha256` is that of `after`."""

    path: str
    absolute: str
    before: bytes | None
    after: bytes | None
    sha256: bytes | None


class Described(NamedTuple):
    """What a change shows, without ids: made before its number is known, because diffs of large files take long.

    `sentence`: the one file was created, so that `shown` stands in the bracket's line.
    """

    changes: list[FileChange]
    shown: bytes
    sentence: bool


def describe_change(changes: list[FileChange]) -> Described:
    """The diffs, sentences and (for several files) brackets of a change."""
    if len(changes) == 1:
        return Described(changes, _shown(changes[0]), changes[0].before is None)
    sections: list[bytes] = []
    for change in changes:
        bracket = patched_bracket(change.path, change.sha256).encode()
        shown = _shown(change)
        gap = b" " if change.before is None else b"\n"
        sections.append(bracket + gap + shown if shown else bracket)
    return Described(changes, b"\n".join(sections), sentence=False)


def change_answer(state: State, described: Described, note: str) -> Answer:
    """The answer to a change. The cap takes what is shown; the note follows on a line of its own, never elided."""
    number = state.results + 1
    changes, shown, sentence = described
    if len(changes) == 1:
        bracket = change_bracket(number, changes[0].path, changes[0].sha256)
    else:
        bracket = result_bracket(number)
    event = Changed(number, tuple(change.absolute for change in changes))
    parts = [part for part in (shown, note.encode()) if part]
    if not parts:
        return Answer(number, event, bracket)
    body = b"\n".join(parts)
    capped = cap(shown)
    lead = f"{bracket} " if sentence else f"{bracket}\n"
    return Answer(number, event, lead, Shape.WHOLE if capped is None else Shape.CUT, capped, body)


def _shown(change: FileChange) -> bytes:
    if change.after is None:
        return b""
    if change.before is None:
        return CONTEXT.texts.created.format(lines=count_file_lines(change.after)).encode()
    return hunks(change.before, change.after)
