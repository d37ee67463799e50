import io
import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from waybread_daemon.cli.screen import Screen, clock, harmless, legible, reporting, size


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


UNSEEN = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
UNSEEN_SHOWN = r"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def test_unseen_breaks_and_turns_of_a_line_are_escapes() -> None:
    assert harmless(f"a{UNSEEN}b") == f"a{UNSEEN_SHOWN}b"


def test_every_character_that_turns_the_direction_is_an_escape() -> None:
    controls = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    turns = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.bidirectional(chr(code)) in controls]
    assert len(turns) == 9
    assert [turn for turn in turns if turn in harmless(turn)] == []


def test_a_pipe_gets_unseen_breaks_and_turns_exactly() -> None:
    out, screen = pipe()
    screen.text(UNSEEN)
    screen.table([[UNSEEN, "x"]])
    screen.json({"text": UNSEEN})
    screen.flush()
    assert out.getvalue().decode() == f'{UNSEEN}{UNSEEN}  x\n{{"text":"{UNSEEN}"}}\n'


def test_a_terminal_gets_unseen_breaks_and_turns_as_escapes() -> None:
    out, screen = terminal()
    screen.text(f"{UNSEEN}\n")
    screen.json({"text": UNSEEN})
    screen.flush()
    assert out.getvalue().decode() == f'{UNSEEN_SHOWN}\n{{"text":"{UNSEEN_SHOWN}"}}\n'


def test_columns_stand_one_under_the_other_where_a_terminal_gets_escapes() -> None:
    out, screen = terminal()
    screen.table([["NAME", "END"], ["a\u202eb", "x"]])
    screen.flush()
    assert out.getvalue() == b"NAME      END\na\\u202eb  x\n"


HIDING = "\xad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2066\u2069\u3164\ufe0f\ufeff\U000e0041\U000e0100"
HIDING_SHOWN = (
    r"\xad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2066\u2069\u3164\ufe0f\ufeff\U000e0041\U000e0100"
)


def test_nothing_hides_in_a_title_that_stands_in_a_line_of_our_own() -> None:
    assert legible(f"a{HIDING}b\x1b\n\t\u2028 é字") == rf"a{HIDING_SHOWN}b\x1b\n\t\u2028 é字"
    for char in HIDING:
        assert legible(f"a{char}b") == "a" + char.encode("unicode_escape").decode() + "b"
    controls = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    turns = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.bidirectional(chr(code)) in controls]
    assert [turn for turn in turns if turn in legible(turn)] == []


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d👩\u200d👧\u200d👦",
        "👩🏽\u200d🚀",
        "🏳\ufe0f\u200d🌈",
        "⚠\ufe0f",
        "1\ufe0f\u20e3",
        "می\u200cخواهم",
        "क्\u200dष",
    ],
)
def test_emoji_and_words_that_need_joiners_stay_whole_in_a_title(text: str) -> None:
    assert legible(text) == text


@pytest.mark.parametrize("joiner", ["\u200c", "\u200d"])
def test_a_joiner_that_joins_nothing_is_an_escape(joiner: str) -> None:
    for before, after in ("ab", "αβ", "дд", "12", "aب", "字字", "😀a", "a😀", ("", "ب"), ("ب", "")):
        assert legible(f"{before}{joiner}{after}") == f"{before}\\u{ord(joiner):04x}{after}"


def test_a_sentence_has_nothing_that_hides_and_json_on_a_pipe_is_exact() -> None:
    out, screen = pipe()
    screen.sentence(f"it is at {HIDING}")
    screen.json({"title": HIDING})
    screen.flush()
    assert out.getvalue().decode() == f'it is at {HIDING_SHOWN}\n{{"title":"{HIDING}"}}\n'


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


@pytest.mark.parametrize(
    "size_bytes,shown",
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (10_000, "9.8 KiB"),
        (10_240, "10 KiB"),
        (5 * 1024**3, "5.0 GiB"),
        (3 * 1024**5, "3072 TiB"),
    ],
)
def test_a_size_is_shown_in_the_unit_that_fits_it(size_bytes: int, shown: str) -> None:
    assert size(size_bytes) == shown


def test_a_name_that_is_not_utf_8_is_printed_with_an_escape_and_never_stops_a_command() -> None:
    out, screen = pipe()
    screen.line("d\udcff")
    screen.json({"file": "d\udcff"})
    assert out.getvalue() == b'd\\udcff\n{"file":"d\\udcff"}\n'
    assert json.loads(out.getvalue().splitlines()[1]) == {"file": "d\udcff"}


def test_a_sentence_stays_one_line_wherever_it_is_printed() -> None:
    for out, screen in (terminal(), pipe()):
        screen.sentence("it is at a\nb\x1b[31m")
        assert out.getvalue() == b"it is at a\\nb\\x1b[31m\n"


def test_what_is_done_is_said_to_be_done_where_its_report_cannot_be_printed() -> None:
    told = "import sys\nfrom waybread_daemon.cli.screen import Screen, reporting\n"
    told += "with reporting('it is done'):\n    Screen(sys.stdout).line('a report')\n"
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([sys.executable, "-c", told], check=False, stdout=full, stderr=subprocess.PIPE)
    last = ended.stderr.decode().splitlines()[-1]
    assert last.endswith("CommandFault: it is done; standard output took no report of it (No space left on device)")


def test_a_report_that_is_printed_is_all_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    with reporting("it is done"):
        print("a report")
    assert capsys.readouterr() == ("a report\n", "")
