"""Contents: their hashes decide, and only what this device still holds is known."""

from __future__ import annotations

from pathlib import Path

from tests.daemon.office import Office, an_office, opening, read
from tests.daemon.sessions.stored import LINES, sha
from waybread_daemon.store.contract import LARGE_BYTES
from waybread_protocol.messages import Content, Delete, Done


async def test_a_hash_that_does_not_match_its_content_is_refused_and_nothing_is_kept(office: Office) -> None:
    wrong = Content(text="\ufeffx", sha256=sha("x"))
    fault = await office.error(read("k", wrong), "hash_mismatch")
    assert sha("\ufeffx") in fault.message
    await office.error(read("k", Content(sha256=sha("\ufeffx"))), "content_needed")
    assert (await office.insert(read("k", Content(text="\ufeffx", sha256=sha("\ufeffx"))))).text.endswith("]\n1: x")


async def test_content_that_only_a_deleted_session_held_is_needed_again(tmp_path: Path) -> None:
    async with an_office(tmp_path, "s", "keeper") as office:
        for data in (LINES, "x\n" * LARGE_BYTES):
            await office.insert(read(f"1{len(data)}", data))
        await office.insert(read("kept", "kept\n", session="keeper"))
        await office.insert(read("also", "kept\n"))
        await office.ask(Delete(id=1, session="s"), Done)
        for data in (LINES, "x\n" * LARGE_BYTES):
            await office.error(read("k", Content(sha256=sha(data)), session="keeper"), "content_needed")
        assert (await office.insert(read("k", Content(sha256=sha("kept\n")), absolute="/z", session="keeper"))).text[
            -7:
        ] == "1: kept"
        again = await office.insert(read("k2", LINES, session="keeper"))
        assert again.result == "#0003"


async def test_content_of_another_device_is_not_known(office: Office) -> None:
    await office.insert(read("1", LINES))
    office.device = await office.another_device()
    await office.ask(opening("s"), object)
    await office.error(read("1", Content(sha256=sha(LINES))), "content_needed")
