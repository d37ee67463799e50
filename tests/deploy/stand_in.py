"""`systemctl` on a machine without systemd, for what `deploy/install` asks of it: python -m tests.deploy.stand_in WORDS.

It starts the command of a unit behind the unit's own walls, as its user, and waits for READY as systemd does. A keeper
stays with it, takes what the daemon tells by NOTIFY_SOCKET, ends it when its watchdog is not fed, and starts nothing
again. Everything that it is asked stands in /run/stand-in/calls.
"""

from __future__ import annotations

import os
import pwd
import select
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.deploy import sandbox
from tests.deploy.units import Unit

UNITS = Path("/etc/systemd/system")
STATE = Path("/run/stand-in")
_POLL_S = 0.02


def main(words: list[str]) -> int:
    STATE.mkdir(exist_ok=True)
    with (STATE / "calls").open("a") as calls:
        calls.write(" ".join(words) + "\n")
    command, *names = [word for word in words if not word.startswith("-")]
    for word in names:
        name = word if "." in word else f"{word}.service"
        if not (UNITS / name).exists():
            sys.stderr.write(f"Unit {name} not found.\n")
            return 5
        if status := _carry_out(command, name, now="--now" in words):
            return status
    return 0


def _carry_out(command: str, name: str, *, now: bool) -> int:
    unit = Unit(UNITS / name)
    match command:
        case "enable":
            wanted = _wanted(unit)
            wanted.parent.mkdir(exist_ok=True)
            if not wanted.is_symlink():
                wanted.symlink_to(UNITS / name)
        case "disable":
            _wanted(unit).unlink(missing_ok=True)
            if now:
                _stop(unit)
        case "is-active":
            return 0 if _pid(name) else 3
        case "stop":
            _stop(unit)
        case "start" | "restart":
            if command == "restart":
                _stop(unit)
            return 0 if _pid(name) or _start(unit) else 1
        case "reload":
            _reload(unit)
        case _:
            sys.stderr.write(f"the stand-in knows no {command}\n")
            return 1
    return 0


def _wanted(unit: Unit) -> Path:
    """The link by which the machine's start finds an enabled unit."""
    return UNITS / f"{unit.one('WantedBy', 'Install')}.wants" / unit.name


def _pid(name: str) -> int:
    """The main process of a unit, 0 where it does not run."""
    try:
        return int((STATE / f"{name}.pid").read_text())
    except FileNotFoundError:
        return 0


def _stop(unit: Unit) -> None:
    pid = _pid(unit.name)
    if not pid:
        return
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + int(unit.one("TimeoutStopSec"))
    while _pid(unit.name):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)


def _reload(unit: Unit) -> None:
    user = pwd.getpwnam(unit.one("User"))
    words = [word.replace("$MAINPID", str(_pid(unit.name))) for word in shlex.split(unit.one("ExecReload"))]
    subprocess.run(words, user=user.pw_uid, group=user.pw_gid, extra_groups=[], check=True)


def _start(unit: Unit) -> bool:
    """Starts a unit and leaves a keeper with it. Whether it is ready, or, where it has none to be, has done its work."""
    calls = sandbox.allowed_calls(unit)
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.close(reading)
        # Whoever asked waits for the end of what it reads, which is not to be the service's.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        _keep(unit, calls, writing)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        return answer.read() == "ready"


def _keep(unit: Unit, calls: set[str], answer: int) -> None:
    path = STATE / f"{unit.name}.notify"
    path.unlink(missing_ok=True)
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(str(path))
    path.chmod(0o777)
    pid = os.fork()
    if pid == 0:
        _become(unit, calls, str(path))
    (STATE / f"{unit.name}.pid").write_text(str(pid))
    watchdog_s = float("".join(unit.all("WatchdogSec")) or "inf")
    fed = time.monotonic()
    told: Path = STATE / f"{unit.name}.told"
    status: int | None = None
    while status is None:
        for message in _messages(notify):
            with told.open("a") as log:
                log.write(message + "\n")
            if "READY=1" in message.splitlines() and answer >= 0:
                answer = _answered(answer, "ready")
            if "WATCHDOG=1" in message.splitlines():
                fed = time.monotonic()
        if time.monotonic() - fed > watchdog_s:
            os.kill(pid, signal.SIGABRT)
        ended, code = os.waitpid(pid, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if ended else None
    with told.open("a") as log:
        log.write(f"exit {status}\n")
    (STATE / f"{unit.name}.pid").unlink()
    if answer >= 0:
        _answered(answer, "ready" if unit.one("Type") == "oneshot" and status == 0 else "failed")


def _answered(answer: int, word: str) -> int:
    os.write(answer, word.encode())
    os.close(answer)
    return -1


def _messages(notify: socket.socket) -> list[str]:
    messages: list[str] = []
    while select.select([notify], [], [], 0 if messages else _POLL_S)[0]:
        messages.append(notify.recv(4096).decode())
    return messages


def _become(unit: Unit, calls: set[str], notify: str) -> None:
    """Executes the unit's command, and does not come back."""
    try:
        log = os.open(STATE / f"{unit.name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        user = pwd.getpwnam(unit.one("User"))
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
            "LANG": "C.UTF-8",
            "USER": user.pw_name,
            "LOGNAME": user.pw_name,
            "SHELL": user.pw_shell,
            **unit.environment(),
        }
        if unit.one("Type") == "notify":
            environment["NOTIFY_SOCKET"] = notify
            if unit.all("WatchdogSec"):
                environment["WATCHDOG_USEC"] = str(int(unit.one("WatchdogSec")) * 1_000_000)
                environment["WATCHDOG_PID"] = str(os.getpid())
        words = shlex.split(unit.one("ExecStart"))
        os.chdir("/")
        sandbox.enter(unit, calls)
        os.execve(words[0], words, environment)
    except Exception as fault:  # noqa: BLE001  # whatever it was, there is nobody above to hear of it
        os.write(2, f"the stand-in could not start the service: {fault!r}\n".encode())
    os._exit(203)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
