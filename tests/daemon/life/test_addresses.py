import errno
import socket

import pytest

from waybread_daemon.life.addresses import refuse_taken
from waybread_daemon.life.refusal import AddressRefusal


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_an_address_that_is_taken_is_refused_and_one_that_is_free_is_free_afterwards(host: str) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        with pytest.raises(AddressRefusal) as caught:
            refuse_taken(host, port)
        assert str(caught.value).startswith(f"port {port} of {host} is taken: stop what listens there")
    for _ in range(2):
        refuse_taken(host, port)


def test_no_port_of_ones_own_is_always_free() -> None:
    refuse_taken("127.0.0.1", 0)


def test_an_address_of_another_machine_and_a_name_of_none_are_refused() -> None:
    with pytest.raises(AddressRefusal) as caught:
        refuse_taken("192.0.2.1", 0)
    assert caught.value.fault.errno == errno.EADDRNOTAVAIL
    with pytest.raises(AddressRefusal) as caught:
        refuse_taken("nohost.invalid", 0)
    assert str(caught.value) == (
        "nohost.invalid is no address, and no name that this machine can look up: name another one with --host"
    )


def test_a_family_that_the_system_has_not_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(999, socket.SOCK_STREAM, 6, "", ("::1", 0, 0, 0))]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    refuse_taken("localhost", 0)
