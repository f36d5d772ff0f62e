"""Finds the values that differ between the copies of one object: their places and their sources."""

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
"""Values that a template derives from the object's serial; equal functions give equal values.

Places that hold the object's name may be left out.
"""

MANAGED_FIELDS: Path = ("metadata", "managedFields")
"""The field in which an object records which client owns which of its fields."""

_AROUND_CREATION = (-5.0, 60.0)
"""Seconds around an object's creation in which a time counts as the time of its creation."""


class Copy(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The values of one copy that differ from those of others."""

    serial: int
    name: str
    uid: str
    created: str
    """RFC 3339, in whole seconds, with `Z`."""
    node: str = ""
    """Node of a pod, where the object has one."""
    pod_ips: tuple[str, ...] = ()
    """As many addresses as the object has; not requested for a pod that has those of its node."""
    host_ips: tuple[str, ...] = ()
    is_held: bool = True
    """Whether no other controller writes to the pod's node."""


class Role(Enum):
    """The meaning of a value that differs between copies."""

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
    """A text that contains values of the copy."""
    FIELDS = auto()
    """A set of managed fields, as JSON, in which keys differ."""
    PLAYED = auto()
    """A text that a Stage renders from values of the copy."""


class ValueSource(msgspec.Struct, frozen=True):
    """The source of the values of slots; slots with equal sources have the same value."""

    role: Role
    number: int = 0
    """The position of an address, or the number of digits in a fraction of a second."""
    of_serial: Callable[[int], Json] | None = None
    of_copy: Callable[[Copy], Json] | None = None
    parts: "tuple[str | ValueSource, ...]" = ()
    """The parts of a text or of a set of fields."""

    def in_json(self) -> Callable[[Copy], bytes]:
        """Return the function that returns a copy's value as JSON."""
        read = self.reader()
        if self.role is Role.FIELDS:
            return lambda copy: read(copy).encode()
        return lambda copy: orjson.dumps(read(copy))

    def reader(self) -> Callable[[Copy], Json]:
        """Return the function that returns a copy's value; a set of fields as text."""
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
    """A place in the copied object whose value differs between copies."""

    path: Path
    source: ValueSource
    value: Json
    """The value of the copied object there."""


Played = Mapping[Path, ValueSource]
"""The sources of values that Stages have given a status, by their paths."""

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
        """Examine an object whose values are those of `copy`.

        With `played`, the sources of its status are known, and its status is not searched.
        """
        self._played = played
        self._body = body
        self._copy = copy
        self._hex = copy.uid.replace("-", "")
        self._varying = varying
        self._own = dict(_pod_slots(body)) if _is_pod(body) else {}
        self._created = parse_time(body["metadata"]["creationTimestamp"])

    def key(self, key: str) -> ValueSource | None:
        """Return the source of a key of a map, None if all copies have it."""
        return _UID if key == self._copy.uid else None

    def fields(self, path: Path, value: Json) -> ValueSource | None:
        """Return the source of a map if it is a set of managed fields with keys that differ."""
        if path[:2] != MANAGED_FIELDS or path[3:] != ("fieldsV1",):
            return None
        parts = tuple(parts_of(value, self._body, self.leaf))
        return ValueSource(Role.FIELDS, parts=parts) if len(parts) > 1 else None

    def leaf(self, path: Path, value: Json) -> ValueSource | None:
        """Return the source of a value that is neither map nor list, None if all copies have the same."""
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
        """Return the source of a time at which something happened to the object.

        Only times in metadata and status are; a time in the spec may mean anything.
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
    """Return whether Kubernetes uses such a name for times."""
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
