"""What the demo shows, told by what its output holds."""

import re

import pytest

from tests.daemon.cli.support import Ran


def test_chapters_come_in_the_order_of_the_story(ran: Ran) -> None:
    assert re.findall(r"^== (.*) ==$", ran.out, re.MULTILINE) == [
        "What the model is told, once a session",
        "Turn 1: reading",
        "Turn 1: changing",
        "Turn 1: searching",
        "Turn 1: a command with large output",
        "Turn 2, and its undo",
        "The daemon restarts",
        "A compaction",
        "What it saved",
    ]


@pytest.mark.parametrize(
    "shown",
    [
        # a stub, whole
        r"\| \[#0002 \S+/session\.py lines 40-80 of \d+ sha [0-9a-f]{8}\] Unchanged since #0001, which already shows lines 1-120\.$",
        # a range past what was read: in full
        r"\| \[#0003 \S+/session\.py lines 100-159 of \d+ sha [0-9a-f]{8}\]$",
        # the diff of an edit, and the changed file in full
        r"\| \[#0004 \S+/session\.py sha [0-9a-f]{8}\]\n  \| @@ -\d+,6 \+\d+,8 @@\n(  \|.*\n)+?  \| \+DEMO = True$",
        r"\| \[#0005 \S+/session\.py lines 1-120 of \d+ sha [0-9a-f]{8}\]$",
        # a new file, and a patch over several
        r"\| \[#0006 NOTES\.md sha [0-9a-f]{8}\] Created, 3 lines\.$",
        r"\| \[#0007\]\n  \| \[\S+/ids\.py sha [0-9a-f]{8}\]\n  \| @@ ",
        r"\| \[\S+/notes\.py sha [0-9a-f]{8}\] Created, 1 lines\.\n  \| \[\S+/repeat\.py deleted\]$",
        # the same search
        r"\| \[#0009\] Same result as #0008\.$",
        # large output, and the recall of its middle
        r"\| \[\d+ lines elided, full output #000a\]$",
        r"\| \[#000b recall #000a lines 800-804 of \d+\]$",
        # a turn taken back: its read comes in full again
        r"\| \[#000c \S+/cap\.py lines 1-40 of \d+ sha [0-9a-f]{8}\]$",
        r"\| \[#000d \S+/cap\.py lines 1-40 of \d+ sha [0-9a-f]{8}\]$",
        # after the restart
        r"\| \[#000e recall #000a lines 1200-1202 of \d+\]$",
        r"\| \[#000f \S+/session\.py lines 30-49 of \d+ sha [0-9a-f]{8}\] Unchanged since #0005, ",
        # the compaction's table, and a read in full after it
        r"\| ## Files read before this summary$",
        r"\| \| \S+/session\.py \| 1-120 of \d+ \| [0-9a-f]{8} \| #0005 \|\n  \| \| \S+/cap\.py \| 1-40 of \d+ \| [0-9a-f]{8} \| #000d \|$",
        r"\| \[#0010 \S+/session\.py lines 30-49 of \d+ sha [0-9a-f]{8}\]$",
        r"\| \[#0011 recall #000a lines 1-3 of \d+\]$",
    ],
)
def test_an_answer_is_shown_as_the_model_sees_it(ran: Ran, shown: str) -> None:
    assert re.search(shown, ran.out, re.MULTILINE)


def test_a_key_sent_again_after_the_restart_gets_the_first_answer(ran: Ran) -> None:
    assert "is answered by the very text of #000a" in ran.out


def test_the_sums_add_up(ran: Ran) -> None:
    counted = [
        (int(sent.replace(",", "")), int(given.replace(",", "")))
        for sent, given in re.findall(r"^  tool: ([\d,]+) characters -> model: ([\d,]+)$", ran.out, re.MULTILINE)
    ]
    (total,) = re.findall(r"^in all +([\d,]+) +([\d,]+) +([\d,]+)$", ran.out, re.MULTILINE)
    sent, given, saved = (int(number.replace(",", "")) for number in total)
    assert (sent, given) == (sum(one[0] for one in counted), sum(one[1] for one in counted))
    assert saved == sent - given > 0
