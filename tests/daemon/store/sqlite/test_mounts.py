"""Which file system holds a path, out of Linux's table of mounts."""

from pathlib import Path

import pytest

from waybread_daemon.store.sqlite.mounts import MOUNTS, file_system, is_network

TABLE = """\
22 27 0:21 / /proc rw - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:40 / /srv rw,relatime shared:3 - nfs4 nas:/srv rw
31 30 8:1 / /srv/local rw - xfs /dev/sda1 rw
32 27 0:41 / /mnt/with\\040space rw - cifs //nas/share rw
33 27 8:2 / /over rw - ext4 /dev/sdb rw
34 27 0:42 / /over rw - fuse.sshfs me@host: rw
half a line
"""


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/home/me/data", "ext4"),
        ("/srv", "nfs4"),
        ("/srv/waybread/deep", "nfs4"),
        ("/srv/local/waybread", "xfs"),
        ("/srvother", "ext4"),
        ("/mnt/with space/data", "cifs"),
        ("/over/data", "fuse.sshfs"),
    ],
)
def test_the_longest_mount_holds_a_path_and_the_last_of_two_at_one_place(tmp_path: Path, path: str, kind: str) -> None:
    (tmp_path / "mounts").write_text(TABLE)
    assert file_system(Path(path), tmp_path / "mounts") == kind


def test_a_link_is_where_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "mounts").write_text(f"1 1 0:1 / / rw - ext4 a rw\n2 1 0:2 / {tmp_path}/real rw - nfs b rw\n")
    assert file_system(tmp_path / "link" / "data", tmp_path / "mounts") == "nfs"


def test_where_there_is_no_table_nothing_is_known(tmp_path: Path) -> None:
    assert file_system(tmp_path, tmp_path / "mounts") == ""


@pytest.mark.skipif(not MOUNTS.exists(), reason="this system has no table of mounts")
def test_this_machines_own_table_can_be_read(tmp_path: Path) -> None:
    assert file_system(tmp_path) != ""


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "fuse.rclone", "fuse.glusterfs", "9p", "ceph", "vboxsf"]
)
def test_somebody_elses_disk_is_known(kind: str) -> None:
    assert is_network(kind)


@pytest.mark.parametrize(
    "kind", ["", "ext4", "btrfs", "zfs", "overlay", "tmpfs", "fuseblk", "fuse.mergerfs", "virtiofs"]
)
def test_a_disk_of_this_machine_is_none(kind: str) -> None:
    assert not is_network(kind)
