from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.daemon.cli.support import PROGRAM, environment

TITLE = Path("/proc/self/cmdline")
TOKEN, OTHER = "0123456789abcdef." + "s" * 43, "fedcba9876543210." + "t" * 43

needs_proc = pytest.mark.skipif(not TITLE.exists(), reason="this system has no /proc")


@needs_proc
def test_tokens_on_the_command_line_are_in_no_process_title_while_the_cases_run() -> None:
    # A daemon that takes the connection and says nothing: the command stays where it is.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"ws://127.0.0.1:{silent.getsockname()[1]}/link"
        words = ["conformance", "--url", url, "--token", TOKEN, f"--other-token={OTHER}"]
        process = subprocess.Popen(
            [*PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
        )
        try:
            silent.settimeout(20)
            silent.accept()[0].close()
            title = Path(f"/proc/{process.pid}/cmdline").read_bytes().decode()
        finally:
            process.kill()
            process.wait()
    assert url in title
    assert f"--other-token={'x' * len(OTHER)}" in title
    assert [secret for secret in (TOKEN, OTHER, "s" * 8, "t" * 8) if secret in title] == []


@needs_proc
def test_what_is_no_secret_stays_in_the_title() -> None:
    code = (
        "import sys; from pathlib import Path; from waybread_daemon.cli.title import scrub; "
        "scrub(['', '-', '@file', 'hidden']); print(Path('/proc/self/cmdline').read_bytes().split(b'\\0')[3:-1], sys.argv[1:])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, "-", "@file", "hidden", "ünhidden"], check=True, capture_output=True, text=True
    )
    expected = [b"-", b"@file", b"xxxxxx", "ün".encode() + b"xxxxxx"]
    assert ended.stdout == f"{expected} ['-', '@file', 'hidden', 'ünhidden']\n"
