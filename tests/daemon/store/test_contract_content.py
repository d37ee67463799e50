"""Content: once a device, in chunks, found as long as a session holds it."""

import asyncio
import random
from functools import partial

import pytest

from tests.daemon.store.stores import Log, Place, content_facts, result_row, sha, whole
from waybread_daemon.store.contract import LARGE_BYTES, ContentFacts, FileContent, Reader, Store, StoreFault

TEXT = "".join(f"line {n} ☃\n" for n in range(60_000)).encode()


async def test_a_files_content_is_found_by_its_hash_and_counted(store: Store, log: Log) -> None:
    session = await log.session()
    data = "\ufeffone\ntwo ☃\nno end".encode()
    await log.read(session, sha(data), data)
    facts = await content_facts(store, sha(data))
    assert (facts.size_bytes, facts.lines, facts.chars) == (21, 3, 17)
    assert await store.look(lambda reader: reader.whole(facts)) == data
    row = await result_row(store, session, 1)
    assert (row.body, row.content) == (None, facts)


@pytest.mark.parametrize(
    "data,lines,chars",
    [
        (b"", 0, 0),
        (b"\n", 1, 1),
        (b"a\nb", 2, 3),
        (b"a\nb\n", 2, 4),
        (b"a\r\n\x0c\xe2\x80\xa8\n", 2, 6),
        (b"\xff\xc3", 1, 2),
        (b"\xe2\x98", 1, 1),
        (b"\xf0\x9f\x98\x80", 1, 1),
    ],
)
async def test_lines_and_characters_are_those_that_are_shown(
    store: Store, log: Log, data: bytes, lines: int, chars: int
) -> None:
    await log.read(await log.session(), sha(data), data)
    facts = await content_facts(store, sha(data))
    assert (facts.size_bytes, facts.lines, facts.chars) == (len(data), lines, chars)
    assert chars == len(data.decode("utf-8", "replace"))


async def test_content_is_kept_once_a_device_however_many_sessions_hold_it(place: Place) -> None:
    store = await place.open()
    log, data = Log(store), random.Random(1).randbytes(200_000)
    sessions = [await log.session(f"s{n}") for n in range(10)]
    for session in sessions:
        # In one batch, and in many.
        log.read(session, sha(data), data)
    for session in sessions:
        await log.read(session, sha(data), data)
        await log.read(session, sha(data), None)
    rows = await store.look(lambda reader: reader.rows(1, 10, None, 99))
    assert len({row.content for row in rows}) == 1
    await store.close()
    assert place.size_bytes() < 2 * len(data)


async def test_another_device_does_not_find_it(store: Store, log: Log) -> None:
    await log.read(await log.session(), sha(b"secret"), b"secret")
    other = Log(store, 2)
    session = await other.session()
    assert await store.look(lambda reader: reader.content(2, sha(b"secret"))) is None
    with pytest.raises(StoreFault, match="is no longer stored"):
        await other.read(session, sha(b"secret"), None)


async def test_content_that_is_missing_at_the_commit_fails_with_a_sentence(store: Store, log: Log) -> None:
    session = await log.session()
    with pytest.raises(StoreFault, match=r"internal: The content 2c26b46b.* send it again with the content") as caught:
        await log.read(session, sha(b"foo"), None)
    assert caught.value.code == "internal"
    log.seq, log.results[session] = 1, 0
    await log.read(session, sha(b"foo"), b"foo")
    assert (await result_row(store, session, 1)).content == await content_facts(store, sha(b"foo"))


async def test_large_content_is_written_ahead_and_taken_up_by_a_record(store: Store, log: Log) -> None:
    session = await log.session()
    staged = await store.stage(1, sha(TEXT), TEXT, text=False)
    assert await store.look(lambda reader: reader.content(1, sha(TEXT))) is None
    await log.read(session, sha(TEXT), staged)
    facts = await content_facts(store, sha(TEXT))
    assert (facts.size_bytes, facts.lines, facts.chars) == (len(TEXT), 60_000, len(TEXT.decode()))
    assert await store.look(lambda reader: reader.whole(facts)) == TEXT


async def test_staged_content_that_is_there_already_is_kept_once(place: Place) -> None:
    store = await place.open()
    log, data = Log(store), random.Random(2).randbytes(1_000_000)
    session = await log.session()
    first, second, third = [await store.stage(1, sha(data), data, text=False) for _ in range(3)]
    log.read(session, sha(data), first)
    log.read(session, sha(data), second)
    await store.settled()
    await log.read(session, sha(data), third)
    rows = await store.look(lambda reader: reader.rows(1, 1, None, 9))
    assert {row.content.content for row in rows if row.content} == {first.content}
    assert await store.look(lambda reader: reader.whole(rows[2].content or ContentFacts(0, 0, 0, 0))) == data
    await store.close()
    # The two that nobody took up are purged at once, and leave the disk.
    store = await place.open()
    await store.purged()
    await store.close()
    assert 1_000_000 < place.size_bytes() < 1_150_000


async def test_a_large_body_is_kept_by_its_row_and_found_by_no_hash(store: Store, log: Log) -> None:
    session = await log.session()
    bodies = [await store.stage(1, sha(TEXT), TEXT, text=True) for _ in range(2)]
    for staged in bodies:
        record = log.next_result(session)
        record.own = staged
        await log.append(record)
    row = await result_row(store, session, 2)
    assert row.content == ContentFacts(bodies[1].content, len(TEXT), 60_000, len(TEXT.decode()))
    assert row.body is None
    assert await store.look(lambda reader: reader.content(1, sha(TEXT))) is None


async def test_a_body_shared_with_an_earlier_result_is_kept_once(store: Store, log: Log) -> None:
    session = await log.session()
    await log.result(session, b"the body")
    recall = log.next_result(session)
    recall.kind, recall.root = "recall", 1
    await log.append(recall)
    row = await result_row(store, session, 2)
    assert (row.kind, row.root, row.body, row.content) == ("recall", 1, None, None)


async def test_a_change_holds_both_its_contents(store: Store, log: Log) -> None:
    session = await log.session()
    record = log.next_result(session)
    record.body = b"@@ -1 +1 @@"
    record.contents = (FileContent(sha(b"old"), b"old"), FileContent(sha(b"new"), b"new"))
    await log.append(record)
    for data in (b"old", b"new"):
        facts = await content_facts(store, sha(data))
        assert await store.look(partial(whole, content=facts)) == data
    assert (await result_row(store, session, 1)).body == b"@@ -1 +1 @@"


async def large(store: Store, log: Log, data: bytes) -> ContentFacts:
    assert len(data) >= LARGE_BYTES
    await log.read(await log.session(), sha(data), await store.stage(1, sha(data), data, text=False))
    return await content_facts(store, sha(data))


async def test_windows_of_lines_are_exact_wherever_they_lie(store: Store, log: Log) -> None:
    facts = await large(store, log, TEXT)
    lines = TEXT.splitlines(keepends=True)

    def look(reader: Reader) -> None:
        for first in (1, 2, 999, 10_000, 29_999, 58_001, 59_999, 60_000):
            for last in (first, first + 1, first + 1999):
                assert reader.lines(facts, first, last) == b"".join(lines[first - 1 : last]), (first, last)
        assert reader.lines(facts, 60_001, 60_001) == b""
        assert reader.lines(facts, 1, 10**12) == TEXT
        assert reader.part(facts, 0, 3) == b"lin"
        assert reader.part(facts, 500_000, 700_000) == TEXT[500_000:700_000]
        assert reader.part(facts, len(TEXT) - 3, len(TEXT) + 3) == TEXT[-3:]

    await store.look(look)


async def test_small_content_gives_the_same_windows(store: Store, log: Log) -> None:
    await log.read(await log.session(), sha(b"one\ntwo\nthree"), b"one\ntwo\nthree")
    facts = await content_facts(store, sha(b"one\ntwo\nthree"))

    def look(reader: Reader) -> None:
        assert reader.lines(facts, 1, 1) == b"one\n"
        assert reader.lines(facts, 2, 3) == b"two\nthree"
        assert reader.lines(facts, 4, 9) == b""
        assert reader.part(facts, 4, 7) == b"two"
        assert reader.piece(facts, 2, 2, 1, 100) == (b"wo\n", False)

    await store.look(look)


async def test_pieces_join_to_the_lines_and_never_cut_a_character(store: Store, log: Log) -> None:
    facts = await large(store, log, TEXT)
    wanted = b"".join(TEXT.splitlines(keepends=True)[19_999:50_000])

    def look(reader: Reader) -> list[bytes]:
        pieces: list[bytes] = []
        from_char, more = 0, True
        while more:
            piece, more = reader.piece(facts, 20_000, 50_000, from_char, 65_537)
            assert 65_537 - 4 < len(piece) <= 65_537 or not more
            from_char += len(piece.decode())
            pieces.append(piece)
        return pieces

    assert b"".join(await store.look(look)) == wanted
    assert await store.look(lambda reader: reader.piece(facts, 20_000, 50_000, 10**12, 99)) == (b"", False)
    assert await store.look(lambda reader: reader.piece(facts, 60_001, 60_001, 0, 99)) == (b"", False)


@pytest.mark.parametrize("character", ["x", "☃", "😀"])
async def test_a_giant_line_is_cut_anywhere(store: Store, log: Log, character: str) -> None:
    size = len(character.encode())
    data = ("head\n" + character * 700_000 + "\n").encode()
    facts = await large(store, log, data)
    assert (facts.lines, facts.chars) == (2, 700_006)

    def look(reader: Reader) -> None:
        assert reader.piece(facts, 2, 2, 0, 4) == (character.encode() * (4 // size), True)
        assert reader.piece(facts, 2, 2, 650_000, 40) == (character.encode() * (40 // size), True)
        assert reader.piece(facts, 2, 2, 699_999, 9) == ((character + "\n").encode(), False)
        assert reader.piece(facts, 1, 2, 5, 4) == (character.encode() * (4 // size), True)
        assert reader.piece(facts, 2, 2, 700_001, 9) == (b"", False)
        assert reader.lines(facts, 2, 2) == data[5:]

    await store.look(look)


async def test_bytes_that_are_no_text_come_back_exactly(store: Store, log: Log) -> None:
    data = random.Random(3).randbytes(700_000)
    facts = await large(store, log, data)
    shown = data.decode("utf-8", "replace")
    assert (facts.lines, facts.chars) == (data.count(b"\n") + (not data.endswith(b"\n")), len(shown))

    def look(reader: Reader) -> None:
        assert reader.whole(facts) == data
        lines = data.split(b"\n")
        assert reader.lines(facts, 1000, 1009) == b"\n".join(lines[999:1009]) + b"\n"
        assert reader.part(facts, 262_140, 262_150) == data[262_140:262_150]

    await store.look(look)


async def test_records_go_between_the_pieces_of_large_content(store: Store, log: Log) -> None:
    session = await log.session()
    data = random.Random(4).randbytes(12_000_000)
    staging = asyncio.ensure_future(store.stage(1, sha(data), data, text=False))
    between = 0
    while not staging.done():
        await log.result(session)
        between += 1
    assert between >= 3
    await staging


async def test_staged_content_that_no_record_took_up_is_gone_after_a_restart(place: Place) -> None:
    data = random.Random(5).randbytes(3_000_000)
    store = await place.open()
    await store.stage(1, sha(data), data, text=False)
    await store.close()
    assert place.size_bytes() > 3_000_000
    for n in range(4):
        store = await place.open()
        await asyncio.sleep(0.2)
        other = random.Random(n).randbytes(2_900_000)
        await store.stage(1, sha(other), other, text=True)
        await store.close()
    assert place.size_bytes() < 6_500_000
