"""`waybread transcript`: a session from its beginning, each text exactly as it went to the model."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from waybread_daemon.cli.looks import Found, find_session
from waybread_daemon.cli.options import data_folder, parser_for, take_data, take_device, take_json, take_session
from waybread_daemon.cli.screen import Screen, clock, legible
from waybread_daemon.config import STORE_NAME
from waybread_daemon.sessions.entries import whole_entry
from waybread_daemon.store.contract import Reader, Row
from waybread_daemon.store.sqlite import open_reader
from waybread_protocol.messages import Entry

POLL_S = 0.3
ARGS_CHARS = 500
"""What the heading of a result shows of the call's arguments; `--json` has them whole."""
_PAGE_ROWS = 64
_PAGE_CHARS = 1024 * 1024


class Line(NamedTuple):
    """An entry of the log with its whole text, and the call's arguments as JSON (empty where there are none)."""

    entry: Entry
    args: bytes


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Prints the session, and with `--follow` what is added to it until Ctrl-C."""
    options = _parser().parse_args(words)
    path = data_folder(options.data, environment) / STORE_NAME
    with open_reader(path) as reader:
        found = find_session(reader, options.session, options.device)
    screen = Screen(sys.stdout)
    try:
        _print(path, found, screen, options)
    except KeyboardInterrupt:
        # The way to end a follow, so no failure.
        if not options.follow:
            raise
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_for(
        "transcript",
        "Shows a session from its beginning: time, kind, turn, tool and what it was asked, then the very text that\n"
        "went to the model. On a terminal, control characters in it stand as escapes; into a pipe it goes exactly.",
        "waybread transcript my-session",
        "waybread transcript my-session --follow",
    )
    take_session(parser)
    parser.add_argument("--follow", action="store_true", help="go on with what is added, until Ctrl-C")
    take_device(parser)
    take_data(parser)
    take_json(parser)
    return parser


def _print(path: Path, found: Found, screen: Screen, options: argparse.Namespace) -> None:
    after = 0
    while True:
        # A snapshot lasts for one page, so that a slow reader of our output does not hold the daemon's log back.
        with open_reader(path) as reader:
            lines, more = _page(reader, found, after)
        for line in lines:
            if options.json:
                screen.json(_as_data(line))
            else:
                _show(screen, line)
            after = line.entry.seq
        if more:
            continue
        screen.flush()
        if not options.follow or any(line.entry.kind == "deleted" for line in lines):
            return
        time.sleep(POLL_S)


def _page(reader: Reader, found: Found, after: int) -> tuple[list[Line], bool]:
    rows = reader.rows(found.device.number, after, found.session.number, _PAGE_ROWS)
    lines: list[Line] = []
    chars = 0
    for row in rows:
        if chars > _PAGE_CHARS:
            return lines, True
        line = _line(reader, row)
        chars += line.entry.text_chars
        lines.append(line)
    return lines, len(rows) == _PAGE_ROWS


def _line(reader: Reader, row: Row) -> Line:
    return Line(whole_entry(reader, row), row.args if row.args != b"{}" else b"")


def _as_data(line: Line) -> dict[str, object]:
    fields: dict[str, object] = {name: getattr(line.entry, name) for name in line.entry.__struct_fields__}
    return fields | {"args": msgspec.Raw(line.args or b"{}")}


def _show(screen: Screen, line: Line) -> None:
    screen.line(f"--- {clock(line.entry.at_ms)}  {legible(_heading(line))}")
    text = line.entry.text
    if text:
        screen.text(text)
        if not text.endswith("\n"):
            screen.line()
    screen.line()


def _heading(line: Line) -> str:
    entry = line.entry
    match entry.kind:
        case "opened":
            return f"opened {entry.session_kind}  {entry.title}".rstrip()
        case "turn":
            return f"turn {entry.turn} begins"
        case "taken_back":
            return f"taken back: turn {', '.join(entry.turns)}"
        case _:
            marks = [
                f"turn {entry.turn}" if entry.turn else "",
                entry.tool,
                _asked(line),
                f"call {entry.call}" if entry.call else "",
                f"(stub of {entry.stub_of})" if entry.stub_of else "",
                "(capped)" if entry.capped else "",
                "(error)" if entry.error else "",
            ]
            return "  ".join([f"{entry.kind} {entry.role or entry.result}".rstrip(), *filter(None, marks)])


def _asked(line: Line) -> str:
    args = line.args.decode()
    if len(args) <= ARGS_CHARS:
        return args
    return f"{args[:ARGS_CHARS]}… ({len(args)} characters)"
