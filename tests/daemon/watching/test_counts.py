import pytest

from waybread_daemon.watching.counts import ContentSizes, Counts, Histogram, StoreCounts, shortened_bytes
from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import REQUESTS


def test_a_value_at_a_bound_counts_for_that_bound_and_one_above_the_last_for_the_rest() -> None:
    histogram = Histogram(1, 2, 5)
    for value in (0, 1, 1.5, 2, 5, 5.1, 100):
        histogram.observe(value)
    assert histogram.counts == [2, 2, 1, 2]
    assert histogram.sum == pytest.approx(114.6)


def test_every_request_type_and_error_code_has_its_number_from_the_start_so_that_no_other_label_can_come_up() -> None:
    counts = Counts()
    assert counts.requests == {**dict.fromkeys(REQUESTS, 0), "unknown": 0}
    assert counts.errors == dict.fromkeys(ErrorCode, 0)
    assert counts.results == {"full": 0, "stub": 0, "capped": 0, "diff": 0, "recall": 0}
    assert counts.saved_bytes == {"stub": 0, "capped": 0, "diff": 0}


def test_an_insertion_counts_once_for_its_measure_and_adds_what_it_saved() -> None:
    counts = Counts()
    counts.inserted("stub", 100)
    counts.inserted("stub", 20)
    counts.inserted("full", 0)
    assert (counts.results["stub"], counts.results["full"], counts.results["capped"]) == (2, 1, 0)
    assert counts.saved_bytes == {"stub": 120, "capped": 0, "diff": 0}


def test_two_daemons_in_one_process_have_numbers_of_their_own() -> None:
    first, second = Counts(), Counts()
    first.requests["ping"] += 1
    first.loop_lag.observe(1)
    assert (second.requests["ping"], sum(second.loop_lag.counts)) == (0, 0)
    one, other = StoreCounts(), StoreCounts()
    one.commit_s.observe(1)
    assert sum(other.commit_s.counts) == 0


@pytest.mark.parametrize(
    "given_bytes,text,saved",
    [(100, "ascii", 95), (100, "für", 96), (3, "longer than it was", 0), (0, "of nobody knows what", 0)],
)
def test_what_was_saved_is_counted_in_bytes_and_never_less_than_nothing(
    given_bytes: int, text: str, saved: int
) -> None:
    assert shortened_bytes(given_bytes, text) == saved


def test_some_lines_of_a_content_have_their_share_of_its_bytes() -> None:
    sizes = ContentSizes()
    sizes.note(b"a", 1000, 10)
    assert sizes.share_bytes(b"a", 10) == 1000
    assert sizes.share_bytes(b"a", 3) == 300
    assert sizes.share_bytes(b"unknown", 3) == 0
    sizes.note(b"empty", 0, 0)
    assert sizes.share_bytes(b"empty", 0) == 0


def test_of_contents_only_the_last_4096_are_known() -> None:
    sizes = ContentSizes()
    for number in range(4097):
        sizes.note(number.to_bytes(2, "big"), number, 1)
    sizes.note((4096).to_bytes(2, "big"), 7, 1)
    assert sizes.share_bytes((0).to_bytes(2, "big"), 1) == 0
    assert sizes.share_bytes((1).to_bytes(2, "big"), 1) == 1
    assert sizes.share_bytes((4096).to_bytes(2, "big"), 1) == 7
