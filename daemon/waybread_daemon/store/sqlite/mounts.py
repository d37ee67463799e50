"""Which file system a path lies on. SQLite's log needs memory that its processes share, and locks that hold.

A network file system gives neither, or says that it does. What is there is told by Linux's table of mounts; where there
is no such table, nothing is known and nothing is refused.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

# 9p is what Windows lends to WSL, and vboxsf, vmhgfs and prl_fs what a host lends to a virtual machine.
_NETWORK = re.compile(
    r"nfs\d*|cifs|smb\d*|smbfs|9p|drvfs|afs|coda|ncpfs|ceph|lustre|beegfs|orangefs|vboxsf|prl_fs|(fuse\.)?vmhgfs(-fuse)?"
    r"|fuse\.(sshfs|rclone|s3fs|s3ql|goofys|gcsfuse|juicefs|curlftpfs|davfs|glusterfs|ceph-fuse|gvfsd-fuse|smbnetfs"
    r"|cryptomator|onedriver|google-drive-ocamlfuse|grpcfuse)|davfs|glusterfs|fuse\.osxfs"
)
_ESCAPE = re.compile(r"\\([0-7]{3})")


def file_system(path: Path, mounts: Path = MOUNTS) -> str:
    """The kind of file system that holds a path, which need not be there yet; empty where that is not known."""
    try:
        table = mounts.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
    # Not `Path.resolve`, which raises at links that lead to themselves.
    place = Path(os.path.realpath(path))
    longest, found = -1, ""
    for line in table.splitlines():
        mount, _, source = line.partition(" - ")
        fields, kinds = mount.split(" "), source.split(" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        point = Path(_ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[4]))
        # The last of two at one place lies over the first.
        if place.is_relative_to(point) and len(point.parts) >= longest:
            longest, found = len(point.parts), kinds[0]
    return found


def is_network(kind: str) -> bool:
    """Whether that kind of file system is somebody else's disk."""
    return _NETWORK.fullmatch(kind) is not None
