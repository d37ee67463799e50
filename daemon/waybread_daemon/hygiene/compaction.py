"""The table of reads that follows a summary (section 7)."""

from __future__ import annotations

from waybread_daemon.hygiene.bracket import one_line, short_sha
from waybread_daemon.hygiene.events import Read
from waybread_daemon.hygiene.ids import result_id
from waybread_daemon.hygiene.session import State
from waybread_protocol.loop import CONTEXT


def covered_reads(state: State) -> list[Read]:
    """The reads that a summary made now covers: the newest full read of each file, the newest of them last."""
    return newest_reads(state, state.floor())[-CONTEXT.compaction.rows :]


def newest_reads(state: State, above: int = 0) -> list[Read]:
    """The newest full read of each file in turns not taken back, with a number above `above`, oldest first."""
    newest: dict[str, Read] = {}
    for read in state.standing_reads(above):
        newest.pop(read.absolute, None)
        newest[read.absolute] = read
    return list(newest.values())


def table(reads: list[Read]) -> str:
    """The table's text; empty without reads."""
    if not reads:
        return ""
    return "\n".join([CONTEXT.texts.table_head, *(_row(read) for read in reads)])


def _row(read: Read) -> str:
    texts = CONTEXT.texts
    shown = texts.table_lines.format(first=read.first, last=read.last, lines=read.lines)
    return texts.table_row.format(
        path=one_line(read.path).replace("|", "\\|"),
        shown=shown if read.lines else texts.table_empty,
        sha=short_sha(read.sha256),
        result=result_id(read.number),
    )
