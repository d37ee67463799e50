"""Settings, disk and certificate as the doctor sees them."""

from pathlib import Path

import pytest

from tests.daemon.secured import Authority, Pair
from tests.daemon.store.filled import set_disk
from waybread_daemon.cli.doctor.findings import Finding
from waybread_daemon.cli.doctor.surroundings import certificate_findings, disk_finding, read_settings
from waybread_daemon.clock import now_ms
from waybread_daemon.config import Config

GIB = 1024**3


def encrypted(pair: Pair) -> Config:
    return Config(tls_cert=str(pair.cert), tls_key=str(pair.key))


def test_each_fault_of_the_settings_is_a_finding_and_the_defaults_stand_in(tmp_path: Path) -> None:
    config, (finding,) = read_settings(tmp_path, {"WAYBREAD_PORT": "99"})
    assert (config.port, finding.level) == (99, "ok")
    (tmp_path / "waybread.toml").write_text("prot = 1\nport = 70000\n")
    config, findings = read_settings(tmp_path, {})
    assert config == Config()
    assert [finding.sentence for finding in findings] == [
        f"{tmp_path}/waybread.toml has an unknown setting 'prot': is it port?",
        f"port is 70000 in {tmp_path}/waybread.toml: give a whole number from 0 to 65,535",
    ]


@pytest.mark.parametrize(
    "free, percent, level",
    [
        (3 * GIB, 5, "warning"),
        (GIB, 5, "fault"),
        (5 * GIB, 5, "ok"),
        (1, 0, "ok"),
        (GIB, 1, "warning"),
        (3 * GIB, 1, "ok"),
    ],
)
def test_a_disk_near_its_floor_is_a_warning_and_one_below_it_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, percent: int, level: str
) -> None:
    set_disk(monkeypatch, free, 100 * GIB)
    finding = disk_finding(tmp_path, Config(free_floor_bytes=2 * GIB, free_floor_percent=percent))
    assert finding.level == level
    assert f"of 100 GiB are free on the disk of {tmp_path}" in finding.sentence


def certified(folder: Path, days: int) -> list[Finding]:
    pair = Authority().issue(folder, days=days)
    pair.key.chmod(0o600)
    return list(certificate_findings(encrypted(pair), now_ms()))


def test_a_certificate_is_good_for_more_than_a_month_or_it_is_told(tmp_path: Path) -> None:
    assert list(certificate_findings(Config(), now_ms())) == []
    (finding,) = certified(tmp_path, 90)
    assert finding.level == "ok"
    (finding,) = certified(tmp_path, 29)
    assert finding.level == "warning"
    assert finding.sentence == f"the certificate in {tmp_path}/daemon.crt is good for 28 more days"
    (finding,) = certified(tmp_path, -1)
    assert (finding.level, finding.remedy) == ("fault", "renew it")
    assert finding.sentence.startswith("the certificate expired on ")


def test_files_that_do_not_fit_are_a_fault(tmp_path: Path) -> None:
    one, other = Authority().issue(tmp_path, "one"), Authority().issue(tmp_path, "other")
    (finding,) = certificate_findings(Config(tls_cert=str(one.cert), tls_key=str(other.key)), now_ms())
    assert finding.level == "fault"
    assert "is not the key of the certificate" in finding.sentence
    assert finding.remedy == "name the two that were made together"


def test_a_key_that_everybody_can_read_is_a_warning(tmp_path: Path) -> None:
    pair = Authority().issue(tmp_path)
    pair.key.chmod(0o644)
    *_, finding = certificate_findings(encrypted(pair), now_ms())
    assert (finding.level, finding.remedy) == ("warning", f"run `chmod o= {pair.key}`")
