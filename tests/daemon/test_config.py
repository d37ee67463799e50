import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.daemon.secured import Authority
from waybread_daemon.config import FILE_NAME, Config, ConfigError, is_loopback, load_config, span
from waybread_protocol.limits import MAX_FRAME_BYTES, MAX_MESSAGE_BYTES


def faults(folder: Path, environment: dict[str, str] | None = None, **flags: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_config(folder, environment or {}, flags)
    assert str(caught.value) == "\n".join(caught.value.faults)
    return caught.value.faults


def test_without_any_settings_the_defaults_are_in_force(tmp_path: Path) -> None:
    config = load_config(tmp_path, {}, {})
    assert config == Config()
    assert (config.host, config.port, config.log_level) == ("127.0.0.1", 8787, "info")
    assert (config.max_frame, config.max_message) == (MAX_FRAME_BYTES, MAX_MESSAGE_BYTES)


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('port = 1001\npage_bytes = 2048\nlog_level = "error"\n')
    environment = {"WAYBREAD_PORT": "1002", "WAYBREAD_LOG_LEVEL": "debug", "HOME": "/root"}
    config = load_config(tmp_path, environment, {"port": 1003})
    assert (config.port, config.log_level, config.page_bytes) == (1003, "debug", 2048)


def test_lists_stand_between_commas_in_the_environment(tmp_path: Path) -> None:
    config = load_config(tmp_path, {"WAYBREAD_ALLOWED_HOSTS": "a.home, b.home,"}, {})
    assert config.allowed_hosts == ("a.home", "b.home")


def test_a_switch_is_read_from_the_environment(tmp_path: Path) -> None:
    environment = {"WAYBREAD_ALLOW_PLAINTEXT": "true", "WAYBREAD_HOST": "0.0.0.0"}
    assert load_config(tmp_path, environment, {}).host == "0.0.0.0"


def test_an_unknown_key_of_the_file_names_the_nearest_known_one(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("prot = 1\n")
    assert faults(tmp_path) == [f"{tmp_path / FILE_NAME} has an unknown setting 'prot': is it port?"]


def test_an_unknown_variable_names_the_nearest_known_one(tmp_path: Path) -> None:
    assert faults(tmp_path, {"WAYBREAD_MAX_FRAMES": "1"}) == [
        "the environment has an unknown setting WAYBREAD_MAX_FRAMES: is it WAYBREAD_MAX_FRAME?"
    ]


def test_of_a_key_that_is_near_to_none_it_is_told_where_all_are_listed(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("zzz = 1\n")
    assert faults(tmp_path) == [
        f"{tmp_path / FILE_NAME} has an unknown setting 'zzz': `waybread serve --help` lists them all"
    ]


def test_a_section_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("[section]\nport = 1\n[port]\n")
    assert faults(tmp_path) == [
        f"{tmp_path / FILE_NAME} has a section [section]: settings stand in none, so take that line away",
        (
            f"port is {{}} in {tmp_path / FILE_NAME}: settings stand in no section, so take its [line] away and give "
            "0 to 65,535"
        ),
    ]


def test_variables_that_are_read_elsewhere_are_no_settings(tmp_path: Path) -> None:
    assert load_config(tmp_path, {"WAYBREAD_DATA": "/x", "WAYBREAD_PYTHON": "python3"}, {}) == Config()


def test_all_faults_of_all_sources_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('prot = 1\npage_bytes = "big"\n')
    found = faults(tmp_path, {"WAYBREAD_PORT": "many"}, host="0.0.0.0", hello_timeout_s=0)
    assert found[:4] == [
        f"{tmp_path / FILE_NAME} has an unknown setting 'prot': is it port?",
        f"page_bytes is 'big' in {tmp_path / FILE_NAME}: give a whole number from 1,024 to 16,777,216",
        "port is 'many' in the environment: give a whole number from 0 to 65,535",
        "hello_timeout_s is 0 in the flags: give a number above 0, at most 600",
    ]
    assert found[4].startswith("host is 0.0.0.0 and reaches beyond this machine")
    assert len(found) == 5


def test_a_message_must_hold_at_least_a_frame(tmp_path: Path) -> None:
    assert faults(tmp_path, max_frame=8192, max_message=4096) == [
        "max_message is 4096 and less than max_frame, 8192: raise it"
    ]


def test_links_and_metrics_need_a_port_each_where_metrics_are_served(tmp_path: Path) -> None:
    assert faults(tmp_path, metrics=True, port=8788) == [
        "metrics_port is 8788, and port too: set one of them to another port"
    ]
    assert load_config(tmp_path, {}, {"metrics": False, "port": 8788}).port == 8788
    assert load_config(tmp_path, {}, {"metrics": True, "port": 0, "metrics_port": 0}).metrics_port == 0


def test_a_file_that_is_no_toml_is_named_with_the_line(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("port = 1\nhost =\n")
    (sentence,) = faults(tmp_path)
    assert sentence.startswith(f"{tmp_path / FILE_NAME} is no TOML (")
    assert "line 2" in sentence


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, a_device])
def test_what_is_no_regular_file_is_named_and_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / FILE_NAME)
    assert faults(tmp_path) == [
        f"{tmp_path / FILE_NAME} is no regular file: move it away, and write the settings into a file of that name"
    ]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).symlink_to(FILE_NAME)
    (sentence,) = faults(tmp_path)
    assert sentence.startswith(f"{tmp_path / FILE_NAME} cannot be read (")


@pytest.mark.parametrize("text", [f"port = {'1' * 5000}", f"port = {'[' * 100_000}"])
def test_a_file_beyond_what_can_be_taken_in_is_told_like_one_that_is_no_toml(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    (sentence,) = faults(tmp_path)
    assert sentence.startswith(f"{tmp_path / FILE_NAME} is no TOML (")


WRONG = ["1", "-1", "0.5", "nan", "true", "[1]", '""', '"x"', '["a", 1]', "{}", "2026-01-01", f"0x{'f' * 5000}"]


@pytest.mark.parametrize("name", Config.__struct_fields__)
def test_a_misfit_of_any_setting_is_a_sentence_of_our_own_with_what_to_do(tmp_path: Path, name: str) -> None:
    told = 0
    for text in WRONG:
        (tmp_path / FILE_NAME).write_text(f"{name} = {text}\n")
        try:
            load_config(tmp_path, {}, {})
        except ConfigError as refused:
            told += 1
            for sentence in refused.faults:
                assert re.match(rf"{name}|allow_plaintext|host", sentence), sentence
                assert ": " in sentence
                assert not re.search(r"Expected|\$|`(int|str|float|array|object|bool)`|Traceback", sentence), sentence
                assert len(sentence) < 600
    assert told >= 7


@pytest.mark.parametrize("name", ["port", "page_bytes", "hello_timeout_s", "free_floor_percent", "keep_sessions_days"])
def test_the_least_and_the_most_of_a_number_are_told(tmp_path: Path, name: str) -> None:
    (sentence,) = faults(tmp_path, {f"WAYBREAD_{name.upper()}": "-1"})
    assert sentence.endswith(span(name))


@pytest.mark.parametrize("text", ["a\x00b", "a\nb", "a\udcff"])
def test_what_no_path_and_no_address_can_hold_is_told(tmp_path: Path, text: str) -> None:
    for name in ("host", "public_url", "tls_cert", "allowed_hosts"):
        sentence = faults(tmp_path, {f"WAYBREAD_{name.upper()}": text})[0]
        assert sentence.endswith(": it has a control character, or is no UTF-8: write it anew without that")
        sentence.encode()


def test_a_password_in_a_wrong_place_is_not_said_again(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('public_url = ["https://me:hunter2@home.example"]\n')
    (sentence,) = faults(tmp_path)
    assert "hunter2" not in sentence


@pytest.mark.parametrize("host", ["127.0.0.1:99", "[::1]", "1.2.3", "http://x", "a b", "*"])
def test_a_host_that_is_no_address_and_no_name_is_told_as_that(tmp_path: Path, host: str) -> None:
    (sentence,) = faults(tmp_path, host=host)
    assert sentence.startswith(f"host is {host!r}, which is no address and no name: give one alone, like 127.0.0.1")


def test_of_a_host_that_is_a_name_it_is_only_said_where_it_may_lead(tmp_path: Path) -> None:
    (sentence,) = faults(tmp_path, host="nohost.invalid")
    assert sentence.startswith("host is nohost.invalid and is a name that may lead beyond this machine, where tokens")
    assert load_config(tmp_path, {}, {"host": "fe80::1%eth0", "allow_plaintext": True}).host == "fe80::1%eth0"


def test_a_certificate_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.pem")
    assert faults(tmp_path, tls_cert=str(tmp_path / "a.pem"), tls_key=str(tmp_path / "a.pem")) == [
        f"tls_cert {tmp_path / 'a.pem'} is no regular file: name the PEM file itself"
    ]


def test_a_certificate_of_a_user_who_is_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('tls_cert = "~nosuchuser/a.pem"\ntls_key = "b.pem"\n')
    (sentence,) = faults(tmp_path)
    assert sentence.endswith("/~nosuchuser/a.pem is not there: name a file that is")


def test_a_host_beyond_this_machine_needs_the_word_for_it(tmp_path: Path) -> None:
    (sentence,) = faults(tmp_path, host="192.168.1.5")
    assert "reverse proxy" in sentence
    assert "Tailscale" in sentence
    assert "--tls-cert and --tls-key" in sentence
    assert "--allow-plaintext" in sentence
    assert load_config(tmp_path, {}, {"host": "192.168.1.5", "allow_plaintext": True}).host == "192.168.1.5"


@pytest.mark.parametrize(
    "host,loopback",
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("Localhost", True), ("::", False), ("home.lan", False)],
)
def test_what_only_this_machine_reaches(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    "variable, text, reason",
    [
        (
            "WAYBREAD_PAGE_BYTES",
            "1000",
            "page_bytes is 1000 in the environment: give a whole number from 1,024 to 16,777,216",
        ),
        ("WAYBREAD_PORT", "70000", "port is 70000 in the environment: give a whole number from 0 to 65,535"),
        ("WAYBREAD_PORT", "http", "port is 'http' in the environment: give a whole number from 0 to 65,535"),
        (
            "WAYBREAD_HELLO_TIMEOUT_S",
            "0",
            "hello_timeout_s is 0.0 in the environment: give a number above 0, at most 600",
        ),
        (
            "WAYBREAD_LOG_LEVEL",
            "DEBUG",
            "log_level is 'DEBUG' in the environment: choose debug, info, warning or error",
        ),
    ],
)
def test_a_variable_that_is_out_of_its_range_is_told_with_the_range(
    tmp_path: Path, variable: str, text: str, reason: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(tmp_path, {variable: text}, {})
    assert refused.value.faults == [reason]


def test_with_a_certificate_a_host_beyond_this_machine_needs_no_word_for_it(tmp_path: Path) -> None:
    pair = Authority().issue(tmp_path)
    config = load_config(tmp_path, {}, {"host": "0.0.0.0", **pair.settings()})
    assert (config.host, config.tls_cert, config.allow_plaintext) == ("0.0.0.0", str(pair.cert), False)


def test_a_certificate_and_its_key_go_together(tmp_path: Path) -> None:
    assert faults(tmp_path, tls_cert="a.pem") == [
        "tls_cert is set and tls_key is not: a certificate and its key go together, so set both or none"
    ]
    assert faults(tmp_path, tls_key="a.pem") == [
        "tls_key is set and tls_cert is not: a certificate and its key go together, so set both or none"
    ]


def test_files_that_hold_no_certificate_are_told_with_all_other_faults(tmp_path: Path) -> None:
    found = faults(tmp_path, tls_cert=str(tmp_path / "a.pem"), tls_key=str(tmp_path / "b.pem"), page_bytes=1)
    assert [sentence.split(" ", 1)[0] for sentence in found] == ["page_bytes", "tls_cert"]
    assert found[1] == f"tls_cert {tmp_path / 'a.pem'} is not there: name a file that is"


def test_a_settings_file_names_certificates_in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Authority().issue(tmp_path)
    (tmp_path / FILE_NAME).write_text(f'tls_cert = "{pair.cert.name}"\ntls_key = "{pair.key}"\n')
    monkeypatch.chdir("/")
    config = load_config(tmp_path, {}, {})
    assert (config.tls_cert, config.tls_key) == (str(pair.cert), str(pair.key))


def test_addresses_names_and_urls_of_a_wrong_form_are_told_all_at_once(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(
        'public_url = "https://me:word@home.example/link"\n'
        'allowed_hosts = ["home.example", "https://home.example"]\n'
        'allowed_origins = ["home.example"]\n'
        'trusted_proxies = ["127.0.0.1", "caddy"]\n'
    )
    found = faults(tmp_path)
    assert [sentence.partition(" ")[0] for sentence in found] == [
        *("public_url", "allowed_hosts", "allowed_origins", "trusted_proxies")
    ]
    assert "word" not in found[0].partition(" and not ")[0]
