"""Whether a daemon answers where it should, as the doctor sees it."""

import os
import socket
from pathlib import Path

import pytest

from tests.daemon.cli.support import serving, waybread
from tests.daemon.secured import Authority
from waybread_daemon.cli.doctor.findings import Finding
from waybread_daemon.cli.doctor.reach import reach_findings
from waybread_daemon.config import Config
from waybread_daemon.store.sqlite.connection import prepare
from waybread_daemon.store.sqlite.place import hold_place


def levels(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.level, finding.check) for finding in findings]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def test_where_no_daemon_runs_the_port_is_free_or_taken_by_something_else(tmp_path: Path) -> None:
    path = tmp_path / "waybread.sqlite"
    port = free_port()
    (finding,) = reach_findings(path, Config(port=port))
    assert finding == ("ok", "address", f"no daemon runs; 127.0.0.1 port {port} is free for one", "", None)
    with socket.create_server(("127.0.0.1", port)):
        (finding,) = reach_findings(path, Config(port=port))
    assert finding.level == "fault"
    assert finding.sentence == f"no daemon runs, and port {port} of 127.0.0.1 is taken"
    assert finding.remedy.startswith("stop what listens there")
    (finding,) = reach_findings(path, Config(port=0))
    assert finding.level == "ok"


def test_a_process_that_has_the_store_and_answers_nothing_is_told(tmp_path: Path) -> None:
    path = tmp_path / "waybread.sqlite"
    prepare(path, None)
    lock = hold_place(path)
    (finding,) = reach_findings(path, Config())
    os.close(lock)
    assert finding.level == "warning"
    assert "answers no commands" in finding.sentence


def test_a_running_daemon_answers_at_the_address_that_it_says_whatever_flags_it_had(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        found = list(reach_findings(daemon.data / "waybread.sqlite", Config()))
        assert levels(found) == [("ok", "daemon"), ("ok", "address")]
        base = daemon.url.removeprefix("ws").removesuffix("/link")
        assert found[1].sentence == f"http{base} answers and is ready"
        assert daemon.stop() == 0


def test_a_daemon_that_encrypts_by_itself_answers_too(tmp_path: Path) -> None:
    pair = Authority().issue(tmp_path)
    flags = ("--tls-cert", str(pair.cert), "--tls-key", str(pair.key))
    with serving(tmp_path / "data", *flags) as daemon:
        found = list(
            reach_findings(daemon.data / "waybread.sqlite", Config(tls_cert=str(pair.cert), tls_key=str(pair.key)))
        )
        assert levels(found) == [("ok", "daemon"), ("ok", "address")]
        assert found[1].sentence.startswith("https://127.0.0.1:")
        assert daemon.stop() == 0


@pytest.fixture
def deaf() -> int:
    """A port where nothing answers."""
    return free_port()


def test_a_public_address_where_nothing_answers_is_a_fault(tmp_path: Path, deaf: int) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    public = f"http://127.0.0.1:{deaf}"
    (data / "waybread.toml").write_text(f'public_url = "{public}"\n')
    with serving(data) as daemon:
        port = int(daemon.url.rpartition(":")[2].partition("/")[0])
        found = list(reach_findings(data / "waybread.sqlite", Config(public_url=public, port=port)))
        assert levels(found) == [("ok", "daemon"), ("ok", "address"), ("fault", "address")]
        assert found[2].sentence.startswith(f"nothing answers at {public} (")
        assert daemon.stop() == 0


def test_another_program_and_an_untrusted_certificate_at_the_public_address_are_told(tmp_path: Path) -> None:
    pair = Authority().issue(tmp_path)
    flags = ("--tls-cert", str(pair.cert), "--tls-key", str(pair.key))
    with serving(tmp_path / "other", *flags) as other:
        public = f"https://localhost:{other.url.rpartition(':')[2].partition('/')[0]}"
        data = tmp_path / "data"
        data.mkdir(mode=0o700)
        (data / "waybread.toml").write_text(f'public_url = "{public}"\n')
        with serving(data) as daemon:
            found = list(reach_findings(data / "waybread.sqlite", Config(public_url=public, port=0)))
            assert levels(found) == [("ok", "daemon"), ("warning", "address")]
            assert "has a certificate that this machine does not trust" in found[1].sentence
            assert daemon.stop() == 0
        assert other.stop() == 0


@pytest.mark.parametrize(
    "days, level, told",
    [(400, "ok", "is good until "), (10, "warning", "is good for 9 more days"), (-2, "fault", "expired at ")],
)
def test_a_certificate_that_a_daemon_has_by_flags_is_looked_at(
    tmp_path: Path, days: int, level: str, told: str
) -> None:
    pair = Authority().issue(tmp_path, days=days)
    with serving(tmp_path / "data", "--tls-cert", str(pair.cert), "--tls-key", str(pair.key)) as daemon:
        ran = waybread("doctor", "--data", daemon.data, "--json")
    (finding,) = [one for one in ran.objects() if one["check"] == "certificate"]
    assert finding["level"] == level
    assert finding["sentence"].startswith(f"the daemon's certificate, from {pair.cert}, ")
    assert told in finding["sentence"]
    assert ran.status == (1 if level == "fault" else 0)
