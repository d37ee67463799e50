import asyncio
import io
import json
import subprocess
import sys
from typing import Any

from waybread_daemon.life.reports import loop_reporter, reporter
from waybread_daemon.logs import make_log

SECRET = "what a client sent"


def lines(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_fault_is_logged_under_an_id_with_where_it_was_and_without_its_text() -> None:
    out = io.StringIO()
    try:
        raise ValueError(SECRET)
    except ValueError as fault:
        name = reporter(make_log("info", out=out))(fault)
    (line,) = lines(out)
    assert (line["event"], line["fault"], line["kind"], line["level"]) == ("fault", name, "ValueError", "error")
    assert line["where"][-1].endswith("test_a_fault_is_logged_under_an_id_with_where_it_was_and_without_its_text")
    assert SECRET not in out.getvalue()


async def test_what_fails_where_nobody_waits_is_logged_and_printed_nowhere() -> None:
    out = io.StringIO()
    report = loop_reporter(make_log("info", out=out))
    loop = asyncio.get_running_loop()
    report(loop, {"message": "a task was lost"})
    report(loop, {"message": "a callback failed", "exception": ValueError(SECRET)})
    assert [(line["event"], line["what"], line["kind"], line["where"]) for line in lines(out)] == [
        ("loop_fault", "a task was lost", "", []),
        ("loop_fault", "a callback failed", "ValueError", []),
    ]
    assert SECRET not in out.getvalue()


CRASHING = """
import sys, threading
from waybread_daemon.life.reports import report_crashes
from waybread_daemon.logs import make_log

def crash():
    raise ValueError("what a client sent")

class Thrown:
    def __del__(self):
        crash()

report_crashes(make_log("info"))
thread = threading.Thread(target=crash, name="worker")
thread.start()
thread.join()
thrown = Thrown()
del thrown
crash()
"""


def test_whatever_ends_a_thread_or_the_process_is_logged_without_its_text() -> None:
    ended = subprocess.run([sys.executable, "-c", CRASHING], capture_output=True, timeout=30, check=False, text=True)
    said = [json.loads(line) for line in ended.stderr.splitlines()]
    assert ended.returncode == 1
    assert [(line["event"], line["kind"]) for line in said] == [
        ("thread_crash", "ValueError"),
        ("unraisable", "ValueError"),
        ("crash", "ValueError"),
    ]
    assert said[0]["thread"] == "worker"
    assert [line["where"][-1].rpartition(" ")[2] for line in said] == ["crash"] * 3
    assert SECRET not in ended.stderr
