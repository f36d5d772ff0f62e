"""Structs from tables of fields.

A line of a table is a type's name and its fields, such as

    PodIP ip:Address
    NodeCondition lastHeartbeatTime:Time message:str reason:str status:str type:str

and goes on in lines that are indented. A field's type is a leaf, a type of the table, `[T]` for a
list, or `{T}` for a map by texts. Every field may be missing, or null, as the API server has it.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kwokctl.dataplane.shapes.leaves import LEAVES

Fields = Mapping[str, str]

_PLAIN: Mapping[str, Any] = {
    "str": str,
    "bool": bool,
    "int32": Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)],
    "int64": Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)],
    **{leaf.__name__: leaf for leaf in LEAVES},
}


def read_tables(*tables: str) -> dict[str, Fields]:
    """Return the types of some tables, with the types of their fields by name."""
    types: dict[str, Fields] = {}
    for table in tables:
        for line in _lines(table):
            name, *fields = line.split()
            types[name] = {field: type_ for field, _, type_ in (f.partition(":") for f in fields)}
    return types


def _lines(table: str) -> Iterator[str]:
    """Yield lines, each with what goes on from it."""
    whole = ""
    for line in table.splitlines():
        if line.startswith(" "):
            whole += line
            continue
        if whole:
            yield whole
        whole = line
    if whole:
        yield whole


class Structs:
    """Makes the structs of a table, each when it is needed for the first time."""

    def __init__(
        self, types: Mapping[str, Fields], checks: Mapping[str, Callable[[Any], None]]
    ) -> None:
        """Use the types of a table; `checks` look at whole values, by the name of their type."""
        self._types = types
        self._checks = checks
        self.struct = cache(self._struct)

    def _struct(self, name: str) -> type[msgspec.Struct]:
        check = self._checks.get(name)
        return msgspec.defstruct(
            name,
            [(field, self._type(word) | None, None) for field, word in self._types[name].items()],
            namespace={"__post_init__": check} if check else None,
            forbid_unknown_fields=True,
            gc=False,
            kw_only=True,
        )

    def _type(self, word: str) -> Any:
        if word in _PLAIN:
            return _PLAIN[word]
        if word.startswith("["):
            return list[self._type(word[1:-1])]  # type: ignore[misc]  # made at run time
        if word.startswith("{"):
            return dict[str, self._type(word[1:-1])]  # type: ignore[misc]  # made at run time
        return self.struct(word)
