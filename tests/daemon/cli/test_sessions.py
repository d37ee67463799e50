import asyncio
from pathlib import Path

import pytest

from tests.daemon.cli.conftest import Filled
from tests.daemon.cli.support import serving, waybread
from waybread_client import Link


def test_sessions_of_all_devices_are_listed_the_last_changed_first(filled: Filled) -> None:
    ran = waybread("sessions", "--data", filled.data)
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].split() == ["CHANGED", "DEVICE", "SESSION", "KIND", "RESULTS", "TITLE"]
    cells = [line.split()[2:] for line in lines[1:]]
    assert cells == [
        ["phone", filled.phone, "work", "agent", "8", r"a\ttitle"],
        ["phone", filled.phone, "same", "agent", "0"],
        ["laptop", filled.laptop, "same", "chat", "0"],
    ]


def test_json_is_one_session_a_line_exactly_as_stored(filled: Filled) -> None:
    sessions = waybread("sessions", "--data", filled.data, "--json").objects()
    assert [(one["device"], one["session"]) for one in sessions] == [
        (filled.phone, "work"),
        (filled.phone, "same"),
        (filled.laptop, "same"),
    ]
    work = sessions[0]
    assert (work["title"], work["directory"], work["kind"]) == ("a\ttitle", "/home/me", "agent")
    assert (work["results"], work["turn"], work["read_only"], work["device_name"]) == (8, "t1", False, "phone")
    assert work["changed_ms"] >= work["opened_ms"] > 0


def test_one_devices_sessions_can_be_asked_for(filled: Filled) -> None:
    ran = waybread("sessions", "--data", filled.data, "--device", filled.laptop, "--json")
    assert [one["device"] for one in ran.objects()] == [filled.laptop]


def test_the_variable_names_the_data_folder_too(filled: Filled) -> None:
    assert len(waybread("sessions", "--json", WAYBREAD_DATA=str(filled.data)).objects()) == 3


def test_a_folder_without_a_store_is_refused_with_a_sentence(tmp_path: Path) -> None:
    ran = waybread("sessions", "--data", tmp_path)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"waybread: There is no store at {tmp_path}/waybread.sqlite: start the daemon first")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_says_so(tmp_path: Path) -> None:
    waybread("device", "add", "phone", "--data", tmp_path)
    assert waybread("sessions", "--data", tmp_path) == (0, "There are no sessions yet.\n", "")
    assert waybread("sessions", "--data", tmp_path, "--json") == (0, "", "")


TITLE = "fix \u202etxt.exe\u202c\u2066\u200b ⚠\ufe0f"


@pytest.fixture(scope="module")
def turning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a session whose title and id turn the order of what is seen."""
    data = tmp_path_factory.mktemp("turning") / "data"

    async def fill(url: str, token: str) -> None:
        async with Link(url, token) as link:
            await link.open("a\u200fb", "agent", title=TITLE)

    with serving(data) as daemon:
        asyncio.run(fill(daemon.url, daemon.device("phone")["token"]))
    return data


@pytest.mark.parametrize("command", ["sessions", "status"])
def test_nothing_in_a_title_or_an_id_hides_or_turns_the_order(turning: Path, command: str) -> None:
    out = waybread(command, "--data", turning).out
    assert r"a\u200fb" in out
    assert "fix \\u202etxt.exe\\u202c\\u2066\\u200b ⚠\ufe0f\n" in out
    assert not {"\u200f", "\u202e", "\u202c", "\u2066", "\u200b"} & set(out)


def test_json_has_such_a_title_exactly(turning: Path) -> None:
    ran = waybread("sessions", "--data", turning, "--json")
    assert [(one["session"], one["title"]) for one in ran.objects()] == [("a\u200fb", TITLE)]
    assert TITLE in ran.out
