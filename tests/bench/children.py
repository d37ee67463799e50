"""The processes beside the bench: the bare limit, the loads, and how much memory a process takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from tests.bench.programs.orders import LENGTH_BYTES, Open, Order, Serial, Stop, Told, Windowed

_PROGRAMS = "tests.bench.programs"
ROOT = Path(__file__).resolve().parents[2]


class Bare:
    """The bare limit's server."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{_PROGRAMS}.bare", str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.url = f"ws://127.0.0.1:{int(self._process.stdout.readline())}/"
        self.pid = self._process.pid

    def close(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


class Load:
    """A load's process. `begin` and `finish` let two of them work at once."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{_PROGRAMS}.load"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def begin(self, order: Order) -> None:
        """Gives an order."""
        assert self._process.stdin is not None
        data = msgspec.msgpack.encode(order)
        self._process.stdin.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)
        self._process.stdin.flush()

    def finish(self) -> Told:
        """Waits for what it tells."""
        assert self._process.stdout is not None
        head = self._process.stdout.read(LENGTH_BYTES)
        if len(head) < LENGTH_BYTES:
            raise RuntimeError("the load ended before its time: what it says stands above")
        data = self._process.stdout.read(int.from_bytes(head, "big"))
        return msgspec.msgpack.decode(data, type=Told)

    def ask(self, order: Order) -> Told:
        """Gives an order and waits."""
        self.begin(order)
        return self.finish()

    def open(self, links: str, url: str, *preludes: list[bytes]) -> None:
        """Opens a link for each prelude."""
        self.ask(Open(links, url, list(preludes)))

    def latencies_s(self, links: str, messages: list[list[bytes]]) -> list[float]:
        """How long each answer takes, one at a time."""
        return [taken for _, taken in self.ask(Serial(links, messages)).samples]

    def rate(self, links: str, messages: list[list[bytes]], window: int) -> float:
        """Answers a second, over all links."""
        told = self.ask(Windowed(links, messages, window))
        return sum(map(len, messages)) / told.seconds

    def stop(self) -> Told:
        """Ends the `Serial` that is under way, and gives what it measured."""
        self.begin(Stop())
        return self.finish()

    def close(self) -> None:
        """Ends it and its links."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def cpu_seconds(process: int) -> float:
    """The processor time that a process has taken: it tells what a request costs where the machine is busy, too."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_bytes(process: int) -> int:
    """What a process holds in memory now."""
    return _status_bytes(process, "VmRSS")


def peak_bytes(process: int) -> int:
    """The most that it held since `forget_peak`."""
    return _status_bytes(process, "VmHWM")


def forget_peak(process: int) -> None:
    """Lets the peak begin at what the process holds now."""
    Path(f"/proc/{process}/clear_refs").write_text("5", encoding="ascii")


def _status_bytes(process: int, field: str) -> int:
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise LookupError(f"/proc/{process}/status has no {field}")
