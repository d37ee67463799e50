"""The line that a list of sessions shows of each: the end of what was said last. Only ends of large texts are read."""

from __future__ import annotations

from waybread_daemon.hygiene.answer import Shape
from waybread_daemon.hygiene.bracket import one_line
from waybread_daemon.hygiene.lines import numbered
from waybread_daemon.sessions import bodies
from waybread_daemon.store.contract import Reader, Row

LINE_CHARS = 200
LOOK_BYTES = 4096
"""So much of a text's end is looked at: a line that began before it is shown from there on."""
_ROWS_MOST = 4
"""What is not said in so many last entries is not looked for further."""
_SPACES = "\t\n\v\f\r "


def last_line(reader: Reader, session: int) -> str:
    """The last line that has text, of the newest message or result of a session (its number in the store).

    At most `LINE_CHARS` characters from the line's beginning, without spaces around, control characters as brackets show
    them. Empty where nothing was said lately.
    """
    before = 0
    for _ in range(_ROWS_MOST):
        rows = reader.rows_before(session, before, 1)
        if not rows:
            break
        row = rows[0]
        if row.kind in ("message", "result") and (line := last_line_of(_end(reader, row))):
            return line
        before = row.seq
    return ""


def last_line_of(end: bytes) -> str:
    """The last line that has text, of the end of a text. The end may begin in the middle of a character."""
    for line in reversed(end[-LOOK_BYTES:].decode(errors="ignore").split("\n")):
        if bare := line.strip(_SPACES):
            return one_line(bare)[:LINE_CHARS]
    return ""


def _end(reader: Reader, row: Row) -> bytes:
    """The end of a text as `bodies.text_of` gives it, `LOOK_BYTES` at least where it has them."""
    facts = row.facts
    if facts.shape == Shape.BARE:
        return facts.lead.encode()
    holder, span = bodies.body_of(reader, row)
    if holder.content is None:
        return bodies.text_of(reader, row)
    if span is None:
        size = holder.content.size_bytes
        return reader.part(holder.content, max(size - LOOK_BYTES, 0), size)
    # A read: each line stands behind its number, which makes the last one a line that has text.
    source = holder.facts.span
    line = span.last - (source.base - 1 if source is not None else 0)
    text, _ = reader.piece(holder.content, line, line, 0, LOOK_BYTES)
    return numbered(text, span.last).encode()
