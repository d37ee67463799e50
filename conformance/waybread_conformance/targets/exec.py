"""A program in any language: one JSON object a line on its stdin, one a line back on its stdout (README, "Programs")."""

from __future__ import annotations

import base64
import contextlib
import json
import queue
import shlex
import subprocess
import threading
from collections.abc import Sequence
from typing import IO, cast

from waybread_conformance.targets.contract import Answer, PlainStep, TargetError

ANSWER_TIMEOUT_S = 60.0
END_TIMEOUT_S = 5.0


class ExecTarget:
    """The program is started once and gets every case; it begins anew at each `begin`.

    Raises `ValueError` where `command` names no program.
    """

    patient = True

    def __init__(self, command: str, timeout_s: float = ANSWER_TIMEOUT_S) -> None:
        self.label = command
        self._argv = shlex.split(command)
        if not self._argv or not self._argv[0]:
            raise ValueError("it is empty")
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

    def forms(self, steps: Sequence[PlainStep]) -> Sequence[str]:  # noqa: ARG002 - the contract's argument
        """One form: the whole content in clear."""
        return ("content",)

    def begin(self, kind: str, form: str) -> None:  # noqa: ARG002 - the contract's argument
        """Start the program where it is not running, and tell it that a session begins."""
        if self._process is None:
            self.start()
        self._ask({"do": "begin", "kind": kind})

    def step(self, step: PlainStep) -> Answer:
        """Send the step and wait for its line."""
        return self._ask(step)

    def close(self) -> None:
        """Close its stdin, which tells the program to end; kill it where it does not."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            # Where it has ended already, text may be left unsent in the pipe.
            with contextlib.suppress(OSError):
                process.stdin.close()
        try:
            process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def start(self) -> None:
        """Start the program. Raises `TargetError` where the system cannot."""
        self._answers = queue.Queue()
        try:
            process = subprocess.Popen(  # noqa: S603 - the person who runs the cases names the program
                self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        except OSError as error:
            sentence = f"{self.label} cannot be started ({error.strerror}): name a program that runs here."
            raise TargetError(sentence) from error
        self._process = process
        threading.Thread(target=_pump, args=(process.stdout, self._answers), daemon=True).start()

    def _ask(self, message: PlainStep) -> Answer:
        process = self._process
        if process is None or process.stdin is None:
            raise TargetError(f"{self.label} is not running")
        try:
            process.stdin.write(json.dumps(message, default=_bytes_as_base64, allow_nan=False) + "\n")
            process.stdin.flush()
            line = self._answers.get(timeout=self._timeout_s)
        except (OSError, queue.Empty) as error:
            process.kill()
            self.close()
            raise TargetError(f"{self.label} gave no answer within {self._timeout_s:g} s") from error
        if not line:
            self.close()
            raise TargetError(f"{self.label} ended with status {process.returncode} instead of answering")
        return _answer(line)


def _pump(stdout: IO[str] | None, answers: queue.Queue[str]) -> None:
    """Pass on each line, and an empty one at the end. Closes the pipe: nobody else reads it."""
    if stdout is not None:
        with stdout:
            for line in stdout:
                answers.put(line)
    answers.put("")


def _answer(line: str) -> Answer:
    try:
        answer: object = json.loads(line)
    except ValueError as error:
        raise TargetError(f"the answer is no JSON: {line!r:.200}") from error
    if not isinstance(answer, dict):
        raise TargetError(f"the answer is no JSON object: {line!r:.200}")
    return cast("dict[str, object]", answer)


def _bytes_as_base64(value: object) -> str:
    """JSON has no bytes: `{"bytes": …}` holds padded standard base64, as on the link."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"{value!r} is no JSON")
