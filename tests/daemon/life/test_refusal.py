import errno
import socket

import pytest

from waybread_daemon.life.refusal import AddressRefusal


@pytest.mark.parametrize(
    "number,sentence",
    [
        (errno.EADDRINUSE, "port 80 of h is taken: stop what listens there, or name another one with --port"),
        (errno.EACCES, "port 80 is for the system's own services: name one from 1024 up with --port"),
        (errno.EADDRNOTAVAIL, "h is no address of this machine: name one that is with --host"),
        (errno.EINVAL, "the daemon cannot listen on h port 80 ([Errno 22] why): name another --host"),
    ],
)
def test_why_the_daemon_cannot_listen_is_a_sentence(number: int, sentence: str) -> None:
    assert str(AddressRefusal("h", 80, OSError(number, "why"))).startswith(sentence)


def test_a_name_that_cannot_be_looked_up_is_told_as_that() -> None:
    fault = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    assert str(AddressRefusal("h", 80, fault)).startswith("h is no address, and no name that this machine can look up")
