"""Whether an answer of a target is the one that a step of context.json expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from waybread_conformance.describe import (
    DescriptionError,
    as_list,
    as_map,
    expand_text,
    list_or_none,
    map_or_none,
    to_bytes,
)
from waybread_conformance.diffs import DiffError, check_diff

INSERTING = frozenset({"read", "result", "recall", "change"})
TEXT_FIELDS = frozenset({"text", "table"})


@dataclass(frozen=True)
class Difference:
    """A field of an answer that is not as expected; `why` is a sentence where the two values do not say it."""

    field: str
    expected: object
    got: object
    why: str = ""


def differences(
    plain: Mapping[str, object], expect: Mapping[str, object], answer: Mapping[str, object], named: Mapping[str, object]
) -> list[Difference]:
    """What differs between `answer` and `expect`, for a step as it went to the target (`plain`)."""
    if "error" in expect:
        got = answer.get("error")
        return [] if got == expect["error"] else [Difference("error", expect["error"], got or dict(answer))]
    if answer.get("error"):
        why = f"the step is refused: {answer.get('message', answer['error'])}"
        return [Difference("error", None, answer["error"], why)]

    wanted = dict(expect)
    if plain.get("do") in INSERTING:
        # Strict where a case says nothing: what is no stub names none, and what is not cut is not marked as cut.
        wanted = {"stub_of": None, "capped": False, **wanted}
    found = [_difference(field, value, answer, plain, named) for field, value in wanted.items()]
    return [difference for difference in found if difference is not None]


def _difference(
    field: str, value: object, answer: Mapping[str, object], plain: Mapping[str, object], named: Mapping[str, object]
) -> Difference | None:
    if field not in answer:
        return Difference(field, value, None, f"the answer has no field `{field}`")
    got = answer[field]
    if field in TEXT_FIELDS:
        return _text(field, value, got, plain, named)
    if field == "reads":
        return _rows(cast("list[Mapping[str, object]]", value), got)
    # 1 == True in Python, and no target may answer one for the other.
    if type(got) is type(value) and got == value:
        return None
    return Difference(field, value, got)


def _text(
    field: str, value: object, got: object, plain: Mapping[str, object], named: Mapping[str, object]
) -> Difference | None:
    fields = map_or_none(value)
    if fields is not None and "parts" in fields:
        parts = as_list(fields["parts"], "`parts`")
        return _parts(field, parts, got, cast("Sequence[Mapping[str, object]]", plain.get("changes", [])), named)
    wanted = expand_text(value, named)
    return None if got == wanted else Difference(field, wanted, got)


def _parts(
    field: str,
    parts: Sequence[object],
    got: object,
    changes: Sequence[Mapping[str, object]],
    named: Mapping[str, object],
) -> Difference | None:
    """Text of exact pieces and of diffs, `{"diff": N}`: the diff of the step's change N, counted from 0."""
    expected = "".join(_outline(part, named) for part in parts)
    if not isinstance(got, str):
        return Difference(field, expected, got)
    rest = got
    for part in parts:
        change_at = _diff_of(part)
        if change_at is not None:
            change = changes[change_at]
            try:
                rest = check_diff(rest, _bytes(change.get("before")), _bytes(change.get("after")))
            except DiffError as error:
                return Difference(field, expected, got, f"the diff is not right: {error}")
        else:
            exact = expand_text(part, named)
            if not rest.startswith(exact):
                return Difference(field, expected, got, f"after the part that fits, {exact!r:.120} is wanted")
            rest = rest[len(exact) :]
    return Difference(field, expected, got, f"{rest!r:.120} is too much") if rest else None


def _outline(part: object, named: Mapping[str, object]) -> str:
    change_at = _diff_of(part)
    return expand_text(part, named) if change_at is None else f"<any right diff of change {change_at}>"


def _diff_of(part: object) -> int | None:
    """The number of the change whose diff a part stands for; None where it is exact text."""
    fields = map_or_none(part)
    return cast("int", fields["diff"]) if fields is not None and "diff" in fields else None


def _bytes(content: object) -> bytes:
    """The bytes of a step's content; nothing for a file that is not there."""
    if content is None:
        return b""
    fields = as_map(content, "a content")
    value = fields.get("text", fields.get("bytes"))
    if not isinstance(value, str | bytes):
        raise DescriptionError("a content is `text` or `bytes`")
    return to_bytes(value)


def _rows(wanted: Sequence[Mapping[str, object]], got: object) -> Difference | None:
    """Rows of reads in their order; of each row the fields that the case names."""
    rows = list_or_none(got)
    fits = (
        rows is not None
        and len(rows) == len(wanted)
        and all(_row_fits(want, row) for want, row in zip(wanted, rows, strict=True))
    )
    return None if fits else Difference("reads", wanted, got)


def _row_fits(wanted: Mapping[str, object], row: object) -> bool:
    fields = map_or_none(row)
    return fields is not None and all(
        name in fields and type(fields[name]) is type(value) and fields[name] == value for name, value in wanted.items()
    )
