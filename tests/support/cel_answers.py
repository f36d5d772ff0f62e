"""Shows the values of CEL as tests/support/cel_oracle writes them."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from math import inf
from typing import Any

from kwokctl.expr.cel.values.arithmetic import Uint
from kwokctl.expr.cel.values.cel_times import CelDuration, CelTime, show_instant
from kwokctl.expr.cel.values.quantities import CelQuantity
from kwokctl.expr.cel.values.structs import ResourceList, StructValue
from kwokctl.expr.cel.writing.calls import TypeName
from kwokctl.expr.gotemplate.go.numerals import shortest
from kwokctl.json_value import Json

_NAMES = {
    bool: "bool", bytes: "bytes", float: "double", CelDuration: "google.protobuf.Duration",
    int: "int", list: "list", dict: "map", type(None): "null_type", CelQuantity: "kubernetes.Quantity",
    ResourceList: "kubernetes.ResourceList", str: "string", CelTime: "google.protobuf.Timestamp",
    TypeName: "type", Uint: "uint",
}  # fmt: skip


def type_name(value: Any) -> str:
    """Return the name of a value's type."""
    return f"v1.{value.type.name}" if isinstance(value, StructValue) else _NAMES[type(value)]


def plain(value: Any) -> Json:
    """Return a value as JSON has it."""
    written = _WRITTEN.get(type(value))
    return value if written is None else written(value)


def _pairs(value: dict[Any, Any]) -> Json:
    pairs = [[plain(key), plain(item)] for key, item in value.items()]
    return sorted(pairs, key=lambda pair: json.dumps(pair, separators=(",", ":"))) or None


_WRITTEN: dict[type, Callable[[Any], Json]] = {
    CelDuration: int,
    CelTime: lambda value: show_instant(CelTime(int(value))),
    CelQuantity: str,
    ResourceList: lambda value: {name: str(amount) for name, amount in value.read().items()},
    StructValue: type_name,
    TypeName: lambda value: value.name,
    Uint: int,
    bytes: lambda value: b64encode(value).decode(),
    dict: _pairs,
    float: lambda value: f"{'+' if value == inf else ''}{shortest(value).lstrip('+')}",
    list: lambda value: [plain(item) for item in value],
}


def first_place(refused: list[str]) -> str | None:
    """Return line and column of the first mistake, None if no grammar can tell where it is."""
    if any("Syntax error" in problem for problem in refused):
        return None
    places = [re.match(r"(\d+):(\d+) ", problem) for problem in refused]
    if not all(places):
        return None
    line, column = min(tuple(map(int, place.groups())) for place in places if place)
    return f"line {line}, column {column}"
