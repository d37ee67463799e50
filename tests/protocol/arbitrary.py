"""Any message at all: a Hypothesis strategy for each struct, made from its types and limits."""

from typing import Any, get_args

from hypothesis import strategies as st
from msgspec import inspect

from waybread_protocol.messages import Content, FileChange, FromClient, FromDaemon, Struct

INTEGER_MAX = 2**53 - 1
TEXT = st.text(max_size=8)
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
Contents = st.SearchStrategy[Content]


def structs_of(union: object) -> list[type[Struct]]:
    return list(get_args(union))


CLIENT = structs_of(FromClient)
DAEMON = structs_of(FromDaemon)


def messages(struct: type[Struct]) -> st.SearchStrategy[Any]:
    """Any message of this struct."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return _struct(info)


def _struct(info: inspect.StructType) -> st.SearchStrategy[Any]:
    if info.cls is Content:
        return st.one_of([_content(name) for name in ("text", "data", "sha256", "window")])
    if info.cls is FileChange:
        given: Contents = st.one_of([_content(name) for name in ("text", "data", "sha256")])
        sides = st.tuples(given, st.none()) | st.tuples(st.none(), given) | st.tuples(given, given)
        return st.builds(_file_change, TEXT, TEXT, sides)
    fields = {field.name: _value(field.type) for field in info.fields}
    return st.builds(info.cls, **fields)


def _file_change(path: str, absolute: str, sides: tuple[Content | None, Content | None]) -> FileChange:
    return FileChange(path=path, absolute=absolute, before=sides[0], after=sides[1])


def _content(name: str) -> Contents:
    """A content has one of its fields only."""
    info = inspect.type_info(Content)
    assert isinstance(info, inspect.StructType)
    field = next(field for field in info.fields if field.name == name)
    return st.builds(Content, **{name: _value(field.type)})


def _value(kind: inspect.Type) -> st.SearchStrategy[Any]:
    match kind:
        case inspect.StructType():
            return _struct(kind)
        case inspect.UnionType(types=types):
            return st.one_of([_value(member) for member in types])
        case inspect.IntType(ge=least, le=most):
            low = -INTEGER_MAX if least is None else int(least)
            return st.integers(low, INTEGER_MAX if most is None else int(most))
        case inspect.StrType(pattern=pattern) if pattern is not None:
            return st.text("0123456789abcdef", min_size=64, max_size=64)
        case inspect.StrType(min_length=least, max_length=most):
            return st.text(min_size=least or 0, max_size=min(most or 8, 8))
        case inspect.BytesType():
            return st.binary(max_size=8)
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case inspect.ListType(item_type=item, min_length=least):
            return st.lists(_value(item), min_size=least or 0, max_size=3)
        case inspect.DictType():
            return st.dictionaries(TEXT, JSON, max_size=3)
        case _:
            raise AssertionError(f"no strategy for {kind}")
