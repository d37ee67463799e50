"""Brackets, and outside text that stands in one line with them."""

from __future__ import annotations

import re

from waybread_daemon.hygiene.ids import result_id
from waybread_protocol.loop import CONTEXT

_BEFORE, _AFTER = CONTEXT.texts.result.split("{result}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    return _NAMED.get(char) or (f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}")


def one_line(text: str) -> str:
    r"""Outside text with its control characters as escapes (`\n`, `\x1b`, `\u2028`), so that it stays in its line."""
    return text if text.isprintable() else _CONTROL.sub(_escape, text)


def short_sha(sha256: bytes) -> str:
    """The first `read.sha_digits` hex digits of a hash."""
    return sha256.hex()[: CONTEXT.read.sha_digits]


def result_bracket(number: int) -> str:
    """`[#0001]`"""
    return f"{_BEFORE}{result_id(number)}{_AFTER}"


def read_bracket(number: int, path: str, sha256: bytes, first: int, last: int, lines: int) -> str:
    """A read's bracket (section 1): lines shown, length and hash, or that the file is empty (`lines` 0)."""
    texts = CONTEXT.texts
    shown = {"result": result_id(number), "path": one_line(path), "sha": short_sha(sha256)}
    if lines == 0:
        return texts.read_empty.format(**shown)
    return texts.read.format(**shown, first=first, last=last, lines=lines)


def change_bracket(number: int, path: str, sha256: bytes | None) -> str:
    """An edit's bracket (section 5); without a hash the file was deleted."""
    texts = CONTEXT.texts
    if sha256 is None:
        return texts.change_deleted.format(result=result_id(number), path=one_line(path))
    return texts.change.format(result=result_id(number), path=one_line(path), sha=short_sha(sha256))


def patched_bracket(path: str, sha256: bytes | None) -> str:
    """The bracket of one file in a patch over several (section 5)."""
    texts = CONTEXT.texts
    if sha256 is None:
        return texts.patched_deleted.format(path=one_line(path))
    return texts.patched.format(path=one_line(path), sha=short_sha(sha256))


def recall_bracket(number: int, recalled: int, first: int, last: int, lines: int) -> str:
    """A recall's bracket (section 4); `lines` 0: there is nothing to show."""
    texts = CONTEXT.texts
    shown = {"result": result_id(number), "recalled": result_id(recalled)}
    if lines == 0:
        return texts.recall_empty.format(**shown)
    return texts.recall.format(**shown, first=first, last=last, lines=lines)
