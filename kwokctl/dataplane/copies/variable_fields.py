"""The values that differ between the copies of one object: their places, and their sources."""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum, auto
from operator import attrgetter

import msgspec
import orjson

from kwokctl.dataplane.copies.field_keys import in_key, parts_of
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_time
from kwokctl.json_value import Json

Path = tuple[str | int, ...]
"""Keys and indexes that lead from an object to a value in it."""

Varying = Mapping[Path, Callable[[int], Json]]
"""Values that a template derives from the serial of the object; equal functions do the same.

What is the object's very name need not be among them.
"""

MANAGED_FIELDS: Path = ("metadata", "managedFields")
"""Where an object records which client owns which of its fields."""

_AROUND_CREATION = (-5.0, 60.0)
"""Seconds from the creation of an object within which a time is that of its creation."""


class Copy(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The own values of a copy."""

    serial: int
    name: str
    uid: str
    created: str
    """RFC 3339, in whole seconds, with `Z`."""
    node: str = ""
    """Node of a pod, where the object has one."""
    pod_ips: tuple[str, ...] = ()
    """As many as the object has; not asked for where a pod has its node's."""
    host_ips: tuple[str, ...] = ()
    is_held: bool = True
    """Whether no other controller writes to the pod's node."""


class Role(Enum):
    """What a value is that differs between copies."""

    NAME = auto()
    UID = auto()
    TIME = auto()
    NODE = auto()
    POD_IP = auto()
    HOST_IP = auto()
    SERIAL = auto()
    HEX = auto()
    """The uid without its hyphens."""
    TEXT = auto()
    """A text that holds something of the copy's own."""
    FIELDS = auto()
    """A set of managed fields, as JSON, in which keys differ."""
    PLAYED = auto()
    """What a Stage makes of the copy's own values."""


class ValueSource(msgspec.Struct, frozen=True):
    """Where the values of slots come from; slots with equal sources have the same value."""

    role: Role
    number: int = 0
    """Position of an address; digits of a fraction of a second."""
    of_serial: Callable[[int], Json] | None = None
    of_copy: Callable[[Copy], Json] | None = None
    parts: "tuple[str | ValueSource, ...]" = ()
    """What a text or a set of fields is joined from."""

    def in_json(self) -> Callable[[Copy], bytes]:
        """Return the function that gives the value for a copy as JSON."""
        read = self.reader()
        if self.role is Role.FIELDS:
            return lambda copy: read(copy).encode()
        return lambda copy: orjson.dumps(read(copy))

    def reader(self) -> Callable[[Copy], Json]:
        """Return the function that gives the value for a copy; a set of fields as text."""
        number, of_serial = self.number, self.of_serial
        if self.parts:
            return _joiner(self.parts, in_key if self.role is Role.FIELDS else str)
        if of_serial is not None:
            return lambda copy: of_serial(copy.serial)
        if self.role is Role.TIME and number:
            fraction = f".{'0' * number}Z"
            return lambda copy: copy.created[:-1] + fraction
        if self.role is Role.POD_IP:
            return lambda copy: copy.pod_ips[number]
        if self.role is Role.HOST_IP:
            return lambda copy: copy.host_ips[number]
        return self.of_copy or _FIELDS[self.role]


class Slot(msgspec.Struct, frozen=True):
    """A place in the object that copies are made of."""

    path: Path
    source: ValueSource
    value: Json
    """What the object has there."""


Played = Mapping[Path, ValueSource]
"""Where a status that Stages have given differs between copies, and how."""

_FIELDS: dict[Role, Callable[[Copy], str]] = {
    Role.NAME: attrgetter("name"),
    Role.UID: attrgetter("uid"),
    Role.HEX: lambda copy: copy.uid.replace("-", ""),
    Role.TIME: attrgetter("created"),
    Role.NODE: attrgetter("node"),
}


def _joiner(
    parts: "tuple[str | ValueSource, ...]", write: Callable[[Json], str]
) -> Callable[[Copy], str]:
    readers = [part if isinstance(part, str) else part.reader() for part in parts]

    def join(copy: Copy) -> str:
        return "".join([read if isinstance(read, str) else write(read(copy)) for read in readers])

    return join


class Finder:
    """Finds the values of an object that differ from copy to copy."""

    def __init__(
        self, body: Json, copy: Copy, varying: Varying, played: "Played | None" = None
    ) -> None:
        """Examine an object whose own values are those of `copy`.

        If it is known how its status was `played`, nothing is looked for there.
        """
        self._played = played
        self._body = body
        self._copy = copy
        self._hex = copy.uid.replace("-", "")
        self._varying = varying
        self._own = dict(_pod_slots(body)) if _is_pod(body) else {}
        self._created = parse_time(body["metadata"]["creationTimestamp"])

    def key(self, key: str) -> ValueSource | None:
        """Return what a key of a map comes from, None if it is the same for all."""
        return _UID if key == self._copy.uid else None

    def fields(self, path: Path, value: Json) -> ValueSource | None:
        """Return what a map comes from if it is a set of managed fields with keys that differ."""
        if path[:2] != MANAGED_FIELDS or path[3:] != ("fieldsV1",):
            return None
        parts = tuple(parts_of(value, self._body, self.leaf))
        return ValueSource(Role.FIELDS, parts=parts) if len(parts) > 1 else None

    def leaf(self, path: Path, value: Json) -> ValueSource | None:
        """Return what a value that is no map or list comes from, None if it is the same for all."""
        if self._played is not None and path[0] == "status":
            return self._played.get(path)
        of_serial = self._varying.get(path)
        if of_serial is not None:
            return ValueSource(Role.SERIAL, of_serial=of_serial)
        if not isinstance(value, str):
            return None
        if path in self._own:
            return self._own[path]
        return self._named(value) or self._time(path, value)

    def _named(self, value: str) -> ValueSource | None:
        """Find the name and the uid of the object."""
        if value == self._copy.uid:
            return _UID
        if value == self._copy.name:
            return _NAME
        before, found, after = value.partition(self._hex)
        return ValueSource(Role.TEXT, parts=(before, _HEX, after)) if found else None

    def _time(self, path: Path, value: str) -> ValueSource | None:
        """Find the times at which things happened to the object.

        Those of metadata and status are such; a time in the spec may be any other.
        """
        is_named_so = _is_time_key(path[-1]) or path[:2] == MANAGED_FIELDS
        if not is_named_so or not is_time(value):
            return None
        first, last = _AROUND_CREATION
        happened = path[0] in {"metadata", "status"}
        if happened or first <= parse_time(value) - self._created <= last:
            return ValueSource(Role.TIME, fraction_digits(value))
        return None


_NAME, _UID, _HEX = ValueSource(Role.NAME), ValueSource(Role.UID), ValueSource(Role.HEX)


def _is_pod(body: Json) -> bool:
    return bool(body["apiVersion"] == "v1" and body["kind"] == "Pod")


def _pod_slots(pod: Json) -> Iterator[tuple[Path, ValueSource]]:
    yield ("spec", "nodeName"), ValueSource(Role.NODE)
    status = pod.get("status", {})
    own = Role.HOST_IP if pod["spec"].get("hostNetwork") else Role.POD_IP
    for field, role in (("podIP", own), ("hostIP", Role.HOST_IP)):
        yield ("status", field), ValueSource(role)
        for number in range(len(status.get(f"{field}s", ()))):
            yield ("status", f"{field}s", number, "ip"), ValueSource(role, number)


def _is_time_key(key: str | int) -> bool:
    """Return whether Kubernetes gives times such a name."""
    return isinstance(key, str) and (
        key.endswith(("Time", "Timestamp")) or key in {"startedAt", "finishedAt"}
    )


def is_time(value: str) -> bool:
    """Return whether a text is an RFC 3339 time."""
    try:
        parse_time(value)
    except ExpressionError:
        return False
    return True


def fraction_digits(time: str) -> int:
    """Return how many digits the seconds of an RFC 3339 time have after the point."""
    fraction = time.partition(".")[2]
    return len(fraction) - len(fraction.lstrip("0123456789"))
