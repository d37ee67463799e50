"""The container file, linted and carried out, and what it builds, run as an engine runs it: read-only, user 10001."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.containerfile import Image, build, steps
from tests.deploy.machine import system_python
from tests.deploy.roots import needs_root
from tests.house.checkout import ROOT
from tests.running import ANNOUNCED
from waybread_client import Link
from waybread_daemon.config import Config

CONTAINERFILE = ROOT / "deploy/Containerfile"
UID = 10001
runs = [
    needs_root,
    pytest.mark.skipif(not system_python(), reason="needs a Python 3.11 or newer that is not in somebody's home"),
]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Generator[Image]:
    """The image, its root read-only from now on as `read_only: true` makes it."""
    with ExitStack() as roots:
        built = build(tmp_path_factory.mktemp("image"), roots)
        seal = ["mount", "-o", "remount,bind,ro", str(built.root.merged)]
        subprocess.run(built.root.entered(*seal), check=True)
        yield built


class Container:
    """A started one, with a volume of its own. `log` is what it wrote on standard error, once it has ended."""

    def __init__(self, image: Image, volume: Path, owner: int = UID) -> None:
        self.image = image
        self.log = ""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = int(listener.getsockname()[1])
        volume.mkdir()
        os.chown(volume, owner, owner)
        volume.chmod(0o755)
        (target,) = image.volumes
        mount = 'umount -l "$2" 2>/dev/null; mount --bind "$1" "$2"'
        words = image.root.entered("sh", "-c", mount, "mount", str(volume), f"{image.root.merged}{target}")
        subprocess.run(words, check=True)
        # Every address is the container's own there; here only this machine may get in, and its disk may be full.
        self.environment = {
            "WAYBREAD_PORT": str(self.port),
            "WAYBREAD_HOST": "127.0.0.1",
            "WAYBREAD_FREE_FLOOR_BYTES": "0",
        }

    def words(self, words: list[str]) -> list[str]:
        return self.image.started([*self.image.entrypoint, *words], self.environment)

    def execute(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        """As `docker exec` does."""
        started = self.image.started(words, self.environment)
        return subprocess.run(started, capture_output=True, text=True, timeout=30, check=False)

    @contextmanager
    def running(self) -> Generator[subprocess.Popen[str]]:
        """The container while it serves; stopped by the image's own signal."""
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(self.words(self.image.command), **pipes) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            line = process.stdout.readline()
            assert line.startswith(ANNOUNCED), process.stderr.read()
            try:
                yield process
            finally:
                # The engine signals the container's first process; here nsenter stands before it.
                self.execute(["/bin/kill", f"-{self.image.stop_signal}", self.pid()])
                self.log = process.communicate(timeout=40)[1]

    def pid(self) -> str:
        """The daemon, as the container's processes see it."""
        found = self.execute(["sh", "-c", 'grep -lz "^serve" /proc/[0-9]*/cmdline | cut -d/ -f3']).stdout.split()
        return found[0]


def test_the_container_file_is_clean_for_hadolint() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint is not installed: it comes with the extra `check`")
    done = subprocess.run([hadolint, "--no-color", CONTAINERFILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_built_from_files_that_are_there_and_lets_no_others_in() -> None:
    copied = [
        word
        for instruction, words in steps(CONTAINERFILE)
        if instruction == "COPY" and not words.startswith("--from")
        for word in words.split()[:-1]
    ]
    ignore = (ROOT / "deploy/Containerfile.dockerignore").read_text().splitlines()
    let_in = [line.removeprefix("!") for line in ignore if line.startswith("!")]
    assert sorted(copied) == sorted(let_in)
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_every_setting_in_the_image_is_one_of_the_daemons() -> None:
    known = {f"WAYBREAD_{name.upper()}" for name in Config.__struct_fields__} | {"WAYBREAD_DATA"}
    named = {word.split("=")[0] for instruction, words in steps(CONTAINERFILE) if instruction == "ENV"
             for word in words.split()}  # fmt: skip
    assert {name for name in named if name.startswith("WAYBREAD_")} - known == set()


class TestTheImage:
    """What the steps of the file made."""

    pytestmark = runs

    async def test_it_serves_from_a_read_only_root_as_its_own_user(self, image: Image, tmp_path: Path) -> None:
        container = Container(image, tmp_path / "volume")
        with container.running():
            made = container.execute(["waybread", "device", "add", "phone", "--json"])
            token = json.loads(made.stdout)["token"]
            async with Link(f"ws://127.0.0.1:{container.port}/link", token) as link:
                session = await link.open("contained", "agent")
                await session.turn("turn")
                assert (await session.result("bash", {}, "it runs")).text.endswith("it runs")
            status = self._status(container)
            assert f"Uid:\t{UID}\t{UID}\t{UID}\t{UID}\n" in status
            assert "CapBnd:\t0000000000000000\n" in status
        assert {path.stat().st_uid for path in (tmp_path / "volume").iterdir()} == {UID}

    @staticmethod
    def _status(container: Container) -> str:
        """What this machine's kernel says of the daemon, whose container another may run beside."""
        (found,) = [
            path.with_name("status").read_text()
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if b"waybread\0serve\0" in path.read_bytes()
            and f"WAYBREAD_PORT={container.port}\0".encode() in (path.parent / "environ").read_bytes()
        ]
        return found

    def test_its_health_check_says_healthy_while_it_serves_and_not_after(self, image: Image, tmp_path: Path) -> None:
        container = Container(image, tmp_path / "volume")
        with container.running():
            healthy = container.execute(image.healthcheck)
            assert healthy.returncode == 0, healthy.stderr
        assert container.execute(image.healthcheck).returncode == 1

    def test_its_stop_signal_ends_it_without_a_fault(self, image: Image, tmp_path: Path) -> None:
        container = Container(image, tmp_path / "volume")
        with container.running() as process:
            pass
        assert image.stop_signal == signal.SIGTERM.name
        assert process.returncode == 0
        assert [json.loads(line)["event"] for line in container.log.splitlines()][-1] == "stopped"
        assert "Traceback" not in container.log

    def test_a_volume_that_it_cannot_write_gets_the_chown_that_helps(self, image: Image, tmp_path: Path) -> None:
        container = Container(image, tmp_path / "volume", owner=0)
        refused = subprocess.run(
            container.words(image.command), capture_output=True, text=True, timeout=30, check=False
        )
        assert refused.returncode == 1
        assert f"run `chown -R {UID}:{UID} FOLDER` as root on the host" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
        assert list((tmp_path / "volume").iterdir()) == []

    def test_it_holds_no_build_tools_and_no_sources(self, image: Image) -> None:
        assert (image.root.upper / "opt/waybread/bin/waybread").exists()
        assert not list((image.root.upper / "opt/waybread").glob("lib/*/site-packages/pip"))
        assert not (image.root.upper / "src").exists()


class TestCompose:
    """`deploy/compose.yaml`."""

    composed: dict[str, Any] = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
    service: dict[str, Any] = composed["services"]["waybread"]

    def test_it_names_only_what_compose_knows(self) -> None:
        assert self.composed.keys() == {"name", "services", "volumes"}
        assert self.service.keys() == {
            "image", "build", "restart", "ports", "volumes", "read_only", "tmpfs", "user", "cap_drop", "security_opt",
            "pids_limit", "stop_grace_period", "environment",
        }  # fmt: skip
        assert (ROOT / "deploy" / self.service["build"]["context"]).resolve() == ROOT
        assert ROOT / self.service["build"]["dockerfile"] == CONTAINERFILE

    def test_the_container_may_write_its_volume_alone_and_has_no_privilege(self) -> None:
        assert self.service["read_only"] is True
        assert self.service["cap_drop"] == ["ALL"]
        assert self.service["security_opt"] == ["no-new-privileges:true"]
        assert self.service["user"] == f"{UID}:{UID}"
        assert self.service["volumes"] == ["data:/data"]
        assert "data" in self.composed["volumes"]

    def test_only_this_machine_reaches_it(self) -> None:
        assert self.service["ports"] == ["127.0.0.1:8787:8787"]

    def test_a_stop_leaves_more_time_than_the_drain_takes(self) -> None:
        assert self.service["stop_grace_period"] == "35s"

    def test_every_setting_in_it_is_one_of_the_daemons(self) -> None:
        known = {f"WAYBREAD_{name.upper()}" for name in Config.__struct_fields__}
        assert set(self.service["environment"]) - known == set()
