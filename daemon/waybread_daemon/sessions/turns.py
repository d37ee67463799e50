"""What changes a session without inserting a result: open, turn, carry, take_back, compact, message, delete."""

from __future__ import annotations

import hashlib

import msgspec

from waybread_daemon.hygiene.answer import Shape
from waybread_daemon.hygiene.compaction import covered_reads, table
from waybread_daemon.hygiene.events import Carried, Compacted, Opened, Read, TakenBack, TurnBegan, encode_event
from waybread_daemon.hygiene.ids import result_id, result_number
from waybread_daemon.hygiene.session import State
from waybread_daemon.sessions.digest import request_digest
from waybread_daemon.sessions.job import Job
from waybread_daemon.sessions.live import StaleError
from waybread_daemon.store.contract import Facts, Opening, Row
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.messages import Compacted as CompactedAnswer
from waybread_protocol.messages import Done, ReadRow
from waybread_protocol.messages import Opened as OpenedAnswer

_NAME_WEIGHT_BYTES = 256
"""What one name of a list costs, as if it were so many bytes of text."""


async def open_session(job: Job) -> None:
    """Opens a session, or finds the one of that id."""
    request, session = job.request, job.session
    job.generation = job.live.generation
    known = session.known or await job.live.load(session)
    if not known:
        job.check_room()
        await job.live.load_head(job.device)
        if job.generation != job.live.generation:
            raise StaleError
        session.number = job.live.store.new_session()
        session.state = State()
        event = Opened(request.kind)
        facts = Facts(at_ms=job.services.now_ms(), session_kind=request.kind, title=request.title)
        opening = Opening(request.session, request.kind, request.title, request.directory)
        record = job.record("opened", facts, event=encode_event(event), opening=opening)
        session.state.apply(event)
        session.opened_seq = record.seq
        job.append(record, _opened(job, session.state, created=True))
        return
    state = await job.begin(changes=False)
    if state.kind != request.kind:
        raise RequestError(
            ErrorCode.KEY_CONFLICT,
            f"session {request.session!r} is of kind {state.kind!r}, not {request.kind!r}: open another under a new id",
        )
    await job.answer_when_durable(_opened(job, state, created=False))


def _opened(job: Job, state: State, *, created: bool) -> OpenedAnswer:
    return OpenedAnswer(
        re=job.request.id,
        seq=job.session.opened_seq,
        session=job.session.name,
        kind=state.kind,  # type: ignore[arg-type]  # it was one of the kinds when it was opened
        created=created,
        results=state.results,
        turn=state.turn,
    )


async def turn(job: Job) -> None:
    """Begins a turn. Its name is its key."""
    name = job.request.turn
    state = await job.begin()
    await _learn(job, [name])
    state = job.state
    stands = state.turns.get(name)
    if stands is False:
        raise RequestError(ErrorCode.KEY_CONFLICT, f"turn {name!r} was taken back: begin a turn of another name")
    if stands:
        await job.live.settle(job.session)
        number = job.session.number
        facts = await job.look(lambda reader: reader.turn(number, name))
        job.caller.answer(Done(re=job.request.id, seq=facts.seq if facts else 0, repeated=True))
        return
    job.check_room()
    event = TurnBegan(name)
    facts_of = Facts(at_ms=job.services.now_ms(), turn=name)
    record = job.record("turn", facts_of, current_turn=name, turn_begun=name, event=encode_event(event))
    state.apply(event)
    job.append(record, Done(re=job.request.id, seq=record.seq))


async def carry(job: Job) -> None:
    """Says what the request being built carries."""
    request = job.request
    state = await job.begin()
    results = request.results
    weight = _NAME_WEIGHT_BYTES * len(results)
    digest = await job.heavily(weight, lambda: request_digest("carry", results))
    if await _repeated(job, digest):
        return
    if results == "all":
        state = job.state
        event = Carried(None)
    else:
        named = await job.heavily(weight, lambda: _numbers([] if results == "none" else results))
        state = job.state
        if state.lacks_for_carrying(named):
            await job.live.load_whole(job.session)
            state = job.state
        event = Carried(state.full_answers(named))
    facts = Facts(at_ms=job.services.now_ms(), turn=state.turn, digest=digest)
    record = job.record("carry", facts, key=request.key, event=encode_event(event))
    state.apply(event)
    job.append(record, Done(re=request.id, seq=record.seq))


def _numbers(results: list[str]) -> list[int]:
    """The ids that are any, each once."""
    return sorted({number for number in map(result_number, results) if number})


async def take_back(job: Job) -> None:
    """Takes turns out of the history."""
    request = job.request
    await job.begin()
    weight = _NAME_WEIGHT_BYTES * len(request.turns)
    digest = await job.heavily(weight, lambda: request_digest("take_back", request.turns))
    if await _repeated(job, digest):
        return
    await _learn(job, request.turns)
    turns = job.state.standing(request.turns)
    if job.state.lacks_for_taking_back(turns):
        await job.live.load_whole(job.session)
    state = job.state
    event = TakenBack(turns)
    facts = Facts(at_ms=job.services.now_ms(), turn=state.turn, turns=turns, digest=digest)
    current = "" if state.turn in turns else state.turn
    record = job.record(
        "taken_back", facts, key=request.key, event=encode_event(event), current_turn=current, turns_ended=turns
    )
    state.apply(event)
    job.append(record, Done(re=request.id, seq=record.seq))


async def compact(job: Job) -> None:
    """The history is replaced by a summary: answers with the table of the reads that it covers."""
    request = job.request
    state = await job.begin()
    digest = request_digest("compact")
    row = await job.repeat_of(digest)
    if row is not None:
        rows = msgspec.msgpack.decode(row.facts.answer, type=list[ReadRow])
        job.caller.answer(
            CompactedAnswer(re=request.id, seq=row.seq, table=(row.body or b"").decode(), reads=rows, repeated=True)
        )
        return
    state = job.state
    reads = covered_reads(state)
    text = table(reads)
    event = Compacted(state.kind, state.results, state.turn)
    # The table is emptied by the compaction itself: none of these is in the request any more.
    rows = [read_row(state, read, in_request=False) for read in reads]
    job.check_fits(text + msgspec.json.encode(rows).decode())
    facts = Facts(
        at_ms=job.services.now_ms(),
        turn=state.turn,
        shape=int(Shape.WHOLE if text else Shape.BARE),
        digest=digest,
        answer=msgspec.msgpack.encode(rows),
    )
    record = job.record("compacted", facts, key=request.key, event=encode_event(event), body=text.encode())
    state.apply(event)
    job.append(record, CompactedAnswer(re=request.id, seq=record.seq, table=text, reads=rows, repeated=False))


def read_row(state: State, read: Read, *, in_request: bool) -> ReadRow:
    """A read as the wire tells of it."""
    return ReadRow(
        path=read.path,
        absolute=read.absolute,
        first=read.first,
        last=read.last,
        lines=read.lines,
        sha256=read.sha256.hex(),
        result=result_id(read.number),
        in_request=in_request,
        changed=state.changed_since(read),
    )


async def message(job: Job) -> None:
    """A line of the transcript."""
    request = job.request
    await job.begin()
    text = await job.utf8(request.text)
    sha256 = await job.heavily(len(text), lambda: hashlib.sha256(text).digest())
    digest = request_digest("message", request.role, sha256)
    if await _repeated(job, digest):
        return
    own = await job.stage_text(text)
    facts = Facts(
        at_ms=job.services.now_ms(),
        turn=job.state.turn,
        shape=int(Shape.WHOLE if text else Shape.BARE),
        role=request.role,
        digest=digest,
    )
    record = job.record("message", facts, key=request.key, body=b"" if own else text, own=own)
    job.append(record, Done(re=request.id, seq=record.seq))


async def delete(job: Job) -> None:
    """The session and all that it stored are gone."""
    session = job.session
    job.generation = job.live.generation
    if not session.known and not await job.live.load(session):
        await job.begin(changes=False)  # says that there is none
    if session.gone:
        await job.answer_when_durable(Done(re=job.request.id, seq=session.last_seq, repeated=True))
        return
    await job.live.load_head(job.device)
    record = job.record("deleted", Facts(at_ms=job.services.now_ms()))
    session.gone, session.state = True, None
    job.append(record, Done(re=job.request.id, seq=record.seq))


async def _learn(job: Job, turns: list[str]) -> None:
    unknown = job.state.lacks_turns(turns)
    if unknown:
        await job.live.learn_turns(job.session, unknown)


async def _repeated(job: Job, digest: bytes) -> bool:
    row: Row | None = await job.repeat_of(digest)
    if row is None:
        return False
    job.caller.answer(Done(re=job.request.id, seq=row.seq, repeated=True))
    return True
