"""The types of the Kubernetes API, with their fields in JSON and in protocol buffers.

They are read from the table `kubernetes/types.txt`. Each line has a type and its fields, such as

    ServicePort name?:1:str protocol?:2:str appProtocol?:6:*str port:3:int32 targetPort?:4:IntOrString

with the name in JSON, the number in protocol buffers, and a type: `*` may be absent, `[T]` is a list,
`{T}` a map with string keys. JSON leaves a field with `?` out when it is empty, one with `!` when it is
zero. Fields of an embedded message, which has no name, stand in JSON beside those of the type itself.
"""

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from functools import cache

import msgspec

from kwokctl import assets

_LEFT_OUT = "?!"


class Many(Enum):
    """The number of values that a field has."""

    ONE = auto()
    MAYBE_ONE = auto()
    LIST = auto()
    MAP = auto()


class ApiField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a type."""

    name: str
    """The name in JSON; empty for an embedded message, whose fields JSON has instead."""
    number: int
    many: Many
    of: str
    """A scalar, or the full name of a type."""
    are_lists: bool
    """Whether the values of a map are lists, which protocol buffers put into messages."""
    is_omitted: bool
    """Whether JSON leaves it out when it is empty."""
    is_zero_omitted: bool
    """Whether JSON also leaves out a type of several fields that is zero."""


class ApiType(msgspec.Struct, frozen=True):
    """A type with fields."""

    name: str
    """The name for messages."""
    fields: tuple[ApiField, ...]
    """The fields in the order of JSON."""


@cache
def api_type(full_name: str) -> ApiType:
    """Return a type by its full name, such as `core/v1.PodSpec`."""
    return _read(_table().lines[full_name], full_name)


def type_of_kind(api_version: str, kind: str) -> ApiType | None:
    """Return the type of a built-in kind's objects; None if it is not in the table."""
    name = name_of_kind(api_version, kind)
    return api_type(name) if name else None


def name_of_kind(api_version: str, kind: str) -> str:
    """Return the full name of a built-in kind's type; empty if it is not in the table."""
    table = _table()
    name = f"{table.packages.get(api_version, '')}.{kind}"
    return name if name in table.lines else ""


def versions_of_kind(group: str, kind: str) -> tuple[str, ...]:
    """Return the versions of an API group that have a kind."""
    table = _table()
    return tuple(
        api_version
        for api_version, package in table.packages.items()
        if api_version.rpartition("/")[0] == group and f"{package}.{kind}" in table.lines
    )


class _Table(msgspec.Struct, frozen=True):
    lines: Mapping[str, str]
    packages: Mapping[str, str]
    """The packages of types, by `apiVersion`."""


@cache
def _table() -> _Table:
    lines: dict[str, str] = {}
    packages: dict[str, str] = {}
    package = ""
    for line in _whole_lines(assets.text("kubernetes/types.txt")):
        if line.startswith("= "):
            _, package, api_version = line.split()
            packages[api_version] = package
        else:
            name, _, fields = line.partition(" ")
            lines[f"{package}.{name}"] = fields
    return _Table(lines, packages)


def _whole_lines(text: str) -> Iterator[str]:
    """Yield lines, joined with their continuation lines, without comments."""
    whole = ""
    for line in text.splitlines():
        if line.startswith(" "):
            whole += line
        else:
            if whole and not whole.startswith("#"):
                yield whole
            whole = line
    yield whole


def _read(fields: str, full_name: str) -> ApiType:
    package, _, name = full_name.rpartition(".")
    return ApiType(name, tuple(_field(word, package) for word in fields.split()))


def _field(word: str, package: str) -> ApiField:
    name, number, of = word.split(":", 2)
    many = {"*": Many.MAYBE_ONE, "[": Many.LIST, "{": Many.MAP}.get(of[0], Many.ONE)
    if of.startswith("(["):
        many = Many.LIST
    scalar = of.strip("*[]{}()")
    return ApiField(
        name=name.rstrip(_LEFT_OUT),
        number=int(number),
        many=many,
        of=scalar if scalar in SCALARS or "." in scalar else f"{package}.{scalar}",
        are_lists=of.startswith("{("),
        is_omitted=name.endswith(tuple(_LEFT_OUT)),
        is_zero_omitted=name.endswith("!"),
    )


SCALARS = frozenset(
    (
        "str", "bool", "int32", "int64", "float64", "bytes",
        "Time", "MicroTime", "Quantity", "IntOrString", "Raw", "Any",
    )
)  # fmt: skip
"""Types that are a single value in JSON."""
