"""A session as a harness uses it: each tool result goes in, the text for the model comes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from waybread_client.clean import clean, clean_args
from waybread_client.content import Change, hash_of, whole, window_of
from waybread_client.errors import Refused
from waybread_protocol.errors import ErrorCode
from waybread_protocol.limits import MessageRole
from waybread_protocol.loop import CONTEXT
from waybread_protocol.messages import (
    Body,
    Carry,
    ChangeBody,
    Compact,
    Compacted,
    Content,
    Delete,
    Done,
    FileChange,
    History,
    Inserted,
    Message,
    Opened,
    Page,
    ReadBody,
    ReadList,
    ReadRow,
    Reads,
    Recall,
    Result,
    Show,
    Shown,
    TakeBack,
    TextBody,
    Turn,
)

if TYPE_CHECKING:
    from waybread_client.link import Link

_WINDOW_LINES = CONTEXT.recall.window_lines


class Session:
    """One session of the device; `Link.open` makes it.

    Every method waits for the daemon's answer, through lost connections where it must, and then what it did is durable.
    What is done has a fresh key, so that it is never done twice; `key` is for a caller that tries again by itself, after
    it was cancelled, and wants the first try's answer if there was one. Calls are carried out in their order.

    All raise `Refused` (nothing was changed) and `LinkEnded`.
    """

    def __init__(self, link: Link, opened: Opened) -> None:
        self.link = link
        self.opened = opened
        """The daemon's answer: whether the session is new, the last number given, the current turn."""

    @property
    def session(self) -> str:
        """The session's id."""
        return self.opened.session

    # --- Results -----------------------------------------------------------------------------------------------------

    async def read(
        self,
        path: str,
        absolute: str,
        content: bytes,
        offset: int = 1,
        limit: int = CONTEXT.read.window_lines,
        *,
        tool: str = "read",
        args: Mapping[str, Any] | None = None,
        call: str = "",
        key: str = "",
    ) -> Inserted:
        """A file that was read: `path` as the call gave it, `absolute` resolved, `content` all of the file.

        First only the hash is sent: an unchanged file is answered by it alone. Content follows when the daemon asks for
        it, or the lines asked for alone where the file is larger than what the daemon takes. Context hygiene, section 2.
        """
        sha256 = await hash_of(content)
        key = key or self.link.keys.new()
        arguments = clean_args(args or {})

        def request(carried: Content) -> Result:
            body = ReadBody(path=clean(path), absolute=clean(absolute), offset=offset, limit=limit, content=carried)
            return self._result(key, tool, arguments, body, call)

        try:
            return await self.link.ask(request(Content(sha256=sha256)), Inserted)
        except Refused as refused:
            if refused.code != ErrorCode.CONTENT_NEEDED:
                raise
        again = request(whole(content, sha256))
        if not self.link.fits(again):
            again = request(await window_of(content, sha256, offset, limit))
        return await self.link.ask(again, Inserted)

    async def result(
        self,
        tool: str,
        args: Mapping[str, Any],
        text: str,
        error: bool = False,
        *,
        call: str = "",
        key: str = "",
    ) -> Inserted:
        """What any other tool answered. `error` marks a failure: it is never taken for a repeat. Sections 3 and 6."""
        body = TextBody(text=clean(text), error=error)
        return await self.link.ask(
            self._result(key or self.link.keys.new(), tool, clean_args(args), body, call), Inserted
        )

    async def change(
        self,
        changes: Sequence[Change],
        note: str = "",
        *,
        tool: str = "edit",
        args: Mapping[str, Any] | None = None,
        call: str = "",
        key: str = "",
    ) -> Inserted:
        """An edit, a write or a patch: its files in the patch's order, and a note that the tool adds. Section 5.

        What stood there before is first sent as its hash: mostly the daemon has it from the read.
        """
        befores = [None if change.before is None else await hash_of(change.before) for change in changes]
        afters = [None if change.after is None else await hash_of(change.after) for change in changes]
        key = key or self.link.keys.new()
        arguments = clean_args(args or {})

        def request(needed: frozenset[str]) -> Result:
            files = [
                FileChange(
                    path=clean(change.path),
                    absolute=clean(change.absolute),
                    before=_content(change.before, before, needed),
                    after=None if change.after is None or after is None else whole(change.after, after),
                )
                for change, before, after in zip(changes, befores, afters, strict=True)
            ]
            return self._result(key, tool, arguments, ChangeBody(changes=files, note=clean(note)), call)

        try:
            return await self.link.ask(request(frozenset()), Inserted)
        except Refused as refused:
            if refused.code != ErrorCode.CONTENT_NEEDED:
                raise
            needed = frozenset(refused.needed)
        return await self.link.ask(request(needed), Inserted)

    async def recall(
        self, result: str, offset: int = 1, limit: int = _WINDOW_LINES, *, call: str = "", key: str = ""
    ) -> Inserted:
        """A stored result once more, for the model. An id that is none is answered in text, too. Section 4."""
        return await self.link.ask(
            Recall(
                id=self.link.next_id(),
                session=self.session,
                key=key or self.link.keys.new(),
                result=clean(result),
                offset=offset,
                limit=limit,
                call=clean(call),
            ),
            Inserted,
        )

    # --- Turns and requests ------------------------------------------------------------------------------------------

    async def turn(self, turn: str) -> Done:
        """A turn begins. Its name is the caller's; a name that is in the history already changes nothing."""
        return await self.link.ask(Turn(id=self.link.next_id(), session=self.session, turn=clean(turn)), Done)

    async def carry(self, results: Literal["all", "none"] | list[str] | tuple[str, ...], *, key: str = "") -> Done:
        """Which results the request being built carries: `all`, `none`, or a list as `carried` makes it. Section 2."""
        carried = results if isinstance(results, str) else [clean(result) for result in results]
        return await self.link.ask(
            Carry(id=self.link.next_id(), session=self.session, key=key or self.link.keys.new(), results=carried), Done
        )

    async def take_back(self, turns: Iterable[str], *, key: str = "") -> Done:
        """Turns are gone from the history: an undo, a rewind, a reply regenerated or deleted. Section 7."""
        names = [clean(turn) for turn in turns]
        return await self.link.ask(
            TakeBack(id=self.link.next_id(), session=self.session, key=key or self.link.keys.new(), turns=names), Done
        )

    async def compact(self, *, key: str = "") -> Compacted:
        """A summary replaces the history: `table` of the answer goes behind it. Section 7."""
        return await self.link.ask(
            Compact(id=self.link.next_id(), session=self.session, key=key or self.link.keys.new()), Compacted
        )

    async def message(self, role: MessageRole, text: str, *, key: str = "") -> Done:
        """A line of the transcript."""
        key = key or self.link.keys.new()
        return await self.link.ask(
            Message(id=self.link.next_id(), session=self.session, key=key, role=role, text=clean(text)), Done
        )

    # --- Looks -------------------------------------------------------------------------------------------------------

    async def show(self, result: str, offset: int = 1, limit: int = _WINDOW_LINES, from_char: int = 0) -> Shown:
        """Lines of a stored result's body, exactly, without inserting anything; in pieces where they are long."""
        return await self.link.ask(
            Show(
                id=self.link.next_id(),
                session=self.session,
                result=clean(result),
                offset=offset,
                limit=limit,
                from_char=from_char,
            ),
            Shown,
        )

    async def show_all(self, result: str) -> str:
        """A stored result's whole body."""
        pieces: list[str] = []
        offset, from_char, lines = 1, 0, 1
        while offset <= lines:
            shown = await self.show(result, offset, _WINDOW_LINES, from_char)
            pieces.append(shown.text)
            lines = shown.lines
            if shown.next_char is None:
                offset, from_char = offset + _WINDOW_LINES, 0
            else:
                from_char = shown.next_char
        return "".join(pieces)

    async def reads(self) -> list[ReadRow]:
        """The newest full read of each file not taken back, oldest first."""
        answer = await self.link.ask(Reads(id=self.link.next_id(), session=self.session), ReadList)
        return answer.reads

    async def history(self, before: int = 0, limit: int = 200) -> Page:
        """The last entries whose `seq` is below `before` (0: the end); the page ahead of it is `before=page.next`."""
        return await self.link.ask(
            History(id=self.link.next_id(), session=self.session, before=before, limit=limit), Page
        )

    async def delete(self) -> Done:
        """The session and all that it stored are gone for good, and its id is never taken again."""
        return await self.link.ask(Delete(id=self.link.next_id(), session=self.session), Done)

    def _result(self, key: str, tool: str, args: dict[str, Any], body: Body, call: str) -> Result:
        return Result(
            id=self.link.next_id(),
            session=self.session,
            key=key,
            tool=clean(tool),
            args=args,
            body=body,
            call=clean(call),
        )


def _content(content: bytes | None, sha256: str | None, needed: frozenset[str]) -> Content | None:
    """The hash alone, until the daemon has asked for it."""
    if content is None or sha256 is None:
        return None
    return whole(content, sha256) if sha256 in needed else Content(sha256=sha256)
