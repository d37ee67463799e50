"""JSON Schema of every message, generated from the structs.

`python -m waybread_protocol.schemas` writes the files in the folder `schema`; a test fails when they are stale.
"""

from __future__ import annotations

import importlib.resources
from typing import Any, get_args

import msgspec

from waybread_protocol.limits import type_of
from waybread_protocol.messages import FromClient, FromDaemon

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FOLDER = "schema"


def _alone(field: str, *others: str) -> dict[str, Any]:
    return {"required": [field], "not": {"anyOf": [{"required": [other]} for other in others]}}


_CHECKS: dict[str, dict[str, Any]] = {
    "Content": {
        "oneOf": [
            _alone("text", "bytes", "window"),
            _alone("bytes", "text", "window"),
            _alone("sha256", "text", "bytes", "window"),
            _alone("window", "text", "bytes", "sha256"),
        ]
    },
    "FileChange": {
        "anyOf": [{"properties": {side: {"type": "object"}}} for side in ("before", "after")],
        # `required` alone would also hold of null.
        "not": {
            "anyOf": [
                {"properties": {side: {"type": "object", "required": ["window"]}}, "required": [side]}
                for side in ("before", "after")
            ]
        },
    },
}
"""What the structs check by themselves, because types cannot say it."""


def schemas() -> dict[str, bytes]:
    """File name to content: `client.json` for what clients send, `daemon.json` for what the daemon sends."""
    return {
        "client.json": _document("what a client sends", FromClient),
        "daemon.json": _document("what the daemon sends", FromDaemon),
    }


def _document(title: str, union: object) -> bytes:
    members = get_args(union)
    references, components = msgspec.json.schema_components(members, ref_template="#/$defs/{name}")
    by_type = {type_of(member): reference for member, reference in zip(members, references, strict=True)}
    for name, checks in _CHECKS.items():
        if name in components:
            components[name] |= checks
    document: dict[str, Any] = {
        "$schema": DIALECT,
        "title": f"Waybread link, version 1: {title}",
        "oneOf": [by_type[name] for name in sorted(by_type)],
        "$defs": {name: components[name] for name in sorted(components)},
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def main() -> None:
    """Writes the files anew, beside this module: for a checkout."""
    with importlib.resources.as_file(importlib.resources.files("waybread_protocol").joinpath(FOLDER)) as folder:
        for name, content in schemas().items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
