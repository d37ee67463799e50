"""What `deploy/README.md` tells to type and to write is there: commands, their flags, settings, files, units."""

from __future__ import annotations

import functools
import io
import re
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import trustme

from tests.deploy.units import Unit
from tests.house.checkout import ROOT
from waybread_daemon.__main__ import COMMANDS, main
from waybread_daemon.config import load_config

README = (ROOT / "deploy/README.md").read_text(encoding="utf-8")
BLOCKS = [[line[4:] for line in block.splitlines()] for block in re.findall(r"(?:^    .+\n)+", README, re.MULTILINE)]
LINES = [line for block in BLOCKS for line in block]
# `waybread` as a program: at a line's beginning, behind sudo, behind `exec waybread` or `run --rm waybread`.
CALLS = [
    call.split()
    for line in LINES
    for call in re.findall(r"(?:^(?:sudo )?waybread|exec waybread waybread|run --rm waybread) (.+)", line)
]
SETTINGS = ["\n".join(block) for block in BLOCKS if re.match(r"[a-z_]+ = ", block[0])]


@functools.cache
def help_of(command: str) -> str:
    told = io.StringIO()
    with redirect_stdout(told):
        assert main([command, "--help"]) == 0
    return told.getvalue()


def test_the_readme_names_commands_and_settings() -> None:
    assert {"status", "pair", "backup", "restore", "doctor"} <= {call[0] for call in CALLS}
    assert len(SETTINGS) == 5


def test_every_command_in_it_is_there() -> None:
    assert [call for call in CALLS if call[0] not in COMMANDS] == []


def test_every_flag_of_a_command_in_it_is_there() -> None:
    flags = [(call[0], word) for call in CALLS for word in call if word.startswith("--")]
    assert ("backup", "--keep") in flags
    assert [(command, flag) for command, flag in flags if not re.search(rf"{flag}\b", help_of(command))] == []
    assert "--moved" in help_of("restore")


@pytest.mark.parametrize("text", SETTINGS, ids=range(len(SETTINGS)))
def test_every_settings_block_in_it_is_taken_by_the_daemon(text: str, tmp_path: Path) -> None:
    issued = trustme.CA().issue_cert("waybread.example.org")
    issued.private_key_pem.write_to_path(tmp_path / "privkey.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "fullchain.pem")
    values = tomllib.loads(text.replace("/etc/waybread", str(tmp_path)))
    # As flags: these are the same settings, checked in the same way, and no file of this machine has a part in it.
    config = load_config(ROOT / "nowhere", {}, values)
    assert config.public_url == values.get("public_url", "")


def test_every_variable_in_it_is_a_setting() -> None:
    variables = dict(line.split("=", 1) for line in LINES if line.startswith("WAYBREAD_"))
    assert variables
    assert load_config(ROOT / "nowhere", variables, {}).public_url == "https://waybread.example.org"


def test_every_file_of_the_checkout_in_it_is_there() -> None:
    named = set(re.findall(r"\bdeploy/[\w./-]*\w", README)) - {"deploy/.env"}
    linked = {f"deploy/{target}" for target in re.findall(r"\]\(([^)#]+)[^)]*\)", README)}
    assert {"deploy/install", "deploy/compose.yaml", "deploy/caddy/Caddyfile"} <= named | linked
    assert [name for name in named | linked if not (ROOT / name).exists()] == []


def test_every_section_that_it_points_to_is_there() -> None:
    titles = re.findall(r"^#+ (.+)$", README, re.MULTILINE)
    known = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    assert set(re.findall(r"\(#([\w-]+)\)", README)) - known == set()


def test_the_places_in_it_are_those_of_the_unit_and_the_script() -> None:
    script = (ROOT / "deploy/install").read_text(encoding="utf-8")
    unit = Unit(ROOT / "deploy/systemd/waybread.service")
    for place in ("/opt/waybread", "/etc/systemd/system", "/var/lib/waybread", "/var/backups/waybread"):
        assert f"`{place}`" in README
        assert f"={place}\n" in script
    assert unit.environment()["WAYBREAD_DATA"] == "/var/lib/waybread"


def test_each_proxys_section_names_the_settings_that_its_example_does() -> None:
    for section in ("Behind Caddy", "Behind nginx"):
        text = README.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
        assert '\n    public_url = "https://waybread.example.org"\n    trusted_proxies = ["127.0.0.1", "::1"]\n' in text


def test_every_unit_that_it_switches_on_is_installed() -> None:
    units = set(re.findall(r"systemctl (?:enable --now|reload|restart|stop|start|edit) ([\w.-]+)", README))
    ours = {unit if "." in unit else f"{unit}.service" for unit in units if unit.startswith("waybread")}
    assert ours == {"waybread.service", "waybread-backup.timer"}
    assert [unit for unit in ours if not (ROOT / "deploy/systemd" / unit).is_file()] == []
