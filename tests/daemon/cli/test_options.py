import argparse
from pathlib import Path

import pytest

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.options import (
    add_action,
    data_folder,
    filled,
    made_folder,
    parser_for,
    path_of,
    stored_text,
    take_data,
    take_device,
    take_json,
    take_role,
    take_session,
    whole_number,
)
from waybread_daemon.store.contract import StoreRefusal


def test_the_data_folder_is_the_flags_else_the_variables_else_the_platforms(tmp_path: Path) -> None:
    environment = {"WAYBREAD_DATA": "/from/environment"}
    assert data_folder("/from/flag", environment) == Path("/from/flag")
    assert data_folder(None, environment) == Path("/from/environment")
    assert data_folder(None, {}).name == "waybread"
    assert data_folder(None, {}).is_absolute()


def test_an_empty_variable_names_no_folder() -> None:
    assert data_folder(None, {"WAYBREAD_DATA": ""}) == data_folder(None, {})


def test_a_relative_folder_is_one_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert data_folder("store", {}) == tmp_path / "store"


@pytest.mark.parametrize("environment", [{"WAYBREAD_DATA": "/d\udcff"}, {}])
def test_a_folder_whose_name_is_not_utf_8_is_refused(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/d\udcff")
    with pytest.raises(
        CommandFault, match=r"^the data folder '/d\\udcff[^ ]*' has a name that is not UTF-8: rename it"
    ):
        data_folder(None, environment)


def test_a_path_begins_at_home_where_there_is_such_a_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir(tmp_path)
    assert path_of("~/a") == Path("/home/me/a")
    assert path_of("./~b") == tmp_path / "~b"
    with pytest.raises(
        CommandFault, match=r"^~nosuchuser/a names the home of a user who is not there: write the whole"
    ):
        path_of("~nosuchuser/a")


def test_a_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    made = made_folder(str(tmp_path / "a/b"), {})
    assert made.is_dir()
    assert made.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreRefusal) as caught:
        made_folder(str(tmp_path / "file/data"), {})
    assert str(caught.value) == (
        f"{tmp_path}/file/data cannot be a folder, because a file is in its way: move it, or name another file."
    )


def test_help_ends_with_the_examples() -> None:
    parser = parser_for("look", "Looks.", "waybread look a", "waybread look b")
    assert parser.format_help().endswith("\nexamples:\n  waybread look a\n  waybread look b\n")
    assert parser_for("look", "Looks.", "waybread look a").format_help().endswith("\nexample:\n  waybread look a\n")


def test_flags_are_not_guessed_from_their_beginnings(capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_for("look", "Looks.", "waybread look")
    take_data(parser)
    take_device(parser)
    take_json(parser)
    options = parser.parse_args(["--data", "d", "--device", "i", "--json"])
    assert (options.data, options.device, options.json) == ("d", "i", True)
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["--dev", "i"])
    assert ended.value.code == 2
    assert "unrecognized arguments: --dev i" in capsys.readouterr().err


def test_a_role_is_one_of_the_links_and_a_device_unless_it_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_for("look", "Looks.", "waybread look")
    take_role(parser)
    assert [parser.parse_args(words).role for words in ([], ["--role", "agent"])] == ["device", "agent"]
    with pytest.raises(SystemExit):
        parser.parse_args(["--role", "owner"])
    assert "invalid choice: 'owner' (choose from" in capsys.readouterr().err


def test_a_whole_number_is_one_of_its_range() -> None:
    port = whole_number(0, 65535)
    assert [port("0"), port("65535"), whole_number(1)("9999999")] == [0, 65535, 9999999]


@pytest.mark.parametrize("text", ["-1", "65536", "", "x", "1.0", "1_0", " 1", "+1", "\u0661", "9" * 5000])
def test_what_is_out_of_the_range_or_no_number_is_refused_with_the_range(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"is no whole number from 0 to 65535$") as caught:
        whole_number(0, 65535)(text)
    assert len(str(caught.value)) < 80


def test_a_range_without_an_end_is_told_so() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="'0' is no whole number from 1 up"):
        whole_number(1)("0")


def test_an_empty_value_is_refused() -> None:
    assert filled("x") == "x"
    with pytest.raises(argparse.ArgumentTypeError, match="it is empty"):
        filled("")


def test_a_sessions_id_is_text_that_can_be_in_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_for("look", "Looks.", "waybread look s")
    take_session(parser)
    assert parser.parse_args(["s"]).session == "s"
    with pytest.raises(SystemExit):
        parser.parse_args(["\udcff"])
    assert "SESSION: '\\udcff' is not UTF-8" in capsys.readouterr().err


def test_text_that_cannot_be_in_the_store_is_refused() -> None:
    assert stored_text("é") == "é"
    with pytest.raises(argparse.ArgumentTypeError, match=r"'\\udcff' is not UTF-8"):
        stored_text("\udcff")


def test_an_action_has_help_of_its_own_and_a_line_in_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_for("look", "Looks.", "waybread look a")
    actions = parser.add_subparsers(dest="action")
    add_action(actions, "look", "twice", "Looks twice. And then once more.", "waybread look twice b")
    assert "twice     Looks twice\n" in parser.format_help()
    with pytest.raises(SystemExit):
        parser.parse_args(["twice", "--help"])
    shown = capsys.readouterr().out
    assert "\nLooks twice. And then once more.\n" in shown
    assert shown.endswith("\nexample:\n  waybread look twice b\n")
