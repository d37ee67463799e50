from waybread_daemon.cli.faults import CommandFault


def test_a_fault_is_its_sentence() -> None:
    fault = CommandFault("there is no such thing: make one")
    assert str(fault) == fault.sentence == "there is no such thing: make one"
