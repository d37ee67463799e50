"""What a target promises, so that the cases of context.json can be run against it (README, "Targets")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

PlainStep = Mapping[str, object]
"""A step with every description written out: contents are `{"text": str}` or `{"bytes": bytes}`."""

Answer = Mapping[str, object]
"""A step's answer: see README, "Answers"."""

UNSUPPORTED = "unsupported"
"""An answer with this field says that the target does not have such a step (`show`, `reads`, `restart` only)."""


class TargetError(Exception):
    """The target cannot go on: it ended, answered what is no answer, or took too long."""


class Target(Protocol):
    """An implementation under test. Steps come in order, one at a time, after `begin`."""

    @property
    def label(self) -> str:
        """How the report names it."""
        ...

    @property
    def patient(self) -> bool:
        """Whether it can take tens of thousands of steps: cases marked `long` are run against such targets only."""
        ...

    def forms(self, steps: Sequence[PlainStep]) -> Sequence[str]:
        """The forms in which these steps are to be tried, at least one: all have to answer the same."""
        ...

    def begin(self, kind: str, form: str) -> None:
        """Begin a new session of this kind, with nothing in it; the session before it is over."""
        ...

    def step(self, step: PlainStep) -> Answer:
        """Carry out a step and give its answer.

        Raises:
            TargetError: the case ends here, failed. The next case begins anew.

        """
        ...

    def close(self) -> None:
        """Let go of whatever is held. Nothing is asked after it."""
        ...
