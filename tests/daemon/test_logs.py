import io
import json
import sys

import pytest

from waybread_daemon.link.accounts import make_token
from waybread_daemon.logs import Level, make_log


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(io.StringIO):
    def write(self, _: str) -> int:
        raise BrokenPipeError


def test_an_event_is_one_line_of_json_with_level_and_time() -> None:
    out = io.StringIO()
    make_log("info", out=out).bind(connection=3).info("link_opened", client="a\nb")
    assert out.getvalue().count("\n") == 1
    said = json.loads(out.getvalue())
    assert said.pop("timestamp").endswith("Z")
    assert said == {"event": "link_opened", "level": "info", "connection": 3, "client": "a\nb"}


def test_what_is_below_the_level_is_not_said() -> None:
    out = io.StringIO()
    log = make_log("warning", out=out)
    log.debug("a")
    log.info("b")
    log.warning("c")
    log.error("d")
    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == ["c", "d"]


def test_on_a_terminal_a_line_is_coloured_text_in_which_a_client_cannot_talk_to_the_terminal() -> None:
    out = Terminal()
    make_log("info", out=out).info("link_opened", client="\x1b[2J\nfake line")
    assert "\x1b[" in out.getvalue()
    assert "\x1b[2J" not in out.getvalue()
    assert r"\x1b[2J\nfake line" in out.getvalue()


def test_a_terminal_that_wants_no_colours_gets_none() -> None:
    out = Terminal()
    make_log("info", colors=False, out=out).info("listening", port=1)
    assert "\x1b" not in out.getvalue()
    assert "listening" in out.getvalue()


def test_a_log_that_nobody_reads_any_more_stops_nothing() -> None:
    out = Gone()
    log = make_log("info", out=out)
    log.info("a")
    out.close()
    log.info("b")
    with pytest.raises(BrokenPipeError):
        out.write("a")


def test_standard_error_is_where_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    err = io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    make_log("info").info("listening")
    assert '"listening"' in err.getvalue()


def test_a_level_that_is_set_holds_for_all_that_was_bound_before() -> None:
    out = io.StringIO()
    level = Level("error")
    bound = make_log(level, out=out).bind(connection=3)
    for name in ("error", "warning", "info", "debug", "error"):
        level.set(name)
        for say in (bound.debug, bound.info, bound.warning, bound.error):
            say(name)
    said = [(line["event"], line["level"]) for line in map(json.loads, out.getvalue().splitlines())]
    assert said == [
        ("error", "error"),
        *[("warning", level) for level in ("warning", "error")],
        *[("info", level) for level in ("info", "warning", "error")],
        *[("debug", level) for level in ("debug", "info", "warning", "error")],
        ("error", "error"),
    ]


def test_what_looks_like_a_secret_is_taken_out_of_whatever_a_line_holds() -> None:
    out = io.StringIO()
    text = make_token().text
    log = make_log("debug", out=out).bind(client=f"app {text}")
    said_first = f"event {text}"
    log.info(said_first, why=f"no {text}", faults=[f"is {text}"], bytes=3)
    assert text.partition(".")[2] not in out.getvalue()
    said = json.loads(out.getvalue())
    assert (said["event"], said["client"], said["why"]) == ("event [secret]", "app [secret]", "no [secret]")
    assert (said["faults"], said["bytes"]) == (["is [secret]"], 3)
