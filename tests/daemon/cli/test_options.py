from pathlib import Path

import pytest

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.options import data_folder, made_folder, parser_for, take_data, take_device, take_json


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


def test_a_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    made = made_folder(str(tmp_path / "a/b"), {})
    assert made.is_dir()
    assert made.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CommandFault) as caught:
        made_folder(str(tmp_path / "file/data"), {})
    assert str(caught.value) == (
        f"the data folder {tmp_path}/file/data cannot be made (Not a directory): name another one with --data"
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
