"""Unified diffs by libgit2, whose worst case is not quadratic (section 5).

The library is the one inside pygit2, called through `ctypes`, because pygit2 itself holds the interpreter's lock for the
whole of a diff and a large one would stop the event loop from another thread.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import re

from waybread_daemon.hygiene.lines import BOM

_OPTIONS_VERSION = 1
_OPTIONS_BYTES = 512
"""More than `git_diff_options` takes in any release; `git_diff_options_init` fills what it knows."""
_FORCE_TEXT = 1 << 20
"""`GIT_DIFF_FORCE_TEXT`: a NUL does not make a file binary. The flags follow the version, 4 bytes in."""

_HEADER = b"\n@@ "
_CRLF = re.compile(rb"\r\n(?!\\)")
_STARTS = re.compile(rb"@@ -(\d+)(?:,\d+)? \+(\d+)")


class _Buffer(ctypes.Structure):
    _fields_ = (("ptr", ctypes.c_void_p), ("reserved", ctypes.c_size_t), ("size", ctypes.c_size_t))


class _Library:
    """The few calls of libgit2 that make a diff of two buffers."""

    def __init__(self) -> None:
        # A tenth of a second, which only a process with edits pays.
        library = ctypes.CDLL(importlib.import_module("pygit2._pygit2").__file__)
        size, pointer, text = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
        self.init = library.git_libgit2_init
        self.options_init = library.git_diff_options_init
        self.options_init.argtypes = (pointer, ctypes.c_uint)
        self.from_buffers = library.git_patch_from_buffers
        self.from_buffers.argtypes = (pointer, text, size, text, text, size, text, pointer)
        self.to_buffer = library.git_patch_to_buf
        self.to_buffer.argtypes = (pointer, pointer)
        self.num_hunks = library.git_patch_num_hunks
        self.num_hunks.argtypes = (pointer,)
        self.num_hunks.restype = size
        self.free_patch = library.git_patch_free
        self.free_patch.argtypes = (pointer,)
        self.free_patch.restype = None
        self.free_buffer = library.git_buf_dispose
        self.free_buffer.argtypes = (pointer,)
        self.free_buffer.restype = None
        self.options = ctypes.create_string_buffer(_OPTIONS_BYTES)
        self.init()
        self.check(self.options_init(self.options, _OPTIONS_VERSION))
        ctypes.c_uint32.from_buffer(self.options, 4).value = _FORCE_TEXT

    @staticmethod
    def check(status: int) -> None:
        if status < 0:
            raise MemoryError(f"libgit2 could not make a diff (status {status})")

    def patch(self, before: bytes, after: bytes) -> tuple[bytes, int]:
        """The whole patch, header included, and the number of its hunks; empty where nothing differs."""
        patch, out = ctypes.c_void_p(), _Buffer()
        self.check(
            self.from_buffers(
                ctypes.byref(patch), before, len(before), None, after, len(after), None, ctypes.byref(self.options)
            )
        )
        try:
            self.check(self.to_buffer(ctypes.byref(out), patch))
            return (ctypes.string_at(out.ptr, out.size) if out.ptr else b""), self.num_hunks(patch)
        finally:
            self.free_buffer(ctypes.byref(out))
            self.free_patch(patch)


_library = functools.cache(_Library)


def hunks(before: bytes, after: bytes) -> bytes:
    r"""The hunks of the diff as UTF-8 text, lines joined by `\n`, none after the last; empty for equal contents.

    Three lines of context, no text behind the second `@@`. A `\r` right before `\n` and a leading byte-order mark are
    compared and not printed; bytes that are no UTF-8 are compared as they are and shown as U+FFFD.
    """
    if before == after:
        return b""
    data = _without_sections(*_library().patch(before, after))
    if b"\r" in data:
        # The marker of a missing final newline begins with a backslash: there the `\r` stands before no `\n` of the file.
        data = _CRLF.sub(b"\n", data)
    if before.startswith(BOM) or after.startswith(BOM):
        data = _without_bom(data, before, after)
    data = data.removesuffix(b"\n")
    return data if data.isascii() else data.decode("utf-8", "replace").encode()


def _without_sections(patch: bytes, count: int) -> bytes:
    """The hunks without the patch's header and without the text behind each second `@@`.

    Only a hunk's header has `@@` at the beginning of a line: every line of a file has a mark before it.
    """
    pieces: list[bytes] = []
    start = patch.find(_HEADER) + 1
    for _ in range(count):
        end = patch.find(b"\n", start)
        head = patch.find(b" @@", start, end) + len(b" @@")
        following = patch.find(_HEADER, end) if len(pieces) // 2 + 1 < count else -1
        stop = following + 1 if following >= 0 else len(patch)
        pieces += (patch[start:head], patch[end:stop])
        start = stop
    return b"".join(pieces)


def _without_bom(data: bytes, before: bytes, after: bytes) -> bytes:
    """The byte-order mark is printed nowhere: it can stand in the first line of either side only."""
    starts = _STARTS.match(data)
    if starts is None:
        return data
    old_start, new_start = (int(start) for start in starts.groups())
    lines = data.split(b"\n")
    first_lines: set[int] = set()
    if old_start == 1 and before.startswith(BOM):
        first_lines.add(_first(lines, b" -"))
    if new_start == 1 and after.startswith(BOM):
        first_lines.add(_first(lines, b" +"))
    # One line may be the first of both sides: it loses one mark, not two.
    for at in first_lines:
        lines[at] = lines[at][:1] + lines[at][1:].removeprefix(BOM)
    return b"\n".join(lines)


def _first(lines: list[bytes], prefixes: bytes) -> int:
    return next(index for index, line in enumerate(lines[1:], 1) if line[:1] and line[:1] in prefixes)
