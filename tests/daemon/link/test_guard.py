"""Numbers and rates, with a clock of the test's own."""

from __future__ import annotations

import http
from typing import Any

from waybread_daemon.config import Config
from waybread_daemon.link.guard import ADDRESSES_MOST, BUCKETS_MOST, MAKE_WAY_S, SPARE_SOCKETS, Bucket, Failures, Guard


class Clock:
    """The time, as the test sets it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Peer:
    """A socket that knows whether it was ended."""

    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


def guard(clock: Clock | None = None, **settings: Any) -> Guard:
    return Guard(Config(**settings), clock or Clock())


def admitted(door: Guard, address: str = "a") -> Peer:
    peer = Peer()
    assert door.came(peer, address)
    assert door.admit(peer, address) is None
    return peer


def refused(door: Guard, address: str = "a") -> tuple[http.HTTPStatus, str, int]:
    peer = Peer()
    assert door.came(peer, address)
    refusal = door.admit(peer, address)
    assert refusal is not None
    door.left(peer)
    return refusal.status, refusal.limit, refusal.retry_s


def test_ten_failed_hellos_within_a_minute_bar_their_address_and_no_other() -> None:
    clock = Clock()
    door = guard(clock)
    for _ in range(10):
        admitted(door)
        door.failed("a")
        clock.now += 1
    assert refused(door) == (http.HTTPStatus.TOO_MANY_REQUESTS, "failed_hellos", 50)
    assert "10 hellos from this address failed within a minute (max_failed_hellos): wait 50 s" in door.barred("a")
    assert door.barred("b") == ""
    admitted(door, "b")
    clock.now += 49.5
    assert refused(door)[2] == 1
    clock.now += 0.5
    admitted(door)
    assert door.barred("a") == ""
    door.failed("a")
    assert refused(door)[2] == 1


def test_the_table_of_addresses_is_bounded_and_forgets_who_failed_longest_ago() -> None:
    clock = Clock()
    failures = Failures(clock)
    for number in range(ADDRESSES_MOST * 3):
        failures.note(f"address {number}", 1)
    assert len(failures) == ADDRESSES_MOST
    assert failures.wait_s("address 0", 1) == 0
    assert failures.wait_s(f"address {ADDRESSES_MOST * 3 - 1}", 1) == 60


def test_an_address_is_remembered_for_as_many_failures_as_count() -> None:
    failures = Failures(Clock())
    for _ in range(1000):
        failures.note("a", 10)
    assert failures.wait_s("a", 10) == 60
    assert failures.wait_s("a", 11) == 0


def test_so_many_links_and_no_more_until_one_leaves() -> None:
    door = guard(max_connections=3)
    peers = [admitted(door) for _ in range(3)]
    assert refused(door) == (http.HTTPStatus.SERVICE_UNAVAILABLE, "connections", 10)
    door.left(peers[1])
    admitted(door)
    assert refused(door)[1] == "connections"


def test_so_many_sockets_of_one_address_wait_with_their_hello_and_no_more() -> None:
    door = guard(max_waiting_hellos=3)
    peers = [admitted(door) for _ in range(3)]
    assert refused(door) == (http.HTTPStatus.SERVICE_UNAVAILABLE, "waiting_hellos", 10)
    assert door.greeted(peers[0], 1)
    admitted(door)
    assert refused(door)[1] == "waiting_hellos"


def test_who_fills_the_room_makes_way_for_another_address() -> None:
    door = guard(max_waiting_hellos=4)
    crowd = [admitted(door, "flood") for _ in range(4)]
    guest = admitted(door, "guest")
    assert [peer.aborted for peer in crowd] == [True, False, False, False]
    second = admitted(door, "guest")
    assert [peer.aborted for peer in crowd] == [True, True, False, False]
    # Now both have as many, and nobody makes way.
    assert refused(door, "guest")[1] == "waiting_hellos"
    assert refused(door, "flood")[1] == "waiting_hellos"
    admitted(door, "third")
    assert sum(peer.aborted for peer in (*crowd, guest, second)) == 3


def test_where_every_address_has_one_the_oldest_makes_way_once_it_had_its_second() -> None:
    clock = Clock()
    door = guard(clock, max_waiting_hellos=3)
    crowd = [admitted(door, f"address {number}") for number in range(3)]
    clock.now += MAKE_WAY_S - 0.01
    assert refused(door, "guest")[1] == "waiting_hellos"
    clock.now += 0.01
    guest = admitted(door, "guest")
    assert [peer.aborted for peer in crowd] == [True, False, False]
    # Whoever has one already takes no other's place.
    assert refused(door, "guest")[1] == "waiting_hellos"
    admitted(door, "second guest")
    assert [peer.aborted for peer in (*crowd, guest)] == [True, True, False, False]


def test_whoever_said_no_hello_in_time_gives_its_place_up_while_it_is_closed() -> None:
    door = guard(max_waiting_hellos=1)
    silent = admitted(door)
    assert refused(door)[1] == "waiting_hellos"
    door.gave_up(silent)
    admitted(door)
    assert not silent.aborted


def test_sockets_that_finish_no_handshake_are_bounded_in_the_same_way() -> None:
    door = guard(max_connections=500)
    linked = [admitted(door, "home") for _ in range(30)]
    crowd = [Peer() for _ in range(5000)]
    assert sum(door.came(peer, "flood") for peer in crowd) == 470 + SPARE_SOCKETS == 598
    guest = Peer()
    assert door.came(guest, "guest")
    assert crowd[0].aborted
    assert door.admit(guest, "guest") is None
    assert not any(peer.aborted for peer in linked)


def test_where_all_links_are_open_there_is_room_for_the_refusal() -> None:
    door = guard(max_connections=3)
    for _ in range(3):
        admitted(door)
    for _ in range(SPARE_SOCKETS + 10):
        assert refused(door)[1] == "connections"


def test_a_device_has_so_many_links_and_another_device_as_many() -> None:
    door = guard(max_device_connections=2)
    one, two, three = (admitted(door) for _ in range(3))
    assert door.greeted(one, 7)
    assert door.greeted(two, 7)
    assert not door.greeted(three, 7)
    assert door.greeted(three, 8)
    door.left(one)
    assert door.greeted(admitted(door), 7)
    assert not door.greeted(admitted(door), 7)


def test_nothing_is_left_of_those_who_left() -> None:
    door = guard(max_connections=1, max_waiting_hellos=1, max_device_connections=1)
    for _ in range(100):
        peer = admitted(door)
        assert door.greeted(peer, 1)
        door.left(peer)
        door.left(peer)


def test_other_limits_are_in_force_at_once() -> None:
    door = guard(max_connections=2)
    admitted(door)
    admitted(door)
    assert refused(door)[1] == "connections"
    door.config = Config(max_connections=3, max_waiting_hellos=2)
    assert refused(door)[1] == "waiting_hellos"
    door.config = Config()
    admitted(door)


def test_a_guard_that_is_closed_takes_nobody_and_ends_who_is_at_the_door() -> None:
    door = guard()
    peer = Peer()
    assert door.came(peer, "a")
    linked = admitted(door)
    door.close()
    assert peer.aborted
    assert not linked.aborted
    assert not door.came(Peer(), "a")


def test_a_viewer_asks_60_at_once_and_20_a_second_after_that() -> None:
    clock = Clock()
    door = guard(clock)
    bucket = door.bucket("token")
    assert [door.allows(bucket) for _ in range(60)] == [""] * 60
    assert "60 requests at once and 20 a second" in door.allows(bucket)
    clock.now += 1
    assert sum(not door.allows(bucket) for _ in range(30)) == 20
    clock.now += 100
    assert sum(not door.allows(bucket) for _ in range(100)) == 60


def test_a_viewer_that_does_not_heed_busy_is_heard_no_more_often_than_it_may_ask() -> None:
    clock = Clock()
    door = guard(clock, viewer_burst_requests=2, viewer_requests_per_s=4)
    bucket = door.bucket("token")
    said = [bool(door.allows(bucket)) for _ in range(4)]
    assert (said, door.pause_s(bucket)) == ([False, False, True, True], 0)
    assert door.allows(bucket)
    assert door.pause_s(bucket) == 0.25
    clock.now += 0.25
    assert door.allows(bucket) == ""
    assert door.pause_s(bucket) == 0
    assert door.allows(bucket)
    assert door.pause_s(bucket) == 0.25
    # Whoever was quiet for a while begins anew.
    clock.now += 1
    assert [bool(door.allows(bucket)) for _ in range(4)] == [False, False, True, True]
    assert door.pause_s(bucket) == 0


def test_a_viewer_has_one_bucket_however_many_links_it_opens() -> None:
    door = guard()
    assert door.bucket("token") is door.bucket("token")
    assert door.bucket("token") is not door.bucket("other")
    kept = door.bucket("token")
    for number in range(BUCKETS_MOST):
        door.bucket(f"token {number}")
        assert door.bucket("token") is kept
    for number in range(BUCKETS_MOST):
        door.bucket(f"another {number}")
    assert door.bucket("token") is not kept


def test_a_bucket_asked_too_often_fills_all_the_same() -> None:
    bucket = Bucket()
    assert bucket.take(0, 1, 1)
    assert sum(bucket.take(tenths / 10, 1, 1) for tenths in range(1, 101)) in (9, 10)
