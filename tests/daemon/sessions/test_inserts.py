"""Text results as they are inserted: the text, its number, and what is stored."""

from __future__ import annotations

import pytest

from tests.daemon.office import Office, text
from tests.daemon.sessions.stored import shown
from waybread_daemon.store.contract import LARGE_BYTES


async def test_a_text_goes_in_as_it_came_behind_its_id(office: Office) -> None:
    for number, body in enumerate(["out", "  a\r\n\n", "\n", "é\u2028€😀", "\x00\x1b[0m", ""], 1):
        inserted = await office.insert(text(f"k{number}", body))
        assert inserted.text == f"[#{number:04x}]" + (f"\n{body}" if body else "")
        assert (inserted.result, inserted.seq) == (f"#{number:04x}", number + 1)
        assert (inserted.stub_of, inserted.capped, inserted.repeated) == (None, False, False)
        if body:
            assert await shown(office, inserted.result) == body


@pytest.mark.parametrize("size", [LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1])
@pytest.mark.parametrize("letters", ["x", "line of text\n", "é€😀\n"])
async def test_results_around_the_size_from_which_they_are_staged_are_capped_and_stored_alike(
    office: Office, size: int, letters: str
) -> None:
    body = (letters * (size // len(letters.encode()) + 1)).encode()[:size].decode("utf-8", "ignore")
    body += "." * (size - len(body.encode()))
    inserted = await office.insert(text("k", body))
    assert inserted.capped is True
    assert inserted.text.startswith("[#0001]\n" + body[:800])
    assert f" lines elided, full output {inserted.result}]" in inserted.text
    assert await shown(office, "#0001") == body
    again = await office.insert(text("k", body))
    assert (again.repeated, again.text) == (True, inserted.text)
    await office.restart()
    assert await shown(office, "#0001") == body
    assert (await office.insert(text("k", body))).text == inserted.text


async def test_a_search_of_the_same_call_and_text_is_a_stub_and_other_tools_never_are(office: Office) -> None:
    first = await office.insert(text("1", "x.py:1", tool="grep", args={"p": "x", "n": 1}))
    stub = await office.insert(text("2", "x.py:1", tool="grep", args={"n": 1.0, "p": "x"}))
    assert (stub.text, stub.stub_of) == ("[#0002] Same result as #0001.", first.result)
    assert await shown(office, "#0002") == "x.py:1"
    for tool, target in (("list", "#0003"), ("glob", "#0005"), ("search", "#0007")):
        assert (await office.insert(text(f"{tool} one", "same", tool=tool))).stub_of is None
        assert (await office.insert(text(f"{tool} two", "same", tool=tool))).stub_of == target
    for tool in ("bash", "Grep", "grep ", ""):
        await office.insert(text(f"{tool} one", "same", tool=tool))
        assert (await office.insert(text(f"{tool} two", "same", tool=tool))).stub_of is None


async def test_a_search_that_is_an_error_is_no_stub_and_no_target(office: Office) -> None:
    await office.insert(text("1", "no such folder", tool="grep", error=True))
    second = await office.insert(text("2", "no such folder", tool="grep"))
    assert second.text == "[#0002]\nno such folder"
    third = await office.insert(text("3", "no such folder", tool="grep", error=True))
    assert third.text == "[#0003]\nno such folder"
    assert (await office.insert(text("4", "no such folder", tool="grep"))).stub_of == "#0002"


async def test_a_large_search_twice_is_a_stub_whose_body_is_shown_in_full(office: Office) -> None:
    body = "hit\n" * (LARGE_BYTES // 4)
    await office.insert(text("1", body, tool="grep"))
    stub = await office.insert(text("2", body, tool="grep"))
    assert (stub.text, stub.capped) == ("[#0002] Same result as #0001.", False)
    assert await shown(office, "#0002") == body
