"""The fields of nodes, pods and all structs within them, with their types.

`structs.json` is written by `tests/support/cel_oracle` from https://pkg.go.dev/k8s.io/api/core/v1.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kwokctl.expr.cel.kinds.cel_type import (
    BOOL,
    BYTES,
    DURATION,
    DYN,
    INT,
    QUANTITY,
    RESOURCES,
    STRING,
    TIME,
    CelType,
    list_of,
    map_of,
    nullable,
)

_SCALARS = {
    "bool": BOOL,
    "bytes": BYTES,
    "duration": DURATION,
    "dyn": DYN,
    "int": INT,
    "quantity": QUANTITY,
    "resources": RESOURCES,
    "string": STRING,
    "time": TIME,
}


def struct(name: str) -> CelType:
    """Return the type of a struct."""
    return CelType("struct", name=name)


@cache
def fields(name: str) -> Mapping[str, CelType]:
    """Return the fields of a struct."""
    return {field: _type(spelled) for field, spelled in _structs().get(name, {}).items()}


@cache
def _structs() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = json.loads(
        Path(__file__).with_name("structs.json").read_text(encoding="utf-8")
    )
    return found


def _type(spelled: str) -> CelType:
    if spelled[:2] == "[]":
        return list_of(_type(spelled[2:]))
    if spelled[:2] == "{}":
        return map_of(STRING, _type(spelled[2:]))
    if spelled[0] == "*":
        inner = _type(spelled[1:])
        # What a pointer to a time leads to is the zero time where there is none, as for kwok.
        return inner if inner in {TIME, DURATION} else nullable(inner)
    return _SCALARS.get(spelled) or struct(spelled)
