"""What ends a command: a sentence for the person who typed it."""

from __future__ import annotations


class CommandFault(Exception):  # noqa: N818  # the word of the house for what stops something
    """A command was refused or failed. `sentence` says what, and what to do next."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence
