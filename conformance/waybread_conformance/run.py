"""What the command `waybread conformance` calls: runs the cases against one target and prints what differs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TextIO

from waybread_conformance.cases import CaseError, load_context, load_link
from waybread_conformance.context_runner import Outcome, run_context
from waybread_conformance.link_runner import run_link
from waybread_conformance.report import report
from waybread_conformance.targets.contract import Target
from waybread_conformance.targets.daemon import DaemonTarget
from waybread_conformance.targets.exec import ExecTarget

DONE, FAILED, WRONG_USAGE = 0, 1, 2


def run(
    *,
    url: str | None = None,
    token: str | None = None,
    tokens: Mapping[str, str] | None = None,
    exec_command: str | None = None,
    package: Target | None = None,
    only: str = "",
    out: TextIO | None = None,
) -> int:
    """Run the cases and print each that differs and the counts; the answer is the exit status.

    One target is given: `url` with the `token` of a device (context.json and link.json are run against that daemon),
    `exec_command` (a program) or `package` (an implementation in this process); the latter two get context.json.
    `tokens` are further tokens by role (`agent`, `viewer`, and `other`: the token of another device) for cases of
    link.json; without them those cases are passed over. `only` runs the cases whose name holds it.

    Exit status: 0 all passed, 1 something failed or nothing was run, 2 no target or more than one.
    """
    if [url, exec_command, package].count(None) != 2:
        return _usage("Name one target: a daemon with --url and --token, or a program with --exec.")
    if url is not None and not token:
        return _usage("A daemon takes a token: make one with `waybread device add NAME` and give it as --token.")
    target = _target(url, token, exec_command, package)
    printed = out if out is not None else sys.stdout
    try:
        counts = report(_context(target, only), printed)
        if url is not None and token is not None:
            counts += report(_link(url, {**(tokens or {}), "device": token}, only), printed)
    except CaseError as error:
        print(error, file=sys.stderr)
        return FAILED
    print(f"{target.label}: {counts}", file=printed)
    return DONE if counts.passed and not counts.failed else FAILED


def _target(url: str | None, token: str | None, exec_command: str | None, package: Target | None) -> Target:
    if url is not None and token is not None:
        return DaemonTarget(url, token)
    if exec_command is not None:
        return ExecTarget(exec_command)
    if package is not None:
        return package
    raise ValueError("no target is named")


def _context(target: Target, only: str) -> Iterator[Outcome]:
    try:
        yield from run_context([case for case in load_context() if only in case.name], target)
    finally:
        target.close()


def _link(url: str, tokens: Mapping[str, str], only: str) -> Iterator[Outcome]:
    return run_link([case for case in load_link() if only in case.name], url, tokens)


def _usage(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return WRONG_USAGE
