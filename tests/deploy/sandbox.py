"""The walls of a unit, as systemd puts them up, where no systemd runs: from the unit's own settings, by the kernel's means.

Mounts, credentials, limits, memory that may not become executable, and system calls. Left out, because the security
check of systemd-analyze sees them and a program that stays within the system calls cannot tell the difference:
PrivateUsers, the IP rules, RestrictRealtime, RestrictSUIDSGID and LockPersonality.
"""

from __future__ import annotations

import ctypes
import errno
import grp
import os
import pwd
import resource
import subprocess
from pathlib import Path

from tests.deploy.units import Unit

_STATE = Path("/var/lib")
_CLONE_NEWNS = 0x00020000
_CLONE_NEWNET = 0x40000000
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_MDWE = 65
_LAST_CAPABILITY = 40
_FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
_WRITE, _EXEC, _SHM_EXEC = 2, 4, 0o100000

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_EQUAL, _MASKED_EQUAL = 4, 7


class _Compare(ctypes.Structure):
    """libseccomp's `scmp_arg_cmp`."""

    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


_libc = ctypes.CDLL(None, use_errno=True)


def allowed_calls(unit: Unit) -> set[str]:
    """The system calls that `SystemCallFilter=` leaves."""
    # What systemd itself always lets through: to begin, to end, and to tell the time.
    calls = _expanded("@default") | {"execve"}
    for value in unit.all("SystemCallFilter"):
        names = set[str]().union(*map(_expanded, value.removeprefix("~").split()))
        calls = calls - names if value.startswith("~") else calls | names
    return calls


def _expanded(name: str) -> set[str]:
    if not name.startswith("@"):
        return {name}
    listing = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager", name], capture_output=True, text=True, check=True
    ).stdout
    names = [line.strip() for line in listing.splitlines()[1:]]
    return set[str]().union(*(_expanded(inner) for inner in names if inner and not inner.startswith("#")))


def enter(unit: Unit, calls: set[str]) -> None:
    """Puts this process behind the walls; it executes the service's command next. Raises `OSError` where one fails."""
    user = pwd.getpwnam(unit.one("User"))
    group = grp.getgrnam(unit.one("Group")).gr_gid
    state = _STATE / unit.one("StateDirectory")
    state.mkdir(parents=True, exist_ok=True)
    os.chown(state, user.pw_uid, group)
    state.chmod(int(unit.one("StateDirectoryMode"), 8))
    _wall_off([state, *map(Path, unit.words("ReadWritePaths"))], alone=unit.is_on("PrivateNetwork"))
    for name, limit in (("LimitNOFILE", resource.RLIMIT_NOFILE), ("LimitCORE", resource.RLIMIT_CORE)):
        for value in unit.all(name):
            resource.setrlimit(limit, (int(value), int(value)))
    os.umask(int(unit.one("UMask"), 8))
    assert unit.one("CapabilityBoundingSet") == ""
    for capability in range(_LAST_CAPABILITY + 1):
        _prctl(_PR_CAPBSET_DROP, capability)
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    assert unit.is_on("NoNewPrivileges")
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    assert unit.is_on("MemoryDenyWriteExecute")
    if _libc.prctl(_PR_SET_MDWE, 1, 0, 0, 0) and ctypes.get_errno() != errno.EINVAL:  # older kernels do not know it
        raise OSError(ctypes.get_errno(), "prctl")
    _filter_calls(calls, unit.words("RestrictAddressFamilies"), int(getattr(errno, unit.one("SystemCallErrorNumber"))))


def _wall_off(writable: list[Path], *, alone: bool) -> None:
    if _libc.unshare(_CLONE_NEWNS | (_CLONE_NEWNET if alone else 0)):
        raise OSError(ctypes.get_errno(), "unshare")
    _mount("--make-rprivate", "/")
    for folder in writable:
        _mount("--bind", str(folder), str(folder))
    keep = {str(folder) for folder in writable}
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        place = line.split()[4]
        if place not in keep and not place.startswith(("/dev", "/proc", "/sys")):
            _mount("-o", "remount,bind,ro", place)
    for private in ("/home", "/root"):
        if Path(private).is_dir():
            _mount("-t", "tmpfs", "-o", "ro,mode=0", "tmpfs", private)
    _mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/tmp")
    _mount("-t", "proc", "-o", "subset=pid,hidepid=invisible", "proc", "/proc")


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _filter_calls(calls: set[str], families: list[str], refusal: int) -> None:
    lib = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    lib.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(lib.seccomp_init(_ERRNO | refusal))

    def add(action: int, call: str, *compared: tuple[int, int, int, int]) -> None:
        number = lib.seccomp_syscall_resolve_name(call.encode())
        # Names of other processors and of newer kernels than this library resolve to none.
        if number < 0:
            return
        array = (_Compare * len(compared))(*(_Compare(*one) for one in compared))
        if lib.seccomp_rule_add_array(context, ctypes.c_uint(action), number, len(compared), array):
            raise OSError(0, f"no rule for {call}")

    # RestrictNamespaces: systemd cannot look into the arguments of clone3, so it answers as if there was none.
    add(_ERRNO | errno.ENOSYS, "clone3")
    for call in calls - {"mmap", "mprotect", "pkey_mprotect", "shmat", "socket", "clone3", "unshare", "setns"}:
        add(_ALLOW, call)
    for protection in (0, _WRITE, _EXEC):
        add(_ALLOW, "mmap", (2, _MASKED_EQUAL, _WRITE | _EXEC, protection))
    add(_ALLOW, "mprotect", (2, _MASKED_EQUAL, _EXEC, 0))
    add(_ALLOW, "pkey_mprotect", (2, _MASKED_EQUAL, _EXEC, 0))
    add(_ALLOW, "shmat", (2, _MASKED_EQUAL, _SHM_EXEC, 0))
    for family in families:
        add(_ALLOW, "socket", (0, _EQUAL, _FAMILIES[family], 0))
    if lib.seccomp_load(context):
        raise OSError(0, "the filter of system calls could not be loaded")
