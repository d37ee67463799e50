import io

from waybread_daemon.cli.demo.show import LINE_CHARS, Show
from waybread_daemon.cli.screen import Screen


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def show(*, terminal: bool = False, colors: bool = True) -> tuple[io.BytesIO, Show]:
    out = io.BytesIO()
    return out, Show(Screen((Terminal if terminal else io.TextIOWrapper)(out, "utf-8")), colors=colors)


def test_a_short_answer_is_shown_whole_with_the_characters_of_both() -> None:
    out, shown = show()
    shown.answer("reads", "read a.py", 1234, "[#0001]\nx")
    assert out.getvalue().decode() == ("\n> read a.py\n  | [#0001]\n  | x\n  tool: 1,234 characters -> model: 9\n")


def test_a_long_answer_is_shortened_and_says_that_this_is_for_the_screen() -> None:
    out, shown = show()
    shown.quote("\n".join(str(number) for number in range(1, 101)))
    assert out.getvalue().decode().splitlines() == [
        *(f"  | {number}" for number in range(1, 8)),
        "  : (90 lines are left out on this screen only)",
        *("  | 98", "  | 99", "  | 100"),
    ]


def test_the_elided_line_of_a_capped_answer_is_never_left_out() -> None:
    out, shown = show()
    shown.quote("\n".join(["x"] * 50 + ["[900 lines elided, full output #0001]"] + ["y"] * 50))
    lines = out.getvalue().decode().splitlines()
    assert lines[7:10] == [
        "  : (43 lines are left out on this screen only)",
        "  | [900 lines elided, full output #0001]",
        "  : (47 lines are left out on this screen only)",
    ]


def test_a_wide_line_is_cut_but_not_a_bracket_with_its_sentence() -> None:
    out, shown = show()
    wide = "w" * (LINE_CHARS + 5)
    shown.quote(f"{wide}\n{wide}")
    assert out.getvalue().decode() == f"  | {wide}\n  | {'w' * LINE_CHARS}… (+5)\n"


def test_the_sums_are_kept_by_group() -> None:
    out, shown = show()
    shown.answer("reads", "a", 1000, "12345")
    shown.answer("reads", "b", 500, "1")
    shown.answer("recalls", "c", 0, "1234")
    out.truncate(0)
    out.seek(0)
    shown.sums()
    assert [line.split() for line in out.getvalue().decode().splitlines()] == [
        ["characters", "from", "tools", "to", "the", "model", "saved"],
        ["reads", "1,500", "6", "1,494"],
        ["recalls", "0", "4", "-4"],
        ["in", "all", "1,500", "10", "1,490"],
    ]


def test_headings_are_bold_on_a_terminal_only_and_not_where_no_colours_are_wanted() -> None:
    for terminal, colors, heading in (
        (True, True, "\x1b[1m== One ==\x1b[0m"),
        (True, False, "== One =="),
        (False, True, "== One =="),
    ):
        out, shown = show(terminal=terminal, colors=colors)
        shown.chapter("One")
        assert out.getvalue().decode() == f"\n{heading}\n"


def test_a_paragraph_after_an_answer_stands_apart() -> None:
    out, shown = show()
    shown.chapter("One")
    shown.say("Before.")
    shown.answer("g", "a", 1, "x")
    shown.say("word " * 40)
    lines = out.getvalue().decode().splitlines()
    assert lines[1:3] == ["== One ==", "Before."]
    assert lines[-3] == ""
    assert max(len(line) for line in lines) <= 116
