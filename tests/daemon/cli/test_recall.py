import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from tests.daemon.cli.conftest import LONG, NASTY, Filled
from tests.daemon.cli.support import PROGRAM, environment, serving, waybread
from tests.daemon.store.filled import sql
from waybread_client import Link, Refused


def recall(filled: Filled, *words: str) -> tuple[int, str, str]:
    return waybread("recall", *words, "--data", filled.data)


def test_a_body_comes_exactly_control_characters_included(filled: Filled) -> None:
    assert recall(filled, "work", "1") == (0, NASTY, "")


def test_an_id_is_taken_as_a_recall_takes_it(filled: Filled) -> None:
    assert recall(filled, "work", " #0001 ") == (0, NASTY, "")


def test_what_was_capped_is_there_in_full_by_windows(filled: Filled) -> None:
    status, first, err = recall(filled, "work", "0005")
    assert (status, err) == (0, "waybread: these are lines 1-2000 of 3000 of #0005: go on with --offset 2001\n")
    assert recall(filled, "work", "0005", "--offset", "2001") == (0, LONG.removeprefix(first), "")


def test_offset_and_limit_choose_the_lines(filled: Filled) -> None:
    status, out, err = recall(filled, "work", "5", "--offset", "10", "--limit", "2")
    assert (status, out) == (0, "row 10\nrow 11\n")
    assert err.endswith("go on with --offset 12\n")


def test_a_stub_shows_the_text_it_stands_for(filled: Filled) -> None:
    assert recall(filled, "work", "3") == (0, "1: one\n2: two", "")


def test_an_empty_body_is_no_failure(filled: Filled) -> None:
    assert recall(filled, "work", "8") == (0, "", "")


def test_json_tells_which_lines_these_are(filled: Filled) -> None:
    ran = waybread("recall", "work", "5", "--offset", "2999", "--data", filled.data, "--json")
    assert ran.objects() == [
        {
            "session": "work",
            "result": "#0005",
            "tool": "bash",
            "first": 2999,
            "last": 3000,
            "lines": 3000,
            "text": "row 2999\nrow 3000\n",
        }
    ]


def test_nothing_is_inserted_by_it(filled: Filled) -> None:
    before = waybread("sessions", "--data", filled.data, "--json").out
    recall(filled, "work", "1")
    assert waybread("sessions", "--data", filled.data, "--json").out == before


def test_an_id_never_given_is_refused_with_those_that_were(filled: Filled) -> None:
    assert recall(filled, "work", "ffff") == (
        1,
        "",
        (
            "waybread: the session 'work' has given #0001 to #0008, and 'ffff' is none of them: "
            "`waybread transcript` shows the ids\n"
        ),
    )


def test_a_session_without_results_says_so(filled: Filled) -> None:
    status, out, err = recall(filled, "same", "1", "--device", filled.phone)
    assert (status, out) == (1, "")
    assert "has given no id yet" in err


def test_past_the_end_is_refused_with_the_number_of_lines(filled: Filled) -> None:
    assert recall(filled, "work", "5", "--offset", "3001") == (
        1,
        "",
        "waybread: #0005 has 3000 lines and there is no line 3001: name a smaller --offset\n",
    )


@pytest.mark.parametrize(
    "words",
    [
        *([], ["work"], ["work", "5", "6"]),
        *(["work", "5", "--offset", offset] for offset in ("ten", "0", "-1", "1.5", "")),
        *(["work", "5", "--limit", limit] for limit in ("ten", "0", "-1", "2001")),
    ],
)
def test_wrong_usage_has_status_2(filled: Filled, words: list[str]) -> None:
    status, out, err = recall(filled, *words)
    assert (status, out) == (2, "")
    assert err.startswith("usage: waybread recall")


def test_the_widest_limit_is_a_window(filled: Filled) -> None:
    assert recall(filled, "work", "5", "--limit", "2000")[1].count("\n") == 2000


def test_on_a_terminal_the_text_cannot_talk_to_it_and_ends_its_line(filled: Filled) -> None:
    ours, theirs = os.openpty()
    command = [*PROGRAM, "recall", "work", "#7", "--data", str(filled.data)]
    subprocess.run(command, check=True, stdout=theirs, env=environment())
    subprocess.run([*command[:-3], "#1", *command[-2:]], check=True, stdout=theirs, env=environment())
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    # The terminal itself turns each \n into \r\n.
    assert shown == ("no newline at its end\r\n" + r"red \x1b[31m\x9b2J\x07 bell\r" + "\r\nand a tab\there\r\n")


async def test_a_damaged_result_is_shown_to_nobody_and_the_others_are(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as daemon:
        token = daemon.device()["token"]
        async with Link(daemon.url, token) as link:
            session = await link.open("work", "agent")
            for body in ("the first", "the second"):
                await session.result("bash", {}, body)
        assert daemon.stop() == 0
    changed = (
        "UPDATE entry SET payload = CAST(replace(CAST(payload AS TEXT), 'first', 'fisrt') AS BLOB) WHERE number = 1"
    )
    sql(data / "waybread.sqlite", changed)
    sentence = "The store is damaged: entry 2 of device 1 has another checksum than when it was written"
    ran = await asyncio.to_thread(waybread, "recall", "work", "1", "--data", data)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"waybread: {sentence}")
    with serving(data) as daemon:
        async with Link(daemon.url, token) as link:
            session = await link.open("work", "agent")
            for ask in (session.show, session.recall):
                with pytest.raises(Refused) as caught:
                    await ask("#0001")
                assert caught.value.code == "internal"
                assert str(caught.value.args).count(sentence) == 1
                assert "the second" in (await ask("#0002")).text
