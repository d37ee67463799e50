"""What a power cut takes: writes and truncations that no sync came after."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Generator
from contextlib import contextmanager

import msgspec


class _Step(msgspec.Struct, frozen=True):
    """A change of a file: `new` None is a truncation to `offset`. `old` is what stood there, `size` the file's before."""

    offset: int
    new: bytes | None
    old: bytes
    size: int


class Unsynced:
    """Notes every change of a file until it is synced. `lose` takes back all of them, or some by chance.

    Its descriptors are never closed: closing any descriptor of a database's file drops SQLite's locks on it.
    """

    def __init__(self, seed: int, *, keep_some: bool) -> None:
        self._chance = random.Random(seed)
        self._keep_some = keep_some
        self._lock = threading.RLock()
        self._steps: dict[str, list[_Step]] = {}
        self._descriptors: dict[str, int] = {}

    @contextmanager
    def writing(self, path: str, data: bytes, offset: int) -> Generator[None]:
        """Around a write."""
        with self._lock:
            descriptor = self._descriptor(path)
            size = os.fstat(descriptor).st_size
            step = _Step(offset, data, os.pread(descriptor, len(data), offset), size)
            yield
            self._steps.setdefault(path, []).append(step)

    @contextmanager
    def truncating(self, path: str, size: int) -> Generator[None]:
        """Around a truncation."""
        with self._lock:
            descriptor = self._descriptor(path)
            before = os.fstat(descriptor).st_size
            step = _Step(size, None, os.pread(descriptor, max(before - size, 0), size), before)
            yield
            self._steps.setdefault(path, []).append(step)

    @contextmanager
    def syncing(self, path: str) -> Generator[None]:
        """Around a sync: what was changed before it began is on the disk when it ends."""
        with self._lock:
            count = len(self._steps.get(path, ()))
        yield
        with self._lock:
            del self._steps.get(path, [])[:count]

    def forget(self, path: str) -> None:
        """The file is about to be deleted: the next one of that name is another."""
        with self._lock:
            self._steps.pop(path, None)
            self._descriptors.pop(path, None)

    def lose(self) -> None:
        """Takes the changes back. Nothing can be changed any more from then on, so the process has to end."""
        self._lock.acquire()
        for path, steps in self._steps.items():
            descriptor = self._descriptors[path]
            for step in reversed(steps):
                os.pwrite(descriptor, step.old, step.offset)
                os.ftruncate(descriptor, step.size)
            for step in steps:
                if self._keep_some and self._chance.random() < 0.5:
                    if step.new is None:
                        os.ftruncate(descriptor, step.offset)
                    else:
                        os.pwrite(descriptor, step.new, step.offset)

    def _descriptor(self, path: str) -> int:
        if path not in self._descriptors:
            self._descriptors[path] = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        return self._descriptors[path]
