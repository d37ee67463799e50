"""Reads: the bracket, the stub, the error."""

import pytest

from tests.daemon.hygiene.stories import CONTENT, asked, insert_read, insert_text, opened, sha256_of
from waybread_daemon.hygiene.answer import Shape
from waybread_daemon.hygiene.events import Answered, Compacted, Read, TakenBack, TurnBegan
from waybread_daemon.hygiene.lines import BOM
from waybread_daemon.hygiene.read import known_lines, read_answer

SHA8 = sha256_of(CONTENT).hex()[:8]


def test_a_full_read_says_its_path_its_lines_the_files_length_and_its_hash() -> None:
    state = opened()
    answer = read_answer(state, asked("src/app.ts", limit=200), 340)
    assert answer.lead == f"[#0001 src/app.ts lines 1-200 of 340 sha {SHA8}]\n"
    assert (answer.shape, answer.lines, answer.stub_of, answer.error) == (Shape.WHOLE, (1, 200), 0, False)
    assert answer.event == Read(1, "src/app.ts", "/x/src/app.ts", sha256_of(CONTENT), 1, 200, 340)


def test_a_range_inside_an_earlier_read_is_a_stub_that_shares_its_source() -> None:
    state = opened()
    insert_read(state, limit=200)
    stub = read_answer(state, asked("./a.py", offset=50, limit=31, absolute="/x/a.py"), 340)
    assert stub.lead == (
        f"[#0002 ./a.py lines 50-80 of 340 sha {SHA8}] Unchanged since #0001, which already shows lines 1-200."
    )
    assert (stub.shape, stub.lines, stub.shares, stub.stub_of) == (Shape.BARE, (50, 80), 1, 1)
    assert stub.event == Answered(2)


@pytest.mark.parametrize(
    "offset, limit, stub",
    [(10, 11, True), (10, 1, True), (20, 1, True), (9, 2, False), (20, 2, False), (21, 1, False), (1, 2000, False)],
)
def test_only_a_range_wholly_inside_the_earlier_lines_is_a_stub(offset: int, limit: int, stub: bool) -> None:
    state = opened()
    insert_read(state, offset=10, limit=11)
    assert (read_answer(state, asked(offset=offset, limit=limit), 340).stub_of != 0) == stub


def test_the_end_of_the_file_bounds_the_range_that_is_compared() -> None:
    state = opened()
    insert_read(state, offset=300)
    assert read_answer(state, asked(offset=330, limit=2000), 340).stub_of == 1


def test_two_reads_are_never_joined_to_cover_a_range() -> None:
    state = opened()
    insert_read(state, limit=100)
    insert_read(state, offset=101, limit=100)
    assert read_answer(state, asked(offset=50, limit=100), 340).stub_of == 0


def test_of_several_reads_that_contain_the_range_the_newest_is_named() -> None:
    state = opened()
    insert_read(state, limit=100)
    insert_read(state, limit=200)
    insert_read(state, offset=150, limit=100)
    assert read_answer(state, asked(offset=50, limit=10), 340).stub_of == 2


def test_a_stub_names_a_full_read_and_never_another_stub() -> None:
    state = opened()
    insert_read(state)
    assert insert_read(state, limit=10).stub_of == 1
    assert insert_read(state, limit=10).stub_of == 1


def test_only_the_full_hash_decides() -> None:
    state = opened()
    insert_read(state)
    assert insert_read(state, content=CONTENT + b"more\n").stub_of == 0
    assert insert_read(state).stub_of == 1
    # The same first eight digits are not the same content.
    other = asked()._replace(sha256=sha256_of(CONTENT)[:4] + bytes(28))
    assert read_answer(state, other, 340).stub_of == 0


def test_another_absolute_path_is_another_file_and_another_spelling_is_not() -> None:
    state = opened()
    insert_read(state)
    assert read_answer(state, asked("a.py", absolute="/y/a.py"), 340).stub_of == 0
    assert read_answer(state, asked("../x/a.py", absolute="/x/a.py"), 340).stub_of == 1


def test_past_the_end_is_an_error_with_the_absolute_path_and_no_read() -> None:
    state = opened()
    answer = insert_read(state, offset=500)
    assert answer.lead + answer.body.decode() == "[#0001] /x/a.py has 340 lines: there is no line 500."
    assert (answer.error, answer.lines, answer.event) == (True, None, Answered(1))
    assert insert_read(state).stub_of == 0
    assert insert_read(state, offset=341).error is True


def test_past_the_end_with_odd_characters_in_the_path_stays_one_line() -> None:
    answer = read_answer(opened(), asked(absolute="/x/a\nb", offset=2**53 - 1), 340)
    assert answer.body == rf"/x/a\nb has 340 lines: there is no line {2**53 - 1}.".encode()


@pytest.mark.parametrize("content", [b"", BOM])
def test_an_empty_file_is_answered_by_its_bracket_again_and_again_at_any_offset(content: bytes) -> None:
    state = opened()
    sha8 = sha256_of(content).hex()[:8]
    for number, offset in ((1, 1), (2, 1), (3, 99)):
        answer = insert_read(state, "notes.txt", content, offset)
        assert answer.lead == f"[#000{number} notes.txt empty sha {sha8}]"
        assert (answer.shape, answer.stub_of, answer.error, answer.lines) == (Shape.BARE, 0, False, None)
        assert answer.event == Read(number, "notes.txt", "/x/notes.txt", sha256_of(content), 0, 0, 0)


def test_a_limit_above_2000_is_2000() -> None:
    answer = read_answer(opened(), asked(limit=5000), 9000)
    assert answer.lines == (1, 2000)
    assert read_answer(opened(), asked(offset=0, limit=0), 9000).lines == (1, 2000)


@pytest.mark.parametrize("gone", [TakenBack(("t",)), Compacted("agent", 1, "t")])
def test_what_is_no_longer_in_the_request_is_never_named(gone: TakenBack | Compacted) -> None:
    state = opened()
    state.apply(TurnBegan("t"))
    insert_read(state)
    state.apply(gone)
    assert insert_read(state).stub_of == 0
    assert insert_read(state).stub_of == 2


def test_the_length_of_a_file_is_known_from_a_read_in_the_request_alone() -> None:
    state = opened()
    assert known_lines(state, asked()) is None
    insert_read(state, limit=3)
    assert known_lines(state, asked()) == 340
    assert known_lines(state, asked(content=b"x")) is None
    assert known_lines(state, asked("b")) is None
    state.apply(Compacted("agent", 1, ""))
    assert known_lines(state, asked()) is None


def test_a_text_between_takes_a_number() -> None:
    state = opened()
    insert_text(state)
    insert_read(state)
    assert read_answer(state, asked(limit=1), 340).lead.startswith("[#0003 a.py lines 1-1 of 340")
