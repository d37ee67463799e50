from waybread_daemon.life.surroundings import Surroundings


def test_a_daemon_with_nothing_around_it_has_stand_ins_of_its_own() -> None:
    one, other = Surroundings(), Surroundings()
    assert one.signals is not other.signals
    assert one.notifier.watchdog_s == 0
    one.notifier.ready("nobody hears it")
    one.set_log_level("debug")
    assert one.read_settings is None
