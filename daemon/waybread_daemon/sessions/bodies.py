"""Bodies and texts of stored results, put together from where the store keeps them.

A body is one of three: the whole text that a row holds; some lines of such a text, without the last ending (a recall); or
lines of a file behind their numbers (a read, its stubs, and recalls of them). The row that holds the text, inline or as
content, is the row itself or the result that it names as its root; a root never has a root.
"""

from __future__ import annotations

from typing import NamedTuple

from waybread_daemon.hygiene.answer import Shape
from waybread_daemon.hygiene.lines import (
    count_lines,
    cut_lines,
    numbered,
    without_last_ending,
)
from waybread_daemon.store.contract import Reader, Row, Span

_BARE = int(Shape.BARE)


class Body(NamedTuple):
    """`holder` has the text, `span` says which lines of it (None: all of it, as it is)."""

    holder: Row
    span: Span | None


def body_of(reader: Reader, row: Row) -> Body:
    """Where the body of a row is."""
    if not row.root:
        return Body(row, row.facts.span)
    holder = reader.result(row.session_number, row.root)
    if holder is None:
        raise LookupError(f"result {row.root} of session {row.session_number} is not in the store")
    return Body(holder, row.facts.span)


def line_count(reader: Reader, body: Body) -> int:
    """Lines of the body, as recall counts them."""
    holder, span = body
    if span is None:
        return holder.content.lines if holder.content is not None else count_lines(holder.body or b"")
    if span.numbered:
        return span.last - span.first + 1 if span.first else 0
    return count_lines(whole(reader, body))


def whole(reader: Reader, body: Body) -> bytes:
    """The body's text, UTF-8."""
    holder, span = body
    if span is None:
        return reader.whole(holder.content) if holder.content is not None else holder.body or b""
    if not span.numbered:
        return without_last_ending(_source_lines(reader, holder, span.first, span.last))
    return _numbered(reader, body, span.first, span.last)


def exact_lines(reader: Reader, body: Body, first: int, last: int) -> bytes:
    """Lines `first` to `last` of the body exactly, endings included, so that pieces join to the body."""
    holder, span = body
    if span is None:
        return _source_lines(reader, holder, first, last)
    if not span.numbered:
        return cut_lines(whole(reader, body), first, last)
    if not span.first:
        return b""
    end = min(span.first + last - 1, span.last)
    text = _numbered(reader, body, span.first + first - 1, end)
    return text if end == span.last else text + b"\n"


def piece(reader: Reader, body: Body, first: int, last: int, from_char: int, max_bytes: int) -> tuple[bytes, bool]:
    """Of those lines, whole characters from `from_char` on, `max_bytes` at most; whether more follow."""
    if body.span is None and body.holder.content is not None:
        return reader.piece(body.holder.content, first, last, from_char, max_bytes)
    return cut_text(exact_lines(reader, body, first, last), from_char, max_bytes)


def cut_text(text: bytes, from_char: int, max_bytes: int) -> tuple[bytes, bool]:
    """`text` (UTF-8) from character `from_char` on, up to a whole character; whether more follows. At least one fits."""
    if from_char:
        text = text[from_char:] if text.isascii() else text.decode()[from_char:].encode()
    end = max(max_bytes, 4)
    if len(text) <= end:
        return text, False
    while text[end] & 0xC0 == 0x80:
        end -= 1
    return text[:end], True


def text_of(reader: Reader, row: Row) -> bytes:
    """The very text that went to the model or into the transcript, UTF-8."""
    facts = row.facts
    lead = facts.lead.encode()
    if facts.shape == _BARE:
        return lead
    if row.body is not None and facts.cut is None and facts.span is None and not row.root:
        # Most results: their text is with the row.
        return lead + row.body
    body = body_of(reader, row)
    if facts.cut is None:
        return lead + whole(reader, body)
    cut, content = facts.cut, body.holder.content
    if content is not None:
        head, tail = reader.part(content, 0, cut.head_end), reader.part(content, cut.tail_start, content.size_bytes)
    else:
        inline = body.holder.body or b""
        head, tail = inline[: cut.head_end], inline[cut.tail_start :]
    return b"".join((lead, head, cut.middle.encode(), tail))


def recalled_span(body: Body, first: int, last: int) -> Span:
    """Lines `first` to `last` of a body as a span of its holder, for the recall that shows them."""
    span = body.span
    if span is None:
        return Span(first, last, 1, numbered=False)
    return Span(span.first + first - 1, span.first + last - 1, span.base, span.numbered)


def _numbered(reader: Reader, body: Body, first: int, last: int) -> bytes:
    holder, span = body
    if span is None or not first:
        return b""
    source = holder.facts.span
    skipped = source.base - 1 if source is not None else 0
    return numbered(_source_lines(reader, holder, first - skipped, last - skipped), first).encode()


def _source_lines(reader: Reader, holder: Row, first: int, last: int) -> bytes:
    if holder.content is not None:
        return reader.lines(holder.content, first, last)
    return cut_lines(holder.body or b"", first, last)
