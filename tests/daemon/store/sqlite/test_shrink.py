"""Free pages leave the file in steps."""

import random
from itertools import pairwise

from tests.daemon.store.opened import Opened, opened, opening, result
from waybread_daemon.store.sqlite.shrink import STEP_PAGES, Shrink
from waybread_daemon.store.sqlite.statements import run, value

__all__ = ["opened"]


def free_pages(opened: Opened) -> int:
    return int(value(opened.cursor, "PRAGMA freelist_count"))


def make_free(opened: Opened, megabytes: int) -> None:
    """Leaves about so much of the file free."""
    noise = random.Random(1)
    opened.batch.write(opened.cursor, [opening(1, 1)])
    for n in range(1, 10 * megabytes + 1):
        opened.batch.write(opened.cursor, [result(n + 1, 1, n, noise.randbytes(100_000))])
    run(opened.cursor, "DELETE FROM entry")


def test_a_step_takes_no_more_than_its_pages_and_the_last_one_says_that_nothing_is_left(opened: Opened) -> None:
    make_free(opened, 3)
    shrink = Shrink()
    shrink.pages_freed()
    left, pages = [free_pages(opened)], int(value(opened.cursor, "PRAGMA page_count"))
    while shrink.due():
        assert shrink.step(opened.connection)
        left.append(free_pages(opened))
    assert 700 < left[0] < 800
    assert [before - after for before, after in pairwise(left)][:-1] == [STEP_PAGES] * (len(left) - 2)
    assert left[-1] == 0
    assert value(opened.cursor, "PRAGMA page_count") <= pages - left[0]
    assert value(opened.cursor, "PRAGMA integrity_check") == "ok"


def test_where_nothing_is_free_nothing_is_done(opened: Opened) -> None:
    shrink = Shrink()
    shrink.load(opened.connection)
    assert not shrink.due()
    shrink.pages_freed()
    assert not shrink.step(opened.connection)
    assert not shrink.due()


def test_free_pages_that_an_earlier_process_left_are_found(opened: Opened) -> None:
    make_free(opened, 1)
    shrink = Shrink()
    shrink.load(opened.looking)
    assert shrink.due()


def test_a_file_that_keeps_its_free_pages_is_tried_once(opened: Opened) -> None:
    make_free(opened, 1)
    run(opened.cursor, "PRAGMA auto_vacuum = NONE")
    run(opened.cursor, "VACUUM")
    run(opened.cursor, "CREATE TABLE t (x); INSERT INTO t VALUES (randomblob(100000)); DROP TABLE t")
    shrink = Shrink()
    shrink.load(opened.connection)
    assert shrink.due()
    assert not shrink.step(opened.connection)
    assert not shrink.due()
