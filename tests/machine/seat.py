"""A device at the machine: its links to the daemon beside the plain world that it has to be equal to."""

from __future__ import annotations

from typing import Any

from tests.daemon.wire import MSGPACK
from tests.differential.steps import Step
from tests.limits.watched import new_account, revoke
from tests.machine.acts import KEYED, request_of
from tests.machine.house import House, Line
from tests.machine.world import Map, Wanted, World, check_entries, check_entry
from tests.model.texts import sha256_of


class Seat:
    """`line` works, `watch` follows."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.world = World()
        self.codec = MSGPACK
        self.account = new_account(house.data)
        self.watcher = new_account(house.data, "viewer", self.account.device)
        self.line, self.watch = Line(house), Line(house, slow=True)
        self.following: str | None = None
        """The session that `watch` follows, empty for all, None where it does not follow."""
        self.cursor = 0
        self.epoch = ""
        self.lagged = 0
        self.answered: list[tuple[str, Map, Map]] = []
        """Keyed requests, with the session and the answer that they got at first."""
        self.link()

    # --- Links -------------------------------------------------------------------------------------------------------

    def link(self) -> None:
        """Both links anew; the follow goes on from its cursor."""
        self.link_line()
        welcome = self.watch.open(self.watcher.token, self.codec)
        assert (welcome["type"], welcome["role"], welcome["head"]) == ("welcome", "viewer", self.world.head)
        self.epoch = welcome["epoch"]
        self.follow_again(self.cursor)

    def link_line(self) -> None:
        welcome = self.line.open(self.account.token, self.codec)
        assert (welcome["type"], welcome["device"]) == ("welcome", self.account.device.device), welcome

    def cut(self) -> None:
        self.line.cut()
        self.watch.cut()

    def revoke(self) -> None:
        """The token ends, and the link with it; another token of the device takes its place. The watcher's goes on."""
        old = self.account
        revoke(self.house.data, old)
        assert self.line.close_code() == 4403
        refused = self.line.open(old.token, self.codec)
        assert (refused["code"], self.line.close_code()) == ("unauthenticated", 4401)
        self.account = new_account(self.house.data, "device", old.device)
        self.link_line()

    # --- Requests ----------------------------------------------------------------------------------------------------

    def do(self, name: str, step: Step) -> None:
        """Carries a step out here and there and compares."""
        request = request_of(step, name)
        got = self.line.ask(request)
        if got.get("code") == "content_needed":
            self._check_needed(step, got)
            # The same key: an error leaves it free, and the content makes it no other request.
            request = {**request_of(step, name, whole=True), **({"key": request["key"]} if "key" in request else {})}
            got = self.line.ask(request)
        self.compare(name, step, request, got)
        self.drain()

    def _check_needed(self, step: Step, got: Map) -> None:
        assert step.form == "hash"
        sides = [change[side] for change in step.fields.get("changes", ()) for side in ("before", "after")]
        contents = [side for side in (*sides, step.fields.get("content")) if side is not None]
        needed = set(got["needed"])
        assert needed
        assert needed <= {sha256_of(content) for content in contents}
        assert not any(self.world.holds(sha256) for sha256 in needed), "it has what it asks for"

    def compare(self, name: str, step: Step, request: Map, got: Map, *, repeated: bool = False) -> None:
        """What came against what had to come. `repeated`: it may have been carried out before."""
        wanted = self.world.apply(name, step)
        if isinstance(wanted, str):
            assert (got["type"], got.get("code")) == ("error", wanted), got
            return
        self._same(got, wanted, repeated=repeated)
        if step.do in KEYED:
            self.answered.append((name, request, {**got, "repeated": True}))

    def _same(self, got: Map, wanted: Wanted, *, repeated: bool) -> None:
        passed_over = {"re", "repeated"} if repeated else {"re"}
        shown = {key: value for key, value in got.items() if key not in passed_over}
        assert shown == {key: value for key, value in wanted.answer.items() if key not in passed_over}

    def again(self, index: int) -> None:
        """A keyed request of long ago once more: its first answer, or that its session is gone."""
        name, request, first = self.answered[index % len(self.answered)]
        got = self.line.ask(request)
        if self.world.sessions[name].gone:
            assert got.get("code") == "gone", got
        else:
            assert {**got, "re": 0} == {**first, "re": 0}

    def with_its_key(self, index: int) -> None:
        """Another request under a key that was used."""
        name, request, _ = self.answered[index % len(self.answered)]
        got = self.line.ask(
            {"type": "message", "session": name, "key": request["key"], "role": "user", "text": "other"}
        )
        assert got.get("code") == ("gone" if self.world.sessions[name].gone else "key_conflict"), got

    # --- Lost answers ------------------------------------------------------------------------------------------------

    def drop(self, acts: list[tuple[str, Step]], heard: int, how: str) -> None:
        """Sends requests, hears some answers, and loses the link or the daemon. Then it sends all of them again."""
        requests = [request_of(step, name) for name, step in acts]
        ids = self.line.send_all(requests)
        first = self.line.answers(ids, min(heard, len(ids)))
        before = self.world.head
        self.line.cut()
        if how == "kill":
            self.house.kill()
        elif how == "restart":
            self.house.restart()
        self.link_line()
        again = self.line.send_all(requests)
        heard_again = self.line.answers(again, len(again))
        answers = [heard_again[number] for number in again]
        for number, answer in zip(ids, answers, strict=True):
            if number in first:
                acknowledged = {**first[number], "re": 0}
                expected = acknowledged if answer["type"] == "error" else {**acknowledged, "repeated": True}
                assert {**answer, "re": 0} == expected, "an answer that was heard is not what is there"
        for index in self._in_order_of_the_log(acts, answers, before):
            name, step = acts[index]
            self.compare(name, step, requests[index], answers[index], repeated=True)

    def _in_order_of_the_log(self, acts: list[tuple[str, Step]], answers: list[Map], before: int) -> list[int]:
        """Sessions overtake one another: the numbers say in which order the requests were carried out."""
        places: list[tuple[int, int]] = []
        last: dict[str, int] = {}
        done_now: set[str] = set()
        # The same turn may be begun twice among them: the second has the number of the first.
        taken: set[int] = set()
        for index, ((name, _), answer) in enumerate(zip(acts, answers, strict=True)):
            seq = int(answer.get("seq", 0))
            if seq > before and seq not in taken:
                taken.add(seq)
                assert seq > last.get(name, 0), "requests of one session were carried out in another order"
                last[name] = seq
                if not answer["repeated"]:
                    done_now.add(name)
                assert not (answer["repeated"] and name in done_now), "one was left out that came before"
            places.append((last.get(name, before), index))
        return [index for _, index in sorted(places)]

    # --- Following ---------------------------------------------------------------------------------------------------

    def follow(self, session: str, after: int) -> None:
        """Pages from a cursor to the end, then pushes. What is answered by an error leaves an earlier follow as it is."""
        earlier = self.following, self.cursor
        self.following, self.cursor = session, after
        more = True
        while more:
            request: Map = {"type": "sync", "after": self.cursor, "session": session, "follow": True}
            page = self.watch.ask({**request, "epoch": self.epoch if self.cursor else ""})
            if page["type"] == "error":
                known = self.world.sessions.get(session)
                assert page["code"] == ("unknown_session" if known is None else "gone"), page
                self.following, self.cursor = earlier
                return
            entries = [entry for entry in self.world.entries(self.cursor, session) if entry["seq"] <= page["next"]]
            check_entries(page["entries"], entries)
            assert page["head"] == self.world.head
            self.cursor, more = page["next"], page["more"]
        assert self.cursor == self.world.head

    def follow_again(self, after: int) -> None:
        """The same follow, which the daemon or its connection ended."""
        session, self.following = self.following, None
        if session is not None:
            self.follow(session, after)

    def unfollow(self) -> None:
        assert self.watch.ask({"type": "unfollow"})["type"] == "done"
        self.following = None
        assert self.watch.wire.pushed == []

    def drain(self) -> None:
        """Takes the pushes that have to come: none twice, none left out. Where it lags it syncs."""
        if self.following is None:
            return
        for entry in self.world.entries(self.cursor, self.following):
            if entry["seq"] <= self.cursor:
                continue
            push = self.watch.push()
            if push["type"] == "lagged":
                self.lagged += 1
                # What it names was pushed, or is no entry of what is followed.
                assert self.cursor <= push["next"] < entry["seq"]
                self.follow_again(push["next"])
                return
            check_entry(push["entry"], entry)
            self.cursor = entry["seq"]
        self.cursor = self.world.head

    # --- Looks -------------------------------------------------------------------------------------------------------

    def look(self, name: str) -> None:
        """Everything that can be seen of a session, and the device's list of sessions."""
        session = self.world.sessions[name]
        reads = self.line.ask({"type": "reads", "session": name})
        history = self.line.ask({"type": "history", "session": name, "limit": 5})
        if session.gone:
            assert (reads.get("code"), history.get("code")) == ("gone", "gone")
        else:
            assert reads["reads"] == [vars(row) for row in session.model.reads()]
            mine = self.world.entries(0, name)
            check_entries(history["entries"], mine[len(mine) - len(history["entries"]) :])
            assert len(history["entries"]) == min(5, len(mine)) or history["more"]
            assert history["next"] == (history["entries"][0]["seq"] if history["more"] else 0)
        listed = self.line.ask({"type": "sessions"})
        rows = [(row["session"], row["kind"], row["title"], row["results"], row["head"]) for row in listed["sessions"]]
        known = [(key, one) for key, one in self.world.sessions.items() if not one.gone]
        known.sort(key=lambda pair: -pair[1].head)
        assert rows == [(key, one.kind, one.title, one.model.results, one.head) for key, one in known]

    def show(self, name: str, fields: dict[str, Any]) -> None:
        """A piece of a stored body."""
        got = self.line.ask({"type": "show", "session": name, **fields})
        wanted = self.world.show(name, fields)
        if isinstance(wanted, str):
            assert got.get("code") == wanted, got
            return
        told = {key: got[key] for key in ("result", "first", "last", "lines")}
        assert told == {key: getattr(wanted, key) for key in told}
        assert wanted.text.startswith(got["text"])
        assert got["next_char"] == (None if got["text"] == wanted.text else len(got["text"]))

    def check_log(self) -> None:
        """The whole log by pages, and each text that was cut in full."""
        page: Map = {"next": 0, "more": True, "epoch": ""}
        entries: list[Map] = []
        while page["more"]:
            page = self.line.ask({"type": "sync", "after": page["next"], "epoch": page["epoch"]})
            entries += page["entries"]
        check_entries(entries, self.world.entries())
        assert page["next"] == page["head"] == self.world.head
        cut = [entry for entry in entries if len(entry["text"]) < entry["text_chars"]]
        for entry in cut[:2]:
            seq, begun = int(entry["seq"]), str(entry["text"])
            piece = self.line.ask({"type": "entry_text", "seq": seq, "from_char": len(begun)})
            whole = self.world.lines[seq - 1]
            assert whole is not None
            assert str(whole["text"]).startswith(begun + piece["text"])
