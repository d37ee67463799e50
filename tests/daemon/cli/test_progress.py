"""What stands on a terminal while a command is at work, and how a signal ends that."""

import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from waybread_daemon.cli.progress import showing

SHOWS = (
    "from waybread_daemon.cli.progress import showing\n"
    "with showing() as shown:\n"
    "    shown('copying', 1, 4); shown('copying', 2, 4); shown('checking', 0, 0)\n"
    "print('done')\n"
)
WAITS = (
    "import time\nfrom waybread_daemon.cli.progress import showing\n"
    "try:\n"
    "    with showing() as shown:\n"
    "        print('waiting', flush=True); time.sleep(30)\n"
    "except KeyboardInterrupt:\n"
    "    print('ended')\n"
)


def test_on_a_terminal_one_line_is_written_over_and_taken_away() -> None:
    ours, theirs = pty.openpty()
    ended = subprocess.run([sys.executable, "-c", SHOWS], check=True, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    assert ended.stdout == b"done\n"
    assert os.read(ours, 1000) == b"\r\x1b[Kcopying 25 %\r\x1b[Kchecking ...\r\x1b[K"
    os.close(ours)


def test_into_a_pipe_nothing_is_shown() -> None:
    ended = subprocess.run([sys.executable, "-c", SHOWS], check=True, capture_output=True)
    assert (ended.stdout, ended.stderr) == (b"done\n", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_block_so_that_it_can_clean_up(number: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"waiting\n"
    began_s = time.monotonic()
    process.send_signal(number)
    assert process.stdout.read() == b"ended\n"
    assert process.wait(10) == 0
    process.stdout.close()
    assert time.monotonic() - began_s < 10


def test_what_signals_did_before_they_do_again() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with showing():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
