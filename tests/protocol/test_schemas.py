"""The JSON Schema files: fresh, valid, and of one mind with the decoder."""

import importlib.resources
import json
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocol.arbitrary import CLIENT, DAEMON, messages
from waybread_protocol.codec import daemon_codec
from waybread_protocol.errors import RequestError
from waybread_protocol.limits import SUBPROTOCOL_JSON, type_of
from waybread_protocol.messages import Struct
from waybread_protocol.schemas import DIALECT, FOLDER, main, schemas

FILES = importlib.resources.files("waybread_protocol").joinpath(FOLDER)
SCHEMAS: dict[str, dict[str, Any]] = {name: json.loads(content) for name, content in schemas().items()}
CHECKERS: dict[str, Any] = {name: jsonschema.Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


def test_the_files_are_what_the_structs_say_now() -> None:
    stale = [name for name, content in schemas().items() if FILES.joinpath(name).read_bytes() != content]
    assert stale == [], "run: python -m waybread_protocol.schemas"


def test_writing_them_anew_changes_nothing() -> None:
    before = {name: FILES.joinpath(name).read_bytes() for name in SCHEMAS}
    main()
    assert {name: FILES.joinpath(name).read_bytes() for name in SCHEMAS} == before


@pytest.mark.parametrize("name", ["client.json", "daemon.json"])
def test_they_are_valid_schemas_of_the_2020_12_dialect(name: str) -> None:
    assert SCHEMAS[name]["$schema"] == DIALECT
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize("name, structs", [("client.json", CLIENT), ("daemon.json", DAEMON)])
def test_every_message_is_in_its_file(name: str, structs: list[type[Struct]]) -> None:
    references = {entry["$ref"].removeprefix("#/$defs/") for entry in SCHEMAS[name]["oneOf"]}
    assert references == {struct.__name__ for struct in structs}
    for struct in structs:
        assert SCHEMAS[name]["$defs"][struct.__name__]["properties"]["type"]["enum"] == [type_of(struct)]


@pytest.mark.parametrize("struct", CLIENT, ids=lambda struct: struct.__name__)
@settings(max_examples=30)
@given(data=st.data())
def test_every_message_of_a_client_is_valid(struct: type[Struct], data: Any) -> None:
    CHECKERS["client.json"].validate(json.loads(msgspec.json.encode(data.draw(messages(struct)))))


@pytest.mark.parametrize("struct", DAEMON, ids=lambda struct: struct.__name__)
@settings(max_examples=30)
@given(data=st.data())
def test_every_message_of_the_daemon_is_valid(struct: type[Struct], data: Any) -> None:
    CHECKERS["daemon.json"].validate(json.loads(msgspec.json.encode(data.draw(messages(struct)))))


RESULT: dict[str, Any] = {"type": "result", "id": 1, "session": "s", "key": "k", "tool": "t"}
READ: dict[str, Any] = {"kind": "read", "path": "a", "absolute": "/a"}
CHANGE: dict[str, Any] = {"path": "a", "absolute": "/a"}
HASH = "0a" * 32
WINDOW: dict[str, Any] = {"text": "", "lines": 0, "sha256": HASH}


def read(content: object) -> dict[str, Any]:
    return {**RESULT, "body": {**READ, "content": content}}


def change(before: object, after: object) -> dict[str, Any]:
    return {**RESULT, "body": {"kind": "change", "changes": [{**CHANGE, "before": before, "after": after}]}}


GOOD: list[dict[str, Any]] = [
    {"type": "ping", "id": 1},
    {"type": "ping", "id": 1, "newer": None},
    {"type": "ping", "id": 2**53 - 1},
    {"type": "open", "id": 1, "session": "s" * 128, "kind": "opaque"},
    {"type": "carry", "id": 1, "session": "s", "key": "k", "results": ["#0001"]},
    read({"text": "x", "sha256": HASH}),
    read({"bytes": "AA=="}),
    read({"sha256": HASH}),
    read({"window": WINDOW}),
    change(None, {"text": ""}),
    change({"sha256": HASH}, None),
]
BAD: list[Any] = [
    {"type": "ping"},
    {"type": "ping", "id": 0},
    {"type": "ping", "id": 2**53},
    {"type": "ping", "id": True},
    {"type": "pong", "id": 1},
    {"id": 1},
    [],
    {"type": "open", "id": 1, "session": "s" * 129, "kind": "agent"},
    {"type": "open", "id": 1, "session": "", "kind": "agent"},
    {"type": "open", "id": 1, "session": "s", "kind": "agent", "title": None},
    {"type": "carry", "id": 1, "session": "s", "key": "k", "results": "some"},
    {"type": "take_back", "id": 1, "session": "s", "key": "k", "turns": []},
    {"type": "hello", "id": 1, "client": "c", "max_frame": 4095},
    {"type": "history", "id": 1, "session": "s", "limit": 1001},
    read({}),
    read(None),
    read({"text": "x", "bytes": "AA=="}),
    read({"window": WINDOW, "sha256": HASH}),
    read({"window": WINDOW, "text": ""}),
    read({"sha256": "ab"}),
    change(None, None),
    change({"window": WINDOW}, None),
    change({"text": ""}, {"window": WINDOW}),
    {**RESULT, "body": {"kind": "change", "changes": []}},
    {**RESULT, "body": {"kind": "newer"}},
]


@pytest.mark.parametrize("message", GOOD, ids=json.dumps)
def test_schema_and_decoder_both_take_it(message: dict[str, Any]) -> None:
    assert CHECKERS["client.json"].is_valid(message)
    daemon_codec(SUBPROTOCOL_JSON).decode(json.dumps(message))


@pytest.mark.parametrize("message", BAD, ids=json.dumps)
def test_schema_and_decoder_both_refuse_it(message: Any) -> None:
    assert not CHECKERS["client.json"].is_valid(message)
    with pytest.raises(RequestError):
        daemon_codec(SUBPROTOCOL_JSON).decode(json.dumps(message))
