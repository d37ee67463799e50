"""What the command lines have in common: how help looks, and where the data folder is."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, get_args

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.config import PREFIX, STORE_NAME
from waybread_protocol.limits import Role


def parser_for(command: str, purpose: str, *examples: str) -> argparse.ArgumentParser:
    """A parser whose help tells the purpose and at least one example. Wrong usage ends the process with status 2."""
    return argparse.ArgumentParser(
        prog=f"waybread {command}",
        description=purpose,
        epilog="\n  ".join(["example:" if len(examples) == 1 else "examples:", *examples]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


class Actions(Protocol):
    """What `add_subparsers` gives: argparse has no public name for it."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:  # what a parser takes
        """A parser for an action."""
        ...


def add_action(actions: Actions, command: str, name: str, purpose: str, *examples: str) -> argparse.ArgumentParser:
    """A parser for an action of a command, with help as `parser_for` makes it."""
    same = parser_for(f"{command} {name}", purpose, *examples)
    return actions.add_parser(
        name,
        help=purpose.partition(".")[0],
        description=same.description,
        epilog=same.epilog,
        formatter_class=same.formatter_class,
        allow_abbrev=False,
    )


def take_data(parser: argparse.ArgumentParser) -> None:
    """`--data`."""
    parser.add_argument(
        "--data", metavar="DIR", type=filled, help="the data folder (else WAYBREAD_DATA, else the platform's own)"
    )


def take_json(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line, exactly as stored")


def take_device(parser: argparse.ArgumentParser) -> None:
    """`--device`, where a session's id alone may not be enough."""
    parser.add_argument("--device", metavar="ID", help="the device (`waybread device list` shows the ids)")


def take_session(parser: argparse.ArgumentParser) -> None:
    """`SESSION`."""
    parser.add_argument(
        "session", metavar="SESSION", type=stored_text, help="the session's id (`waybread sessions` lists them)"
    )


def take_role(parser: argparse.ArgumentParser) -> None:
    """`--role`."""
    parser.add_argument(
        "--role",
        choices=get_args(Role),
        default="device",
        help="device: everything; agent: everything but delete; viewer: only looks (device)",
    )


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """The type of an argument that is a whole number from `least` to `most`: any other is wrong usage."""
    span = f"from {least} up" if most is None else f"from {least} to {most}"

    def number(text: str) -> int:
        # `int` alone takes `1_0` and the digits of other scripts, too.
        value = int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None
        if value is None or value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"{text!r:.40} is no whole number {span}")
        return value

    return number


def filled(text: str) -> str:
    """The type of an argument that may not be empty: a shell leaves nothing of a variable that is not set."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty: give a value, or leave the flag out")
    return text


def stored_text(text: str) -> str:
    """The type of an argument that is looked up in the store, where all text is UTF-8."""
    if not is_utf8(text):
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not UTF-8")
    return text


def is_utf8(text: str) -> bool:
    """Whether a text of the command line or the environment is: Python lets bytes that are not through, as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def path_of(text: str) -> Path:
    """The path that an argument names, `~` as a shell takes it. Raises `CommandFault` where there is no such user."""
    expanded = os.path.expanduser(text)  # noqa: PTH111  # the other one raises what may mean anything
    if expanded.startswith("~"):
        raise CommandFault(f"{text} names the home of a user who is not there: write the whole path, or ./{text}")
    return Path(expanded).absolute()


def data_folder(given: str | None, environment: Mapping[str, str]) -> Path:
    """Where the store and the settings are: `--data`, else `WAYBREAD_DATA`, else the platform's own. Raises `CommandFault`."""
    named = given or environment.get(f"{PREFIX}DATA")
    if named:
        folder = path_of(named)
    else:
        from platformdirs import user_data_path

        folder = user_data_path("waybread", appauthor=False)
    if not is_utf8(str(folder)):
        raise CommandFault(
            f"the data folder {str(folder)!r} has a name that is not UTF-8: rename it, or name another one with --data"
        )
    return folder


def made_folder(given: str | None, environment: Mapping[str, str]) -> Path:
    """The data folder, made where there is none, for its owner alone. Raises `StoreRefusal`, with the command that helps."""
    # Late: help and wrong usage need no store.
    from waybread_daemon.store.sqlite.place import examine_place, make_folder

    folder = data_folder(given, environment)
    examine_place(folder / STORE_NAME)
    make_folder(folder / STORE_NAME)
    return folder
