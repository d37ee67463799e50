import threading

import pytest

from waybread_daemon.watching.threads import CountedThreads


def test_tasks_are_those_that_wait_and_those_under_way() -> None:
    gate, begun = threading.Event(), threading.Semaphore(0)

    def work(number: int, *, twice: bool) -> int:
        begun.release()
        gate.wait(10)
        return number * 2 if twice else number

    with CountedThreads(2, "heavy") as threads:
        assert threads.tasks == 0
        futures = [threads.submit(work, number, twice=True) for number in range(5)]
        for _ in range(2):
            begun.acquire(timeout=10)
        assert threads.tasks == 5
        gate.set()
        assert [future.result(10) for future in futures] == [0, 2, 4, 6, 8]
    assert threads.tasks == 0


def test_a_task_that_fails_or_is_cancelled_is_none_any_more() -> None:
    def fail() -> None:
        raise ValueError("why")

    gate = threading.Event()
    with CountedThreads(1, "heavy") as threads:
        failing = threads.submit(fail)
        with pytest.raises(ValueError, match="why"):
            failing.result(10)
        holding = threads.submit(gate.wait, 10)
        cancelled = threads.submit(fail)
        assert cancelled.cancel()
        assert threads.tasks == 1
        gate.set()
        assert holding.result(10)
    assert threads.tasks == 0
