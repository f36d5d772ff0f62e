"""Makes copies of a real object as JSON for etcd, from constant parts and each copy's own values.

The object has gone through the API server, so its shape is right. The values that differ between
copies are found in it, and before any copy is made the parts must reproduce a second real object.
"""

import logging
import re
from collections.abc import Container, Iterable, Iterator
from itertools import count
from operator import itemgetter

import orjson

from kwokctl.dataplane.copies.field_keys import field_of
from kwokctl.dataplane.copies.first_difference import difference, spelled, value_at
from kwokctl.dataplane.copies.variable_fields import (
    Copy,
    Finder,
    Path,
    Played,
    Role,
    Slot,
    Varying,
    fraction_digits,
    is_time,
)
from kwokctl.errors import CannotStampError
from kwokctl.json_value import Json
from kwokctl.kube.patching.managed_fields import identity

log = logging.getLogger(__name__)

__all__ = ["Copy", "Path", "Stamp", "Varying", "stamp_of"]

_DROPPED = ("resourceVersion",)
"""Metadata that etcd determines."""

_ACCOUNT_VOLUME = re.compile(r"(kube-api-access-)[a-z0-9]{5}\Z")
"""A volume whose name ends at random. It matters within one pod only: copies may share the name."""

_ONE_BY_ONE = "so each object is created by itself, which takes longer"
"""The consequence for the user."""

_SHOWN = 80
"""The most characters of a value that a message shows."""

Piece = bytes | Slot


class Stamp:
    """Makes the copies of an object."""

    __slots__ = ("_constants", "_pick", "_readers", "slots")

    def __init__(self, pieces: Iterable[Piece]) -> None:
        """Join copies from these pieces of JSON."""
        joined = list(_joined(pieces))
        self.slots = tuple(piece for piece in joined if isinstance(piece, Slot))
        sources = {slot.source: None for slot in self.slots}
        numbers = {source: number for number, source in enumerate(sources)}
        self._readers = [source.in_json() for source in sources]
        self._constants = [piece for piece in joined if isinstance(piece, bytes)]
        constants = count(len(sources))
        self._pick = itemgetter(
            *(next(constants) if isinstance(p, bytes) else numbers[p.source] for p in joined)
        )

    def make(self, copy: Copy) -> bytes:
        """Return the JSON of a copy."""
        values = [read(copy) for read in self._readers]
        return b"".join(self._pick(values + self._constants))


def stamp_of(
    first: Json,
    second: Json,
    first_copy: Copy,
    second_copy: Copy,
    varying: Varying,
    played: Played | None = None,
) -> Stamp:
    """Return the stamp that copies `first`, a whole object as the API server shows it.

    `second` is another object created in the same way; `first_copy` and `second_copy` hold the values of
    each. At each path of `varying` the objects must have what its function returns for the serial.
    `played` has the values that differ in the status, if they are known.

    Raises CannotStampError, which names the field, if an object differs from `varying`, or if a copy
    with the values of `second` would differ from it in more than times and the random names of service
    account volumes.
    """
    body, other = _kept(first), _kept(second)
    stamp = Stamp(_pieces(body, Finder(body, first_copy, varying, played), ()))
    paths = {slot.path for slot in stamp.slots}
    for path in varying.keys() - paths:
        if played is not None and path[0] == "status":
            continue
        raise CannotStampError(
            f"'{spelled(path)}' is {_shown(body, path)} in the cluster, not what the template gives",
            consequence=f", {_ONE_BY_ONE}; let the template give it as the cluster has it",
        )
    times = {slot.path for slot in stamp.slots if slot.source.role is Role.TIME}
    for copy, real in ((first_copy, body), (second_copy, other)):
        _check_copy(orjson.loads(stamp.make(copy)), real, times)
    return stamp


def without_owners(real: Json) -> Json:
    """Return an object without its managed fields."""
    metadata = {k: v for k, v in real["metadata"].items() if k != "managedFields"}
    return {**real, "metadata": metadata}


def _kept(real: Json) -> Json:
    """Return the object as it goes to etcd: the API server fills in the rest."""
    metadata = real["metadata"]
    if "deletionTimestamp" in metadata:
        raise CannotStampError(f"'{metadata['name']}' is being deleted")
    kept = {key: value for key, value in metadata.items() if key not in _DROPPED}
    return in_order({**real, "metadata": kept})


def in_order(body: Json) -> Json:
    """Return an object with its managers in the order of copies, in which all times are the same.

    The API server orders managers by time first.
    """
    entries = body["metadata"].get("managedFields")
    if not entries:
        return body
    ordered = sorted(entries, key=identity)
    return {**body, "metadata": {**body["metadata"], "managedFields": ordered}}


def _check_copy(made: Json, real: Json, times: Container[Path]) -> None:
    """Raise CannotStampError unless a copy equals the real object of that name."""

    def same(path: Path, one: Json, other: Json) -> bool:
        if not isinstance(one, str) or not isinstance(other, str):
            return False
        if path in times:
            return is_time(other) and fraction_digits(one) == fraction_digits(other)
        return _ACCOUNT_VOLUME.sub(r"\1", one) == _ACCOUNT_VOLUME.sub(r"\1", other)

    path = difference(made, real, same)
    if path is not None:
        name, field = real["metadata"]["name"], spelled(field_of(path))
        log.debug(
            "a copy for '%s' would have %s as '%s', the cluster has %s",
            name, _shown(made, path), spelled(path), _shown(real, path),
        )  # fmt: skip
        raise CannotStampError(
            f"'{field}' of '{name}' is {_shown(real, field_of(path))} in the cluster, which does not "
            "follow from the template",
            consequence=f", {_ONE_BY_ONE}; let the template give '{field}' as the cluster has it",
        )


def _shown(body: Json, path: Path) -> str:
    """Return the value at a path, for a message."""
    try:
        text = orjson.dumps(value_at(body, path)).decode()
    except KeyError:
        return "not set"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _pieces(value: Json, finder: Finder, path: Path) -> Iterator[Piece]:
    """Yield the pieces of a value's JSON."""
    if isinstance(value, dict):
        whole = finder.fields(path, value)
        if whole is not None:
            yield Slot(path, whole, value)
            return
        yield b"{"
        for number, (key, item) in enumerate(value.items()):
            inner = (*path, key)
            source = finder.key(key)
            yield b"," if number else b""
            yield orjson.dumps(key) if source is None else Slot(inner, source, key)
            yield b":"
            yield from _pieces(item, finder, inner)
        yield b"}"
    elif isinstance(value, list):
        yield b"["
        for number, item in enumerate(value):
            yield b"," if number else b""
            yield from _pieces(item, finder, (*path, number))
        yield b"]"
    else:
        source = finder.leaf(path, value)
        yield orjson.dumps(value) if source is None else Slot(path, source, value)


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Join adjacent constant pieces."""
    constant = b""
    for piece in pieces:
        if isinstance(piece, bytes):
            constant += piece
        else:
            yield constant
            yield piece
            constant = b""
    yield constant
