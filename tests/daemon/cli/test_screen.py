import io
import json

from waybread_daemon.cli.screen import Screen, clock, harmless


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def terminal(encoding: str = "utf-8") -> tuple[io.BytesIO, Screen]:
    out = io.BytesIO()
    return out, Screen(Terminal(out, encoding))


def pipe() -> tuple[io.BytesIO, Screen]:
    out = io.BytesIO()
    return out, Screen(io.TextIOWrapper(out, "ascii"))


def test_control_characters_are_escapes_but_newline_and_tab() -> None:
    assert (
        harmless("a\tb\n\x1b[31m\r\x00\x7f\x85\x9f é€😀\u200b") == "a\tb\n\\x1b[31m\\r\\x00\\x7f\\x85\\x9f é€😀\u200b"
    )


def test_a_pipe_gets_the_exact_bytes_whatever_its_encoding_says() -> None:
    out, screen = pipe()
    screen.text("\x1b[31m\r\n é\x9b")
    screen.flush()
    assert out.getvalue() == b"\x1b[31m\r\n \xc3\xa9\xc2\x9b"


def test_a_terminal_gets_harmless_text_in_its_own_encoding() -> None:
    out, screen = terminal("latin-1")
    screen.text("\x1b é €\n")
    screen.flush()
    assert out.getvalue() == b"\\x1b \xe9 \\u20ac\n"


def test_json_is_the_same_object_on_a_terminal() -> None:
    value = {"text": "\x1b\x7f\x9b é\n"}
    for out, screen in (pipe(), terminal()):
        screen.json(value)
        screen.flush()
        assert json.loads(out.getvalue()) == value
    assert out.getvalue() == b'{"text":"\\u001b\\u007f\\u009b \xc3\xa9\\n"}\n'


def test_a_control_sequence_of_our_own_reaches_the_terminal() -> None:
    out, screen = terminal()
    screen.raw("\x1b[1m")
    screen.flush()
    assert out.getvalue() == b"\x1b[1m"


def test_columns_stand_one_under_the_other_and_no_line_ends_with_spaces() -> None:
    out, screen = pipe()
    screen.table([["A", "LONG", "END"], ["1234", "x", ""]])
    screen.flush()
    assert out.getvalue() == b"A     LONG  END\n1234  x\n"


def test_a_time_that_never_was() -> None:
    assert clock(0) == "never"
    assert len(clock(1_750_000_000_000)) == len("2026-01-01 00:00:00")
