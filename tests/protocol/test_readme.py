"""The contract as people read it: its tables and examples say what the structs say, nothing missing and nothing more."""

import hashlib
import json
import pathlib
import re
from typing import Any

import pytest
from msgspec import NODEFAULT, inspect

from tests.protocol.arbitrary import CLIENT, DAEMON
from waybread_protocol import limits
from waybread_protocol.codec import client_codec, daemon_codec
from waybread_protocol.errors import RETRY, CloseCode, ErrorCode
from waybread_protocol.limits import SUBPROTOCOL_JSON, type_of
from waybread_protocol.messages import (
    REQUESTS,
    ROLES,
    BaseAnswer,
    BaseRequest,
    ChangeBody,
    Content,
    Entry,
    FileChange,
    Hello,
    Limits,
    Part,
    ReadBody,
    ReadRow,
    Result,
    SessionRow,
    Struct,
    TextBody,
    Window,
)
from waybread_protocol.parts import Joiner

README = (pathlib.Path(__file__).parents[2] / "protocol" / "README.md").read_text()
NAMED: dict[type, str] = {
    TextBody: "body `text`",
    ReadBody: "body `read`",
    ChangeBody: "body `change`",
    FileChange: "file change",
    Content: "content",
    Window: "window",
    Limits: "limits",
    ReadRow: "read row",
    SessionRow: "session row",
    Entry: "entry",
}
"""The maps inside of messages, by the names that the text gives them."""
COMMON = {"type", "id", "re"}
"""What every message has is told once."""
Row = tuple[str, ...]


# --- What the structs say --------------------------------------------------------------------------------------------


def kind_of(kind: inspect.Type) -> str:
    match kind:
        case inspect.StructType(cls=cls):
            return NAMED[cls]
        case inspect.UnionType(types=types):
            return " or ".join(kind_of(member) for member in types)
        case inspect.LiteralType(values=values):
            return " or ".join(f'`"{value}"`' for value in values)
        case inspect.ListType(item_type=item):
            return f"list of {kind_of(item)}"
        case inspect.StrType():
            return "string"
        case inspect.IntType():
            return "integer"
        case inspect.BytesType():
            return "bytes"
        case inspect.BoolType():
            return "boolean"
        case inspect.NoneType():
            return "null"
        case inspect.DictType():
            return "map"
        case _:
            raise AssertionError(f"no name for {kind}")


def limit_of(kind: inspect.Type) -> str:
    match kind:
        case inspect.StrType(pattern=pattern) if pattern is not None:
            return "64 hex digits"
        case inspect.StrType(min_length=least, max_length=most) if most is not None:
            return f"{least} to {most:,} characters" if least else f"to {most:,} characters"
        case inspect.IntType(ge=least, le=most) if least is not None and least > -limits.INTEGER_MAX:
            return f"from {least:,}" if most in (None, limits.INTEGER_MAX) else f"{least:,} to {most:,}"
        case inspect.ListType(item_type=item, min_length=least):
            return ", ".join(filter(None, [f"at least {least}" if least else "", limit_of(item)]))
        case inspect.UnionType(types=types):
            return ", ".join(filter(None, (limit_of(member) for member in types)))
        case _:
            return ""


def default_of(field: inspect.Field) -> str:
    if field.required:
        return "required"
    if field.default_factory is not NODEFAULT:
        return f"`{field.default_factory()}`"
    if field.default is NODEFAULT:
        return "absent"
    return f"`{json.dumps(field.default)}`"


def fields_of(struct: type[Struct]) -> list[Row]:
    """Field, type, default, limit: as a table of the README has to give them."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return [
        (f"`{field.encode_name}`", kind_of(field.type), default_of(field), limit_of(field.type) or "–")
        for field in info.fields
        if field.encode_name not in COMMON
    ]


# --- What the README says --------------------------------------------------------------------------------------------


def tables() -> dict[str, list[list[Row]]]:
    """The tables under each heading, without their first two lines."""
    found: dict[str, list[list[Row]]] = {}
    heading = ""
    rows: list[Row] = []
    for line in [*README.splitlines(), ""]:
        if line.startswith("#"):
            heading = line.lstrip("#").strip()
        if line.startswith("|"):
            rows.append(tuple(cell.strip() for cell in line.strip("|").split("|")))
        elif rows:
            found.setdefault(heading, []).append(rows[2:])
            rows = []
    return found


TABLES = tables()


def table(heading: str) -> list[Row]:
    assert len(TABLES.get(heading, [])) == 1, f"the README has no one table under {heading!r}"
    return TABLES[heading][0]


def heading_of(struct: type[Struct]) -> str:
    name = f"`{type_of(struct)}`"
    return f"{name} → `{struct.answer}`" if issubclass(struct, BaseRequest) else name


MESSAGES = [*CLIENT, *(struct for struct in DAEMON if struct is not Part)]
WITH_FIELDS = [struct for struct in MESSAGES if fields_of(struct)]


@pytest.mark.parametrize("struct", MESSAGES, ids=type_of)
def test_every_message_has_its_heading_and_its_answer(struct: type[Struct]) -> None:
    assert re.search(rf"^#+ {re.escape(heading_of(struct))}$", README, re.MULTILINE)


@pytest.mark.parametrize("struct", WITH_FIELDS, ids=type_of)
def test_the_fields_of_a_message_have_their_types_defaults_and_limits(struct: type[Struct]) -> None:
    rows = table(heading_of(struct))
    assert [row[:4] for row in rows] == fields_of(struct)
    assert all(len(row) == 5 and row[4] for row in rows), "each field is explained"


@pytest.mark.parametrize("struct", NAMED, ids=lambda struct: struct.__name__)
def test_the_maps_inside_of_messages_have_theirs(struct: type[Struct]) -> None:
    rows = table(NAMED[struct])
    assert [row[:4] for row in rows] == fields_of(struct)
    assert all(len(row) == 5 and row[4] for row in rows), "each field is explained"


def test_the_readme_knows_no_message_that_the_structs_have_not() -> None:
    headings = set(re.findall(r"^#+ (`[a-z_]+`(?: → `[a-z_]+`)?)$", README, re.MULTILINE))
    assert headings == {heading_of(struct) for struct in MESSAGES}


def test_the_list_of_requests_says_who_may_send_each_and_what_answers_it() -> None:
    yes = {True: "yes", False: "no"}
    assert [row[:5] for row in table("All requests")] == [
        (f"`{name}`", f"`{request.answer}`", *(yes[name in ROLES[role]] for role in ("device", "agent", "viewer")))
        for name, request in REQUESTS.items()
    ]


def test_every_error_code_is_told_once_with_its_retry() -> None:
    rows = table("Error codes")
    assert [row[:2] for row in rows] == [(f"`{code.value}`", "yes" if code in RETRY else "no") for code in ErrorCode]
    assert all(len(row) == 3 and row[2] for row in rows)


def test_every_close_code_is_told_once() -> None:
    rows = table("Close codes")
    assert [row[0] for row in rows] == [str(code.value) for code in CloseCode]
    assert all(len(row) == 3 and row[2] for row in rows)


def test_every_limit_is_told_with_its_value() -> None:
    values = {
        name: value
        for name, value in vars(limits).items()
        if name.isupper() and isinstance(value, int) and name != "PROTOCOL"
    }
    rows = table("Limits of the link")
    assert {row[0]: row[1] for row in rows} == {f"`{name}`": f"{value:,}" for name, value in values.items()}
    assert all(len(row) == 3 and row[2] for row in rows)


def test_the_subprotocols_and_the_path_are_named() -> None:
    for name in (limits.SUBPROTOCOL_MSGPACK, limits.SUBPROTOCOL_JSON, limits.PATH):
        assert f"`{name}`" in README


# --- Examples --------------------------------------------------------------------------------------------------------


def examples() -> list[tuple[str, str]]:
    """Every line of a conversation: who says it, and the message."""
    blocks = re.findall(r"^```text\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if re.match(r"[CD]: \{", line)]
    return [(line[0], line[3:]) for line in lines]


def test_every_message_of_an_example_fits_the_contract() -> None:
    assert len(examples()) > 20
    for speaker, message in examples():
        decoded: object
        if speaker == "C":
            decoded = daemon_codec(SUBPROTOCOL_JSON).decode(message)
            assert isinstance(decoded, (BaseRequest, Part))
        else:
            decoded = client_codec(SUBPROTOCOL_JSON).decode(message)
            assert isinstance(decoded, Struct)


def test_every_answer_of_an_example_follows_a_request_of_its_kind() -> None:
    asked: dict[int, BaseRequest] = {}
    codec, joiner = daemon_codec(SUBPROTOCOL_JSON), Joiner(limits.MAX_MESSAGE_BYTES)
    for speaker, message in examples():
        if speaker == "D":
            answer = client_codec(SUBPROTOCOL_JSON).decode(message)
            if isinstance(answer, BaseAnswer):
                said = asked[answer.re]
                wanted = "paired" if isinstance(said, Hello) and said.code else said.answer
                assert type_of(answer) in (wanted, "error")
            continue
        request = codec.decode(message)
        if isinstance(request, Part):
            joined = joiner.join(request)
            if joined is None:
                continue
            request = codec.decode(joined)
        assert isinstance(request, BaseRequest)
        asked[request.id] = request


def test_every_hash_of_an_example_is_that_of_a_content_in_it() -> None:
    sent: set[str] = set()
    named: set[str] = set()
    for speaker, message in examples():
        named |= set(re.findall(r"\b[0-9a-f]{64}\b", message))
        request: Any = daemon_codec(SUBPROTOCOL_JSON).decode(message) if speaker == "C" else None
        if not isinstance(request, Result):
            continue
        contents: list[Content | None] = []
        if isinstance(request.body, ReadBody):
            contents.append(request.body.content)
        elif isinstance(request.body, ChangeBody):
            contents.extend(side for change in request.body.changes for side in (change.before, change.after))
        for content in contents:
            if content is not None and isinstance(content.text, str):
                sent.add(hashlib.sha256(content.text.encode()).hexdigest())
    assert named <= sent


def test_the_example_of_parts_has_three() -> None:
    messages = [daemon_codec(SUBPROTOCOL_JSON).decode(message) for speaker, message in examples() if speaker == "C"]
    parts = [message for message in messages if isinstance(message, Part)]
    assert [(part.index, part.last) for part in parts] == [(0, False), (1, False), (2, True)]


def test_it_points_nowhere_outside_of_the_project() -> None:
    assert re.findall(r"\]\((?:https?:|\.\./\.\.|/)[^)]*\)", README) == []
