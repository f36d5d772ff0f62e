"""Reads a node's lease from a response of the API, or from its value in etcd.

Field numbers are those of k8s.io/api/coordination/v1, k8s.io/apimachinery/pkg/apis/meta/v1 and
k8s.io/apimachinery/pkg/runtime (generated.proto of each).
"""

from datetime import datetime
from functools import lru_cache

import msgspec

from kwokctl.dataplane.leases.encode import HEAD
from kwokctl.etcd.protobuf import LENGTH, VARINT, MessageError, fields, mark
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json


class StoredLease(msgspec.Struct, kw_only=True):
    """The fields of a lease that matter here; times are POSIX time stamps, 0 if absent."""

    version: str = ""
    """The resourceVersion."""
    name: str = ""
    uid: str = ""
    created: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    owners: list[dict[str, Json]] | None = None
    deletion: str | None = None
    grace: int | None = None
    """The grace period of its deletion in seconds."""
    holder: str = ""
    duration: int = 0
    """Seconds that the lease lasts without renewal."""
    acquired: float = 0.0
    renewed: float = 0.0
    transitions: int = 0

    @property
    def number(self) -> int:
        """The resourceVersion as a number, so that versions can be compared; 0 if absent."""
        return int(self.version or 0)

    def expires(self) -> float:
        """Return the time at which it ends, as a POSIX time stamp; 0 if it was never renewed."""
        return self.renewed + self.duration if self.renewed and self.duration else 0.0


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    uid: str = ""
    creation_timestamp: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    owner_references: list[dict[str, Json]] | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Document(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)


_document = msgspec.json.Decoder(_Document).decode


def read_lease(raw: bytes | msgspec.Raw) -> StoredLease:
    """Read a lease as the API shows it."""
    document = _document(raw)
    metadata, spec = document.metadata, document.spec
    return StoredLease(
        version=metadata.resource_version,
        name=metadata.name,
        uid=metadata.uid,
        created=metadata.creation_timestamp,
        labels=metadata.labels,
        annotations=metadata.annotations,
        finalizers=metadata.finalizers,
        owners=metadata.owner_references,
        deletion=metadata.deletion_timestamp,
        grace=metadata.deletion_grace_period_seconds,
        holder=spec.holder_identity or "",
        duration=spec.lease_duration_seconds or 0,
        acquired=_timestamp(spec.acquire_time),
        renewed=_timestamp(spec.renew_time),
        transitions=spec.lease_transitions or 0,
    )


def stored_lease(value: bytes, revision: int) -> StoredLease | None:
    """Read a lease as it was stored in etcd in a revision; None if the value is not a lease."""
    if value.startswith(b"{"):
        lease = read_lease(value)
        lease.version = str(revision)
        return lease
    if not value.startswith(HEAD):
        return None
    lease = StoredLease(version=str(revision))
    try:
        _read_object(lease, value)
    except (MessageError, UnicodeDecodeError):
        return None
    return lease


# Of Unknown, of Lease.
_RAW = _SPEC = mark(2, LENGTH)
_METADATA = mark(1, LENGTH)
# Of ObjectMeta.
_TEXTS = {mark(1, LENGTH): "name", mark(5, LENGTH): "uid"}
_TIMES = {mark(8, LENGTH): "created", mark(9, LENGTH): "deletion"}
_PAIRS = {mark(11, LENGTH): "labels", mark(12, LENGTH): "annotations"}
_GRACE, _OWNERS, _FINALIZERS = mark(10, VARINT), mark(13, LENGTH), mark(14, LENGTH)
# Of LeaseSpec.
_HOLDER, _ACQUIRED, _RENEWED = (mark(n, LENGTH) for n in (1, 3, 4))
_DURATION, _TRANSITIONS = (mark(n, VARINT) for n in (2, 5))
# Of a time.
_SECONDS, _NANOS = (mark(n, VARINT) for n in (1, 2))
_OWNER = {
    mark(1, LENGTH): "kind",
    mark(3, LENGTH): "name",
    mark(4, LENGTH): "uid",
    mark(5, LENGTH): "apiVersion",
    mark(6, VARINT): "controller",
    mark(7, VARINT): "blockOwnerDeletion",
}


def _read_object(lease: StoredLease, data: bytes) -> None:
    start = len(HEAD)
    for key, at, end in fields(data, start, len(data)):
        if key == _RAW:
            for inner, begin, stop in fields(data, at, end):
                if inner == _METADATA:
                    _read_metadata(lease, data, begin, stop)
                elif inner == _SPEC:
                    _read_spec(lease, data, begin, stop)


def _read_metadata(lease: StoredLease, data: bytes, at: int, end: int) -> None:
    for key, value, stop in fields(data, at, end):
        if key in _TEXTS:
            setattr(lease, _TEXTS[key], data[value:stop].decode())
        elif key in _TIMES:
            setattr(lease, _TIMES[key], _formatted(data[value:stop]))
        elif key in _PAIRS:
            name = _PAIRS[key]
            setattr(lease, name, (getattr(lease, name) or {}) | _pair(data, value, stop))
        elif key == _OWNERS:
            lease.owners = [*(lease.owners or ()), _owner(data, value, stop)]
        elif key == _FINALIZERS:
            lease.finalizers = [*(lease.finalizers or ()), data[value:stop].decode()]
        elif key == _GRACE:
            lease.grace = value


def _read_spec(lease: StoredLease, data: bytes, at: int, end: int) -> None:
    for key, value, stop in fields(data, at, end):
        if key == _HOLDER:
            lease.holder = data[value:stop].decode()
        elif key == _DURATION:
            lease.duration = value
        elif key == _ACQUIRED:
            lease.acquired = _moment(data[value:stop])
        elif key == _RENEWED:
            lease.renewed = _moment(data[value:stop])
        elif key == _TRANSITIONS:
            lease.transitions = value


def _owner(data: bytes, at: int, end: int) -> dict[str, Json]:
    owner: dict[str, Json] = {}
    for key, value, stop in fields(data, at, end):
        name = _OWNER.get(key)
        if name is not None:
            owner[name] = data[value:stop].decode() if key & 7 == LENGTH else bool(value)
    return owner


def _pair(data: bytes, at: int, end: int) -> dict[str, str]:
    texts = {key: data[value:stop].decode() for key, value, stop in fields(data, at, end)}
    return {texts.get(mark(1, LENGTH), ""): texts.get(mark(2, LENGTH), "")}


@lru_cache(maxsize=64)
def _formatted(time: bytes) -> str:
    return format_time(_moment(time))


@lru_cache(maxsize=64)
def _moment(time: bytes) -> float:
    """Return a time as a POSIX time stamp; leases that are written together share it."""
    found = {key: value for key, value, _ in fields(time, 0, len(time))}
    return found.get(_SECONDS, 0) + found.get(_NANOS, 0) / 1e9


def _timestamp(text: str | None) -> float:
    return datetime.fromisoformat(text).timestamp() if text else 0.0
