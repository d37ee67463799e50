"""The README cannot miss a command or a setting, and what it shows is true."""

from __future__ import annotations

import re

from tests.house.checkout import ROOT
from waybread_daemon.__main__ import COMMANDS
from waybread_daemon.config import PREFIX, Config, span

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_command_stands_in_the_readme() -> None:
    assert [name for name in COMMANDS if not re.search(rf"(waybread|deploy/run) {name}\b", README)] == []


def test_every_action_on_devices_stands_in_the_readme() -> None:
    assert [
        word for word in ("add", "list", "rename", "revoke", "delete") if f"waybread device {word}" not in README
    ] == []


def test_the_table_of_settings_is_that_of_the_program_with_its_defaults() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(WAYBREAD_\w+)` \| (.+?) \|", README, re.MULTILINE)
    defaults = dict(zip(Config.__struct_fields__, Config.__struct_defaults__, strict=True))
    wanted = [
        (name, f"{PREFIX}{name.upper()}", "none" if default in ((), "") else f"`{str(default).lower()}`")
        for name, default in defaults.items()
    ]
    assert rows == wanted


def test_the_table_of_settings_tells_what_each_may_be_with_its_least_and_its_most() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `WAYBREAD_\w+` \| .+? \| (.+?) \|", README, re.MULTILINE)
    assert rows == [(name, span(name)) for name in Config.__struct_fields__]
    assert ("free_floor_percent", "0 to 90") in rows
    assert ("hello_timeout_s", "above 0, at most 600") in rows


def test_the_two_commands_are_the_scripts_that_are_there() -> None:
    assert "    sh deploy/run demo " in README
    assert "    sh tests/run " in README
    assert (ROOT / "deploy/run").is_file()
    assert (ROOT / "tests/run").is_file()


def test_links_in_the_readme_lead_to_files_that_are_there() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
