from tests.conformance.fakes import FakeTarget
from waybread_conformance.targets.contract import Target
from waybread_conformance.targets.daemon import DaemonTarget
from waybread_conformance.targets.exec import ExecTarget


def test_every_target_keeps_the_contract() -> None:
    # That they fit is shown by the type checkers; that nothing is asked of them before `begin`, by this.
    targets: list[Target] = [
        ExecTarget("no-such-program"),
        DaemonTarget("ws://127.0.0.1:1/link", "t"),
        FakeTarget(dict),
    ]
    assert [target.label for target in targets] == ["no-such-program", "ws://127.0.0.1:1/link", "fake"]
    assert [len(target.forms([{"do": "read"}])) for target in targets] == [1, 4, 1]
    for target in targets:
        target.close()
