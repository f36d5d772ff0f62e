"""The types of CEL, with those of the fields of nodes and pods, and when one is accepted for another.

`structs.json` is written by `tests/support/cel_oracle` from https://pkg.go.dev/k8s.io/api/core/v1. The bindings are those
of the type checker of https://github.com/google/cel-go, which has rules of its own for what may be absent: null can be
anything that is a struct, a time or a duration.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from kwokctl.replacing import replace


@dataclass(frozen=True, slots=True)
class CelType:
    """A type: its kind, what is in lists and maps, and which struct or parameter it is."""

    kind: str
    params: tuple["CelType", ...] = ()
    name: str = ""
    nullable: bool = field(default=False, compare=False)
    """Whether a value may be null instead."""
    loose: bool = field(default=False, compare=False)
    """Whether a value may be of another type after all: the checker takes `dyn` for anything."""

    def __str__(self) -> str:
        """Return it as in messages: `list(string)`."""
        inner = ", ".join(map(str, self.params))
        return f"{self.kind}({inner})" if self.params else self.name or self.kind

    @property
    def is_open(self) -> bool:
        """Whether it is known only in the evaluation."""
        return self.kind in {"dyn", "error", "param"} or self.nullable or self.loose

    @property
    def is_uncertain(self) -> bool:
        """Whether it, or anything in it, is open."""
        return self.is_open or any(param.is_uncertain for param in self.params)

    @property
    def is_boxed(self) -> bool:
        """Whether its values look different where their type is not known."""
        return self.kind == "struct" or any(param.is_boxed for param in self.params)


DYN, ERROR, NULL = CelType("dyn"), CelType("error"), CelType("null")
BOOL, INT, UINT, DOUBLE = CelType("bool"), CelType("int"), CelType("uint"), CelType("double")
STRING, BYTES, TYPE = CelType("string"), CelType("bytes"), CelType("type")
TIME, DURATION = CelType("time"), CelType("duration")
QUANTITY = CelType("quantity", name="Quantity")
RESOURCES = CelType("struct", name="ResourceList")
A, B = CelType("param", name="A"), CelType("param", name="B")


def list_of(item: CelType) -> CelType:
    """Return the type of a list."""
    return CelType("list", (item,))


def map_of(key: CelType, value: CelType) -> CelType:
    """Return the type of a map."""
    return CelType("map", (key, value))


def nullable(of: CelType) -> CelType:
    """Return the type of values that may be null instead."""
    return replace(of, nullable=True)


def loosened(of: CelType) -> CelType:
    """Return the type of values that may also be of another type, and contain other types."""
    return replace(of, loose=True, params=tuple(map(loosened, of.params)))


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


_OPEN = frozenset({"dyn", "error"})
_HAS_NULL = frozenset({"duration", "null", "quantity", "struct", "time"})


class Bindings:
    """The types of type parameters, as far as they are known."""

    def __init__(self) -> None:
        self._found: dict[CelType, CelType] = {}
        self._count = 0

    def fresh(self) -> CelType:
        """Return a new parameter, whose type is not known yet."""
        self._count += 1
        return CelType("param", name=f"_{self._count}")

    def instance(self, types: Iterable[CelType]) -> list[CelType]:
        """Replace the parameters of a function by fresh ones."""
        made: Mapping[CelType, CelType] = {A: self.fresh(), B: self.fresh()}
        return [_replaced(one, made) for one in types]

    def resolve(self, one: CelType, *, final: bool = False) -> CelType:
        """Replace the parameters that are known; `final` makes the others `dyn`."""
        found = self._found.get(one)
        if found is not None:
            return self.resolve(found, final=final)
        if one.kind == "param":
            return DYN if final else one
        if not one.params:
            return one
        return replace(one, params=tuple(self.resolve(p, final=final) for p in one.params))

    def assign(self, given: Iterable[CelType], wanted: Iterable[CelType]) -> bool:
        """Return whether values of these types are accepted as those, and remember the bindings."""
        before = self._found.copy()
        if all(self._fits(one, other) for one, other in zip(given, wanted, strict=True)):
            return True
        self._found = before
        return False

    def join(self, one: CelType | None, other: CelType) -> CelType:
        """Return the type of what is of one of two types."""
        if one is None:
            return other
        if not self.assign([one], [other]):
            return DYN
        wider = one if _is_wider(one, other) else other
        return loosened(wider) if one.is_uncertain or other.is_uncertain else wider

    def _fits(self, given: CelType, wanted: CelType) -> bool:
        if wanted.kind == "param":
            valid, is_known = self._binds(given, wanted)
            if valid or is_known:
                return valid
        if given.kind == "param":
            return self._binds(wanted, given)[0]
        if given.kind in _OPEN or wanted.kind in _OPEN:
            return True
        if "null" in {given.kind, wanted.kind}:
            other = wanted if given.kind == "null" else given
            return other.kind in _HAS_NULL or other.nullable
        if given.kind != wanted.kind or given.name != wanted.name:
            return False
        return all(map(self._fits, given.params, wanted.params))

    def _binds(self, given: CelType, parameter: CelType) -> tuple[bool, bool]:
        """Return whether a parameter can be bound to a type, and whether it is bound already."""
        if given == parameter:
            return True, True
        found = self._found.get(parameter)
        if found is None:
            if self._is_within(parameter, given):
                return False, False
            self._found[parameter] = given
            return True, False
        if given == found:
            return True, True
        if not self._fits(given, found):
            return False, True
        wider = given if _is_wider(given, found) else found
        if not self._is_within(parameter, wider):
            self._found[parameter] = wider
        return True, True

    def _is_within(self, parameter: CelType, whole: CelType) -> bool:
        if whole.kind == "param":
            found = self._found.get(whole)
            return whole == parameter or (found is not None and self._is_within(parameter, found))
        return any(self._is_within(parameter, param) for param in whole.params)


def _is_wider(one: CelType, other: CelType) -> bool:
    """Return whether a type is the same as another, or more general."""
    if one.kind in {"dyn", "error", "param"}:
        return True
    if other.kind in {"dyn", "error", "param"} or (one.kind, one.name) != (other.kind, other.name):
        return False
    return all(map(_is_wider, one.params, other.params))


def _replaced(one: CelType, made: Mapping[CelType, CelType]) -> CelType:
    if one in made:
        return made[one]
    if not one.params:
        return one
    return replace(one, params=tuple(_replaced(param, made) for param in one.params))
