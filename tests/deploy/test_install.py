"""`deploy/install` on a machine of its own: what it leaves there runs, as the unit says and behind the unit's walls."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from tests.deploy.machine import (
    FIRST,
    SERVICE,
    asked,
    booted,
    checkout,
    choose_port,
    install,
    log,
    system_python,
    token,
    told,
)
from tests.deploy.roots import Root, needs_root, plain_environment, tree
from tests.house.checkout import ROOT
from waybread_client import Change, Link
from waybread_protocol.limits import SUBPROTOCOL_JSON

pytestmark = [
    needs_root,
    pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd's own programs"),
    pytest.mark.skipif(not system_python(), reason="needs a Python 3.11 or newer that is not in somebody's home"),
]
WAYBREAD = "/usr/local/bin/waybread"
SETTINGS = "/var/lib/waybread/waybread.toml"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Root, int]]:
    """A machine where it is installed and runs."""
    with Root(tmp_path_factory.mktemp("machine") / "root") as root:
        booted(root)
        port = choose_port(root)
        said = install(root, "--no-start", sources=checkout(root, "")).stderr
        assert "systemctl enable --now waybread" in said
        assert asked(root) == ["daemon-reload"]
        install(root, sources=FIRST)
        yield root, port


def files(root: Root) -> dict[str, tuple[int, int]]:
    """What stands there apart from what the daemon and the stand-in write themselves."""
    return {name: about for name, about in tree(root.upper).items() if not name.startswith(("var/", "usr/bin/"))}


async def linked(port: int, secret: str) -> str:
    """Links a device and stores a result: its text."""
    async with Link(f"ws://127.0.0.1:{port}/link", secret) as link:
        session = await link.open("installed", "agent")
        await session.turn("turn")
        # A change, too: its diff is made by the library that calls C through cffi.
        changed = await session.change([Change("a.txt", "/a.txt", b"one\ntwo\n", b"one\nthree\n")])
        assert "-two" in changed.text
        return (await session.result("bash", {"command": "echo"}, "it runs")).text


def test_it_is_started_now_and_with_the_machine(machine: tuple[Root, int]) -> None:
    root, _ = machine
    assert "enable --quiet waybread.service" in asked(root)
    wanted = "/etc/systemd/system/multi-user.target.wants/waybread.service"
    assert root.run("readlink", "-f", wanted).stdout == "/etc/systemd/system/waybread.service\n"
    assert stat.S_IMODE((root.upper / "usr/local/bin/waybread").stat().st_mode) == 0o755


async def test_the_installed_service_takes_a_link_and_a_result(machine: tuple[Root, int]) -> None:
    root, port = machine
    assert (await linked(port, token(root, "phone"))).endswith("it runs")


async def test_a_phone_pairs_with_the_code_that_the_owner_is_shown(machine: tuple[Root, int]) -> None:
    root, port = machine
    words = root.inside(WAYBREAD, "pair", "phone", "--json")
    shown = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE, env=plain_environment())
    assert shown.stdout is not None
    code = json.loads(await shown.stdout.readline())["code"]
    url = f"ws://127.0.0.1:{port}/link"
    async with connect(url, proxy=None, subprotocols=[Subprotocol(SUBPROTOCOL_JSON)]) as socket:
        await socket.send(json.dumps({"type": "hello", "id": 1, "code": code, "name": "phone", "client": "test"}))
        paired = json.loads(await socket.recv())
    assert paired["type"] == "paired"
    assert json.loads(await shown.stdout.readline())["outcome"] == "paired"
    assert await shown.wait() == 0
    assert (await linked(port, paired["token"])).endswith("it runs")
    assert "phone" in root.run(WAYBREAD, "status").stdout


def test_the_local_network_is_told_of_it_from_behind_the_walls(machine: tuple[Root, int]) -> None:
    root, _ = machine
    settings = root.read(SETTINGS)
    root.write(SETTINGS, f'{settings}host = "0.0.0.0"\nallow_plaintext = true\ndiscovery = true\n')
    root.run("systemctl", "restart", SERVICE)
    events: set[str] = set()
    deadline = time.monotonic() + 20
    while not events & {"announced", "discovery_failed"} and time.monotonic() < deadline:
        time.sleep(0.1)
        events = set(re.findall(r'"event": "(\w+)"', log(root)))
    root.write(SETTINGS, settings)
    root.run("systemctl", "restart", SERVICE)
    if "this machine has no address that others reach" in log(root):
        pytest.skip("this machine has no network to tell")
    assert "announced" in events, log(root)


def test_the_daemon_runs_as_its_own_user_without_any_capability_behind_a_filter(machine: tuple[Root, int]) -> None:
    root, _ = machine
    pid = root.read(f"/run/stand-in/{SERVICE}.pid")
    status = dict(line.split(":\t", 1) for line in root.read(f"/proc/{pid}/status").splitlines() if ":\t" in line)
    uid = root.run("id", "-u", "waybread").stdout.strip()
    assert status["Uid"].split() == [uid] * 4
    assert uid != "0"
    assert {int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd")} == {0}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


def test_the_daemon_says_that_it_is_ready_and_feeds_the_watchdog(machine: tuple[Root, int]) -> None:
    root, _ = machine
    assert "READY=1" in told(root)


def test_the_data_folder_is_for_the_daemon_alone(machine: tuple[Root, int]) -> None:
    root, _ = machine
    assert root.run("stat", "-c", "%U:%G %a", "/var/lib/waybread").stdout == "waybread:waybread 700\n"
    owners = root.run("find", "/var/lib/waybread", "-name", "waybread.sqlite*", "-printf", "%u %m\n").stdout
    assert set(owners.splitlines()) == {"waybread 600"}


def test_the_command_of_a_user_who_owns_no_data_is_refused_with_what_to_type(machine: tuple[Root, int]) -> None:
    root, _ = machine
    refused = root.run("setpriv", "--reuid=nobody", "--clear-groups", WAYBREAD, "device", "list", check=False)
    assert refused.returncode == 1
    assert refused.stderr == (
        "waybread: the data of this machine belong to the user waybread: run `sudo waybread device list`\n"
    )


def test_a_user_who_owns_no_data_may_ask_for_help(machine: tuple[Root, int]) -> None:
    root, _ = machine
    assert "usage: waybread" in root.run("setpriv", "--reuid=nobody", "--clear-groups", WAYBREAD, "--help").stdout


async def test_installing_again_changes_no_file_and_cuts_no_link(machine: tuple[Root, int]) -> None:
    root, port = machine
    before, calls = files(root), len(asked(root))
    async with Link(f"ws://127.0.0.1:{port}/link", token(root, "steady")) as link:
        install(root, sources=FIRST)
        assert files(root) == before
        assert [call for call in asked(root)[calls:] if "restart" in call] == []
        await link.open("still-there", "agent")


def test_a_reload_reaches_the_daemon_and_ends_nothing(machine: tuple[Root, int]) -> None:
    root, _ = machine
    pid = root.read(f"/run/stand-in/{SERVICE}.pid")
    root.run("systemctl", "reload", SERVICE)
    root.run(WAYBREAD, "device", "list")
    assert root.read(f"/run/stand-in/{SERVICE}.pid") == pid


async def test_an_update_that_does_not_start_says_how_to_go_back_and_once_it_does_the_data_are_there(
    machine: tuple[Root, int],
) -> None:
    root, port = machine
    secret = token(root, "updated")
    await linked(port, secret)
    before = root.run("readlink", "/opt/waybread/current").stdout.strip()
    newer = checkout(root, "9.9.9")
    root.run("sh", "-c", f"echo 'hots = \"::1\"' >>{SETTINGS}")

    refused = install(root, sources=newer, check=False)
    assert refused.returncode == 1
    *_, why, back = refused.stderr.splitlines()
    assert why == "waybread: the service did not start. `journalctl -u waybread -n 30` says why."
    assert "unknown setting 'hots': is it host?" in log(root)
    root.run("sed", "-i", "/hots/d", SETTINGS)
    root.run("sh", "-c", back.removeprefix("To go back: "))
    assert root.run("readlink", "/opt/waybread/current").stdout.strip() == before
    assert (await linked(port, secret)).endswith("it runs")

    install(root, sources=newer)
    after = root.run("readlink", "/opt/waybread/current").stdout.strip()
    assert after.startswith("/opt/waybread/versions/9.9.9-")
    assert root.run("ls", "/opt/waybread/versions").stdout.split() == sorted([Path(before).name, Path(after).name])
    assert [line for line in told(root) if line.startswith("exit")][-3:] == ["exit 0", "exit 1", "exit 0"]
    assert (await linked(port, secret)).endswith("it runs")


def test_a_version_that_pip_cannot_install_leaves_what_runs(machine: tuple[Root, int]) -> None:
    root, _ = machine
    before = root.run("readlink", "/opt/waybread/current").stdout
    pid = root.read(f"/run/stand-in/{SERVICE}.pid")
    broken = checkout(root, "10.0.0")
    root.run("sed", "-i", 's/^requires = .*/requires = ["hatchling>=999"]/', f"{broken}/pyproject.toml")
    refused = install(root, sources=broken, check=False)
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1].startswith("waybread: pip could not install what Waybread needs;")
    assert root.run("readlink", "/opt/waybread/current").stdout == before
    assert root.read(f"/run/stand-in/{SERVICE}.pid") == pid


def test_the_timers_backup_works_behind_its_own_walls(machine: tuple[Root, int]) -> None:
    root, _ = machine
    root.run("systemctl", "start", "waybread-backup.service")
    made = root.run("find", "/var/backups/waybread", "-type", "f", "-printf", "%u %m %s\n").stdout.split()
    assert made[:2] == ["waybread", "600"]
    assert int(made[2]) > 0


def test_uninstalling_stops_the_service_and_leaves_the_data_and_says_where(machine: tuple[Root, int]) -> None:
    root, _ = machine
    found = ["stat", "-c", "%i %U", "/var/lib/waybread/waybread.sqlite"]
    store = root.run(*found).stdout
    said = install(root, "--uninstall").stderr
    assert "left in /var/lib/waybread, backups in /var/backups/waybread" in said
    assert "rm -r /var/lib/waybread /var/backups/waybread && userdel waybread" in said
    assert told(root)[-1] == "exit 0"
    assert root.run(*found).stdout == store
    assert [name for name in files(root) if "waybread" in name and not name.startswith("srv/")] == []
    assert root.run("id", "-un", "waybread").stdout == "waybread\n"


def test_whoever_is_not_root_is_told_to_be(tmp_path: Path) -> None:
    with Root(tmp_path / "root") as root:
        booted(root)
        script = f"{ROOT}/deploy/install"
        refused = root.run("setpriv", "--reuid=nobody", "--clear-groups", "sh", script, check=False)
        assert (refused.returncode, refused.stderr) == (
            1,
            "waybread: installing a service needs root: run `sudo sh deploy/install`.\n",
        )


def test_a_machine_without_systemd_is_told_what_to_do_in_its_place(tmp_path: Path) -> None:
    with Root(tmp_path / "root") as root:
        refused = install(root, check=False)
        assert refused.returncode == 1
        assert refused.stderr == (
            "waybread: this machine was not started by systemd, whose service this would be. "
            "Run the daemon with `sh deploy/run` or in a container: deploy/README.md shows both.\n"
        )
        assert tree(root.upper) == {}


def test_a_machine_whose_python_is_too_old_is_told_which_is_needed(tmp_path: Path) -> None:
    with Root(tmp_path / "root") as root:
        booted(root)
        root.run("sh", "-c", 'for p in /usr/bin/python3* /usr/local/bin/python3*; do mv "$p" "$p-away" || :; done')
        root.write("/usr/bin/python3", "#!/bin/sh\nexit 1\n", "755")
        refused = root.run("sh", f"{ROOT}/deploy/install", check=False)
        assert refused.returncode == 1
        assert refused.stderr == (
            "waybread: no Python 3.11 or newer was found. "
            "Install one, or name it in the variable WAYBREAD_PYTHON, and run this again.\n"
        )


def test_a_python_in_somebodys_home_is_refused(tmp_path: Path) -> None:
    with Root(tmp_path / "root") as root:
        booted(root)
        root.write("/home/python3", '#!/bin/sh\ncase "$*" in *base_prefix*) echo /home/me ;; esac\n', "755")
        refused = root.run("sh", f"{ROOT}/deploy/install", env={"WAYBREAD_PYTHON": "/home/python3"}, check=False)
        assert refused.returncode == 1
        assert refused.stderr == (
            "waybread: /home/python3 is in /home/me, which a service cannot use: "
            "install a Python for the whole system, or name one in the variable WAYBREAD_PYTHON.\n"
        )


def test_a_command_of_that_name_that_is_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    with Root(tmp_path / "root") as root:
        booted(root)
        root.write(WAYBREAD, "#!/bin/sh\necho mine\n", "755")
        refused = install(root, check=False)
        assert (refused.returncode, root.run(WAYBREAD).stdout) == (1, "mine\n")
        assert "is not what this script put there: move it away" in refused.stderr


def test_an_unknown_word_is_wrong_usage(tmp_path: Path) -> None:
    with Root(tmp_path / "root") as root:
        refused = install(root, "--upgrade", check=False)
        assert (refused.returncode, refused.stderr) == (
            2,
            "waybread: deploy/install knows no --upgrade: it takes --no-start, --uninstall or --help.\n",
        )
        assert "--uninstall   takes it away and leaves the data" in install(root, "--help").stdout
