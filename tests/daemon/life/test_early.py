import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WITHIN_S = 20
PROGRAM = """
import os, sys
from waybread_daemon.life.early import end_at_once
loaded = set(sys.modules)
end_at_once()
assert "asyncio" not in loaded and "msgspec" not in loaded
print("ready", flush=True)
try:
    os.open(sys.argv[1], os.O_RDONLY)
except BaseException:
    print("raised", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_waits_for_a_pipe_ends_at_once_with_status_0_and_no_hangup_ends_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "pipe")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(WITHIN_S) == 0
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
