"""Answers made smaller, for links that take only small messages: less of a list first, then less of its one item.

No client may be stuck behind something that it cannot take: a page always holds one entry. What is cut of an entry's
text is had by `entry_text`; labels are cut only where a message of the client has no room for them.
"""

from __future__ import annotations

import msgspec

from waybread_protocol.messages import Answer, Entry, Page, SessionList, SessionRow

_replaced = msgspec.structs.replace


def smaller(answer: Answer) -> Answer | None:
    """The answer with half of its list left for the next one, or of its one item cut; None where nothing can be cut."""
    if isinstance(answer, SessionList):
        if len(answer.sessions) > 1:
            return _replaced(answer, sessions=answer.sessions[: len(answer.sessions) // 2], more=True)
        rows = [smaller_row(row) for row in answer.sessions]
        return _replaced(answer, sessions=rows) if rows and rows[0] is not None else None
    if not isinstance(answer, Page) or not answer.entries:
        return None
    if len(answer.entries) == 1:
        entry = smaller_entry(answer.entries[0])
        return None if entry is None else _replaced(answer, entries=[entry])
    half = len(answer.entries) // 2
    if answer.next >= answer.entries[-1].seq:
        # A page of `sync` goes on behind its last entry, one of `history` ahead of its first.
        kept = answer.entries[:half]
        return _replaced(answer, entries=kept, next=kept[-1].seq, more=True)
    kept = answer.entries[-half:]
    return _replaced(answer, entries=kept, next=kept[0].seq, more=True)


def smaller_entry(entry: Entry) -> Entry | None:
    """An entry without its arguments or with half of its text, whichever is longer; else with its longest label halved."""
    if entry.args and entry.args_chars >= len(entry.text):
        return _replaced(entry, args={})
    if entry.text:
        return _replaced(entry, text=entry.text[: len(entry.text) // 2])
    longest = max(("title", "call", "tool"), key=lambda name: len(getattr(entry, name)))
    label: str = getattr(entry, longest)
    if label:
        return _replaced(entry, **{longest: label[: len(label) // 2]})
    if entry.turns:
        return _replaced(entry, turns=entry.turns[: len(entry.turns) // 2])
    return None


def smaller_row(row: SessionRow) -> SessionRow | None:
    """A session's row with its longest label halved."""
    name = max(("title", "directory", "last_line"), key=lambda name: len(getattr(row, name)))
    label: str = getattr(row, name)
    return _replaced(row, **{name: label[: len(label) // 2]}) if label else None
