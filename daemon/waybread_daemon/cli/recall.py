"""`waybread recall`: a stored result in full, for a person. Nothing is inserted into the session."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import NamedTuple

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.looks import find_session
from waybread_daemon.cli.options import (
    data_folder,
    parser_for,
    take_data,
    take_device,
    take_json,
    take_session,
    whole_number,
)
from waybread_daemon.cli.screen import Screen
from waybread_daemon.config import STORE_NAME
from waybread_daemon.hygiene.ids import result_id, result_number
from waybread_daemon.hygiene.lines import shown_range
from waybread_daemon.sessions.bodies import body_of, exact_lines, line_count
from waybread_daemon.store.contract import Reader, SessionFacts
from waybread_daemon.store.sqlite import open_reader
from waybread_protocol.loop import CONTEXT

_MOST_LINES = CONTEXT.recall.window_lines


class Piece(NamedTuple):
    """Lines `first` to `last` (0 where there are none) of a stored body of `lines` lines."""

    result: str
    tool: str
    first: int
    last: int
    lines: int
    text: str


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Prints lines of a stored result exactly; on standard error, how to go on where there are more."""
    parser = parser_for(
        "recall",
        "Shows a stored result in full, before any cap, as it is kept. The session gets no new entry by it.",
        "waybread recall my-session 0020",
        "waybread recall my-session '#0020' --offset 2001 --limit 500",
    )
    take_session(parser)
    parser.add_argument("result", metavar="ID", help="the result's id, with or without its #")
    parser.add_argument("--offset", metavar="N", type=whole_number(1), default=1, help="the first line to show (1)")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=whole_number(1, _MOST_LINES),
        default=_MOST_LINES,
        help=f"how many lines ({_MOST_LINES}, which is the most)",
    )
    take_device(parser)
    take_data(parser)
    take_json(parser)
    options = parser.parse_args(words)
    with open_reader(data_folder(options.data, environment) / STORE_NAME) as reader:
        session = find_session(reader, options.session, options.device).session
        piece = _piece(reader, session, options.result, options.offset, options.limit)
    screen = Screen(sys.stdout)
    if options.json:
        screen.json({"session": session.session, **piece._asdict()})
        return 0
    screen.text(piece.text)
    if screen.is_terminal and piece.text and not piece.text.endswith("\n"):
        screen.line()
    screen.flush()
    if piece.last < piece.lines:
        print(
            f"waybread: these are lines {piece.first}-{piece.last} of {piece.lines} of {piece.result}: "
            f"go on with --offset {piece.last + 1}",
            file=sys.stderr,
        )
    return 0


def _piece(reader: Reader, session: SessionFacts, argument: str, offset: int, limit: int) -> Piece:
    number = result_number(argument)
    row = reader.result(session.number, number) if 1 <= number <= session.results else None
    if row is None:
        given = f"{result_id(1)} to {result_id(session.results)}" if session.results else "no id yet"
        raise CommandFault(
            f"the session {session.session!r} has given {given}, and {argument!r} is none of them: "
            "`waybread transcript` shows the ids"
        )
    body = body_of(reader, row)
    lines = line_count(reader, body)
    result, tool = result_id(number), row.facts.tool
    if lines == 0:
        return Piece(result, tool, 0, 0, 0, "")
    shown = shown_range(offset, limit, lines, _MOST_LINES)
    if shown is None:
        raise CommandFault(f"{result} has {lines} lines and there is no line {offset}: name a smaller --offset")
    return Piece(result, tool, *shown, lines, exact_lines(reader, body, *shown).decode())
