"""Runs a random session against a driver and the plain model side by side, and says where they differ."""

from __future__ import annotations

from typing import Any

from tests.differential.drivers import Driver
from tests.differential.requests import request
from tests.differential.steps import Step, session
from tests.model.answers import Answer, Change, Refused
from tests.model.model import Model
from tests.model.patch import check
from waybread_daemon.hygiene.diff import hunks

KEYED = frozenset({"read", "result", "change", "recall", "take_back", "carry", "compact"})


def product_diff(before: bytes, after: bytes) -> str:
    """Of several right diffs any will do: the model takes the product's, which has to be right."""
    made = hunks(before, after).decode()
    check(before, after, made)
    return made


async def compare(driver: Driver, seed: int, most_steps: int) -> None:
    """Raises `AssertionError` with the seed and the step where the answers differ."""
    await compare_steps(driver, f"s{seed}", *session(seed, most_steps))


async def compare_steps(driver: Driver, name: str, kind: str, steps: list[Step]) -> None:
    """The same for given steps."""
    model = Model(kind, product_diff)
    opened = await driver.ask({"type": "open", "session": name, "kind": kind})
    assert opened["created"], opened
    last: tuple[dict[str, Any], dict[str, Any]] | None = None
    texts: list[str] = []
    for index, step in enumerate(steps):
        where = f"session {name}, step {index}: {step.do} {step.form} {str(step.fields)[:300]}"
        if step.do == "restart":
            await driver.restart(name)
        elif step.do == "repeat":
            if last is not None:
                again = await driver.ask(last[0])
                assert _plain(again) == {**_plain(last[1]), "repeated": True}, where
        else:
            wanted = _wanted(model, step)
            sent, got = await _ask(driver, step, name)
            _check(step.do, got, wanted, where)
            if step.do in KEYED and got["type"] != "error":
                last = sent, got
            if isinstance(wanted, Answer):
                texts.append(wanted.text)
    await _check_transcript(driver, name, texts, f"session {name}")


async def _ask(driver: Driver, step: Step, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    sent = request(step, name, whole=False)
    got = await driver.ask(sent)
    if got["type"] == "error" and got["code"] == "content_needed":
        assert got["needed"]
        # The same key: an error leaves it free, and the content makes it no other request.
        sent = {**request(step, name, whole=True), "key": sent["key"]}
        got = await driver.ask(sent)
    return sent, got


def _wanted(model: Model, step: Step) -> Any:
    fields = step.fields
    try:
        match step.do:
            case "read":
                return model.read(**fields)
            case "result":
                return model.result(**fields)
            case "change":
                return model.change([Change(**change) for change in fields["changes"]], fields["note"])
            case "turn":
                return model.turn(fields["turn"])
            case "recall" | "show" | "take_back" | "carry" as do:
                return getattr(model, do)(**fields)
            case "compact":
                return model.compact()
            case "reads":
                return model.reads()
            case do:
                raise AssertionError(do)
    except Refused as refused:
        return refused


def _check(do: str, got: dict[str, Any], wanted: Any, where: str) -> None:
    if isinstance(wanted, Refused):
        assert (got["type"], got.get("code")) == ("error", wanted.code), (where, got)
        return
    assert got["type"] != "error", (where, got)
    if isinstance(wanted, Answer):
        assert got["text"] == wanted.text, where
        assert (got["result"], got["stub_of"], got["capped"]) == (wanted.result, wanted.stub_of, wanted.capped), where
    elif do == "compact":
        assert got["table"] == wanted.table, where
        assert got["reads"] == [vars(row) for row in wanted.rows], where
    elif do == "reads":
        assert got["reads"] == [vars(row) for row in wanted], where
    elif do == "show":
        shown = {key: got[key] for key in ("result", "first", "last", "lines")}
        assert shown == {key: getattr(wanted, key) for key in shown}, where
        assert wanted.text.startswith(got["text"]), where
        assert got["next_char"] == (None if got["text"] == wanted.text else len(got["text"])), where
    elif do == "turn":
        assert got["repeated"] == wanted.repeated, where


async def _check_transcript(driver: Driver, name: str, texts: list[str], where: str) -> None:
    """Phones see the very texts that the model got."""
    entries: list[dict[str, Any]] = []
    before, more = 0, True
    while more:
        page = await driver.ask({"type": "history", "session": name, "before": before})
        entries[:0] = page["entries"]
        before, more = page["next"], page["more"]
    shown = [entry for entry in entries if entry["kind"] in ("result", "recall")]
    assert len(shown) == len(texts), where
    for entry, text in zip(shown, texts, strict=True):
        assert text.startswith(entry["text"]), (where, entry["seq"])
        assert entry["text_chars"] == len(text), (where, entry["seq"])
    assert [entry["seq"] for entry in entries] == sorted(entry["seq"] for entry in entries), where


def _plain(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key not in ("re", "id")}
