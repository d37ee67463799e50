"""The demo's story: what a harness does in a session, step by step, and what the model gets for it."""

from __future__ import annotations

from collections.abc import Sequence

from waybread_client import Backoff, Change, Link, Session
from waybread_daemon.cli.demo.child import Daemon
from waybread_daemon.cli.demo.files import Files
from waybread_daemon.cli.demo.show import Show
from waybread_daemon.cli.faults import CommandFault
from waybread_protocol.loop import CONTEXT
from waybread_protocol.messages import Inserted

SESSION = "demo"
CONNECT_TIMEOUT_S = 15

_RULES = "waybread_daemon/hygiene"
_READ = f"{_RULES}/session.py"
_PATCHED = f"{_RULES}/ids.py"
_DELETED = f"{_RULES}/repeat.py"
_UNDONE = f"{_RULES}/cap.py"
_IMPORT = "from __future__ import annotations\n"
_PATTERN = r"\braise \w+"

_READS = "reads"
_SEARCHES = "searches"
_COMMANDS = "commands"
_CHANGES = "edits, writes and patches"
_RECALLS = "recalls (what comes again costs again)"
_TOLD = "what the model is told once"
_TABLE = "the table after the summary"


async def tell(daemon: Daemon, token: str, files: Files, show: Show) -> None:
    """Links a device and works in one session until its end. The daemon runs before and after.

    Raises `CommandFault` where an answer is not what the story promises, and `LinkError`.
    """
    # Short waits: the restart in the middle is a matter of moments.
    link = Link(daemon.url, token, client="waybread-demo", backoff=Backoff(0.05, 0.3))
    try:
        welcome = await link.connect(CONNECT_TIMEOUT_S)
        show.say(f"The device {welcome.name!r} is linked to {welcome.server}.")
        session = await link.open(SESSION, "agent", title="waybread demo", directory=str(files.folder))
        story = _Story(link, session, files, show)
        await story.told()
        await story.reads()
        await story.changes()
        await story.searches()
        kept = await story.commands()
        await story.taken_back()
        await story.restart(daemon, kept)
        await story.compaction(kept)
    finally:
        await link.close()


class _Story:
    def __init__(self, link: Link, session: Session, files: Files, show: Show) -> None:
        self.link = link
        self.session = session
        self.files = files
        self.show = show

    async def told(self) -> None:
        description = await self.link.describe()
        self.show.chapter("What the model is told, once a session")
        self.show.answer(_TOLD, "the block on context", 0, description.prompt.removesuffix("\n"))

    async def reads(self) -> None:
        self.show.chapter("Turn 1: reading")
        await self.session.turn("1")
        await self.session.message("user", "How are the rules kept together? Tidy the module up.")
        first = await self.read(_READ, 1, 120)
        self.show.say("The same lines, or some of them, once more: a stub stands for them.")
        again = await self.read(_READ, 40, 41)
        _expect(again.stub_of == first.result, "an unchanged re-read is a stub")
        self.show.say("Lines that reach past what was shown come in full.")
        past = await self.read(_READ, 100, 60)
        _expect(past.stub_of is None, "a range reaching past the earlier read is read in full")

    async def changes(self) -> None:
        self.show.chapter("Turn 1: changing")
        edited = self.files.replace(_READ, _IMPORT, f"{_IMPORT}\nDEMO = True\n")
        inserted = await self.change("edit", [edited])
        _expect("+DEMO = True" in inserted.text, "an edit answers with its diff")
        self.show.say("The file changed, so the same range is read in full again.")
        after = await self.read(_READ, 1, 120)
        _expect(after.stub_of is None, "a changed file is read in full")
        self.show.say("A new file's text is the model's own: it need not come back.")
        created = await self.change("write", [self.files.create("NOTES.md", "# Notes\n\nThe rules are pure.\n")])
        _expect(CONTEXT.texts.created.format(lines=3) in created.text, "a new file is answered by its length")
        patch = [
            self.files.replace(_PATCHED, _IMPORT, f"{_IMPORT}\nfrom functools import cache\n"),
            self.files.create(f"{_RULES}/notes.py", '"""Where the notes go."""\n'),
            self.files.delete(_DELETED),
        ]
        patched = await self.change("apply_patch", patch)
        _expect(CONTEXT.texts.patched_deleted.format(path=_DELETED) in patched.text, "a patch names each of its files")

    async def searches(self) -> None:
        self.show.chapter("Turn 1: searching")
        first = await self.search()
        self.show.say("The same search again: it is run again, and as its result is the same, a stub says so.")
        again = await self.search()
        _expect(again.stub_of == first.result, "the same search with the same result is a stub")

    async def commands(self) -> tuple[str, str, Inserted]:
        self.show.chapter("Turn 1: a command with large output")
        output = await self.files.run("-m", "tokenize", _READ)
        key = self.link.keys.new()
        command = f"python -m tokenize {_READ}"
        inserted = await self.session.result("bash", {"command": command}, output, key=key)
        self.show.answer(_COMMANDS, f"bash {command}", len(output), inserted.text)
        _expect(inserted.capped, "large output keeps its head and tail")
        self.show.say("What was left out is stored. The model recalls as much of it as it wants.")
        await self.recall(inserted.result, 800, 5)
        return key, output, inserted

    async def taken_back(self) -> None:
        self.show.chapter("Turn 2, and its undo")
        await self.session.turn("2")
        undone = await self.read(_UNDONE, 1, 40)
        await self.session.take_back(["2"])
        self.show.say(
            "The person takes turn 2 back. Its results are no longer in front of the model, so no stub names them."
        )
        await self.session.turn("3")
        again = await self.read(_UNDONE, 1, 40)
        _expect(undone.stub_of is None and again.stub_of is None, "a turn taken back takes its reads with it")

    async def restart(self, daemon: Daemon, kept: tuple[str, str, Inserted]) -> None:
        key, output, first = kept
        self.show.chapter("The daemon restarts")
        status = await daemon.stop()
        _expect(status == 0, "SIGTERM ends the daemon with status 0")
        await daemon.start()
        self.show.say(
            f"It ended with status {status} and runs again. The client links again by itself; every id holds."
        )
        await self.recall(first.result, 1200, 3)
        command = f"python -m tokenize {_READ}"
        retried = await self.session.result("bash", {"command": command}, output, key=key)
        _expect(retried.repeated and retried.text == first.text, "a key sent again gets the first answer")
        self.show.say(
            f"The command's result, sent once more with its key, is answered by the very text of {retried.result} "
            "(repeated: true); nothing was inserted twice."
        )
        stub = await self.read(_READ, 30, 20)
        _expect(stub.stub_of is not None, "what the request carries is known after a restart")

    async def compaction(self, kept: tuple[str, str, Inserted]) -> None:
        self.show.chapter("A compaction")
        self.show.say("The harness replaces the history by a summary. Behind it goes the table of what was read:")
        compacted = await self.session.compact()
        self.show.answer(_TABLE, "compact", 0, compacted.table)
        _expect(f"| {_UNDONE} |" in compacted.table, "the table names the files read")
        await self.session.message("summary", "The rules are a fold over events. ids.py and session.py were changed.")
        self.show.say("Nothing read before is in front of the model any more: the next read is in full, with no stub.")
        read = await self.read(_READ, 30, 20)
        _expect(read.stub_of is None, "a read after a compaction is a full read")
        self.show.say("Earlier ids can still be recalled.")
        await self.recall(kept[2].result, 1, 3)

    async def read(self, path: str, offset: int, limit: int) -> Inserted:
        args = {"path": path, "offset": offset, "limit": limit}
        absolute = self.files.absolute(path)
        inserted = await self.session.read(path, absolute, self.files.read(path), offset, limit, args=args)
        # The stored body is what the tool would have shown: the lines asked for, in full.
        body = await self.session.show_all(inserted.result)
        self.show.answer(_READS, f"read {path} from line {offset}, {limit} lines", len(body), inserted.text)
        return inserted

    async def change(self, tool: str, changes: Sequence[Change]) -> Inserted:
        args = {"paths": [change.path for change in changes]}
        inserted = await self.session.change(changes, tool=tool, args=args)
        sent = sum(len(change.after.decode()) for change in changes if change.after is not None)
        self.show.answer(_CHANGES, f"{tool} {', '.join(args['paths'])}", sent, inserted.text)
        return inserted

    async def search(self) -> Inserted:
        found = self.files.search(_PATTERN, "waybread_daemon")
        inserted = await self.session.result("grep", {"pattern": _PATTERN, "path": "waybread_daemon"}, found)
        self.show.answer(_SEARCHES, f"grep {_PATTERN} waybread_daemon", len(found), inserted.text)
        return inserted

    async def recall(self, result: str, offset: int, limit: int) -> None:
        inserted = await self.session.recall(result, offset, limit)
        self.show.answer(_RECALLS, f"recall {result} from line {offset}, {limit} lines", 0, inserted.text)
        _expect(f"recall {result} lines {offset}-" in inserted.text, "every stored result can be recalled")


def _expect(held: bool, promise: str) -> None:
    if not held:
        raise CommandFault(f"the demo found a promise broken: {promise}. Please report it with the output above")
