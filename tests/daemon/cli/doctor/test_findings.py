"""What a finding is."""

from waybread_daemon.cli.doctor.findings import Finding, fault, ok, warning


def test_each_level_has_its_way_to_say_it() -> None:
    def mended() -> str:
        return "mended"

    assert ok("a", "fine") == Finding("ok", "a", "fine", "", None)
    assert warning("a", "hm", "do") == Finding("warning", "a", "hm", "do", None)
    assert fault("a", "broken", "mend it", mended) == Finding("fault", "a", "broken", "mend it", mended)
