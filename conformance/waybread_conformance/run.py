"""What the command `waybread conformance` calls: runs the cases against one target and prints what differs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TextIO

from waybread_conformance.cases import CaseError, ContextCase, LinkCase, load_context, load_link
from waybread_conformance.context_runner import Outcome, run_context
from waybread_conformance.link_runner import run_link
from waybread_conformance.report import Counts, report
from waybread_conformance.targets.contract import Target, TargetError
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

    Exit status: 0 all passed, 1 something failed or nothing was run, 2 no target or more than one. Where it is not 0,
    a sentence on standard error says why.
    """
    if [url, exec_command, package].count(None) != 2:
        return _complain(WRONG_USAGE, "Name one target: a daemon with --url and --token, or a program with --exec.")
    if url is not None and not token:
        return _complain(
            WRONG_USAGE, "A daemon takes a token: make one with `waybread device add NAME` and give it as --token."
        )
    try:
        target = _target(url, token, exec_command, package)
    except ValueError as error:
        return _complain(WRONG_USAGE, f"The text of --exec is no command ({error}): give a program and its arguments.")
    printed = out if out is not None else sys.stdout
    try:
        context = [case for case in load_context() if only in case.name]
        link = [case for case in load_link() if only in case.name]
        if not context and (not link or url is None):
            return _complain(FAILED, _no_case(only, link))
        if isinstance(target, ExecTarget):
            # Told once here, rather than as a failure of every case.
            target.start()
        counts = report(_context(target, context), printed)
        if url is not None and token is not None:
            counts += report(run_link(link, url, {**(tokens or {}), "device": token}), printed)
    except (CaseError, TargetError) as error:
        return _complain(FAILED, str(error))
    print(f"{target.label}: {counts}", file=printed)
    return _status(counts)


def _status(counts: Counts) -> int:
    if counts.failed:
        return _complain(FAILED, f"{counts.failed} failed: each is shown on standard output, expected and got.")
    if not counts.passed:
        return _complain(
            FAILED, "Nothing was run: this target is not tried on these cases, or they need further tokens (--help)."
        )
    return DONE


def _target(url: str | None, token: str | None, exec_command: str | None, package: Target | None) -> Target:
    if url is not None and token is not None:
        return DaemonTarget(url, token)
    if exec_command is not None:
        return ExecTarget(exec_command)
    if package is not None:
        return package
    raise ValueError("no target is named")


def _context(target: Target, cases: list[ContextCase]) -> Iterator[Outcome]:
    try:
        yield from run_context(cases, target)
    finally:
        target.close()


def _no_case(only: str, link: list[LinkCase]) -> str:
    if link:
        return f"Only cases of the link have {only!r} in their name: name a daemon with --url and --token."
    return f"No case has {only!r} in its name: give another part of a name with --only, or leave it out."


def _complain(status: int, sentence: str) -> int:
    print(f"waybread conformance: {sentence}", file=sys.stderr)
    return status
