"""Changes as they are inserted: diffs, sentences and brackets, and the contents that they bring."""

from __future__ import annotations

from tests.daemon.office import Office, change, change_of, read
from tests.daemon.sessions.stored import LINES, sha, shown
from tests.model import patch
from waybread_daemon.store.contract import LARGE_BYTES
from waybread_protocol.messages import Content, Inserted, Show, Shown


async def test_an_edit_answers_with_its_diff_a_creation_with_a_sentence_a_deletion_with_its_bracket(
    office: Office,
) -> None:
    edited = await office.insert(change("1", change_of("a.py", "one\ntwo\n", "one\n2\n")))
    assert edited.text == f"[#0001 a.py sha {sha(chr(10).join(['one', '2', '']))[:8]}]\n@@ -1,2 +1,2 @@\n one\n-two\n+2"
    created = await office.insert(change("2", change_of("b.md", None, "x\ny")))
    assert created.text == f"[#0002 b.md sha {sha('x' + chr(10) + 'y')[:8]}] Created, 2 lines."
    deleted = await office.insert(change("3", change_of("old.md", "x\n", None)))
    assert deleted.text == "[#0003 old.md deleted]"
    nothing = await office.insert(change("4", change_of("same", "x", "x")))
    assert nothing.text == f"[#0004 same sha {sha('x')[:8]}]"
    bodies = [await shown(office, f"#{number:04x}") for number in (1, 2)]
    assert bodies == ["@@ -1,2 +1,2 @@\n one\n-two\n+2", "Created, 2 lines."]
    for number in (3, 4):
        assert (await office.ask(Show(id=1, session="s", result=f"#{number:04x}"), Shown)).lines == 0


async def test_a_patch_over_several_files_answers_with_each_files_bracket_and_a_note_at_the_end(
    office: Office,
) -> None:
    inserted = await office.insert(
        change(
            "k",
            change_of("a", "1\n", "2\n"),
            change_of("new", None, ""),
            change_of("old", "x", None),
            note="mind\nthis",
        )
    )
    wanted = (
        f"[a sha {sha('2' + chr(10))[:8]}]\n@@ -1 +1 @@\n-1\n+2\n[new sha {sha('')[:8]}] Created, 0 lines.\n"
        "[old deleted]\nmind\nthis"
    )
    assert inserted.text == f"[#0001]\n{wanted}"
    assert await shown(office, "#0001") == wanted


async def test_a_move_sends_its_content_once_and_its_hash_the_second_time(office: Office) -> None:
    for number, data in enumerate((LINES, "moved\n" * LARGE_BYTES), 1):
        by_hash = Content(sha256=sha(data))
        moved = await office.insert(
            change(f"k{number}", change_of(f"old{number}", data, None), change_of(f"new{number}", None, by_hash))
        )
        lines = data.count("\n")
        assert moved.text == (
            f"[#{number:04x}]\n[old{number} deleted]\n[new{number} sha {sha(data)[:8]}] Created, {lines} lines."
        )
    both = await office.insert(
        change("3", change_of("x", None, Content(sha256=sha("tail\n"))), change_of("y", "tail\n", None))
    )
    assert both.text.endswith("[y deleted]")
    for data in (LINES, "tail\n"):
        assert (await office.insert(read(sha(data), Content(sha256=sha(data)), 1, 1))).stub_of is None


async def test_every_hash_that_a_change_needs_is_listed_once(office: Office) -> None:
    one, two, three = (Content(sha256=digit * 64) for digit in "123")
    await office.insert(read("known", LINES))
    request = change(
        "k", change_of("a", one, two), change_of("b", two, Content(sha256=sha(LINES))), change_of("c", None, three)
    )
    assert (await office.error(request, "content_needed")).needed == ["1" * 64, "2" * 64, "3" * 64]


async def test_a_large_change_is_staged_capped_and_shown_in_full_and_applies(office: Office) -> None:
    before = "".join(f"{number} before\n" for number in range(30_000))
    after = "".join(f"{number} after\n" for number in range(30_000))
    inserted = await office.insert(change("k", change_of("a", before, after), note="a note"))
    assert inserted.capped is True
    assert inserted.text.endswith("\na note")
    body = await shown(office, "#0001")
    assert len(body.encode()) > LARGE_BYTES
    hunks, _, note = body.rpartition("\n")
    assert note == "a note"
    patch.check(before.encode(), after.encode(), hunks)
    await office.restart()
    assert (await office.insert(change("k", change_of("a", before, after), note="a note"))).text == inserted.text


async def test_a_change_is_no_read_and_no_stubs_target(office: Office) -> None:
    await office.insert(change("1", change_of("a.py", "old\n", LINES)))
    inserted = await office.ask(read("2", LINES, absolute="/x/a.py"), Inserted)
    assert inserted.stub_of is None
