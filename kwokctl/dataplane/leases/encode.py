"""Writes a node's lease, for the API as JSON and for etcd as a protocol buffer.

Field numbers are those of k8s.io/api/coordination/v1, k8s.io/apimachinery/pkg/apis/meta/v1 and
k8s.io/apimachinery/pkg/runtime (generated.proto of each). Empty fields are left out.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache

from kwokctl.dataplane.copies import message_template
from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.etcd.protobuf import LENGTH, VARINT, sized, tag, varint
from kwokctl.expr.duration import parse_time
from kwokctl.json_value import Json

_API_VERSION, _KIND = "coordination.k8s.io/v1", "Lease"

_Names = Mapping[int, str]
"""Fields by their numbers."""

_TEXTS = {1: "name", 3: "namespace", 5: "uid"}
_TIMES = {8: "creationTimestamp", 9: "deletionTimestamp"}
_GRACE, _LABELS, _ANNOTATIONS, _OWNERS, _FINALIZERS = 10, 11, 12, 13, 14
"""Fields of ObjectMeta."""
_OWNER_TEXTS = {5: "apiVersion", 1: "kind", 3: "name", 4: "uid"}
_OWNER_FLAGS = {6: "controller", 7: "blockOwnerDeletion"}
"""Fields of OwnerReference."""
_HOLDER, _DURATION, _ACQUIRED, _RENEWED, _TRANSITIONS = 1, 2, 3, 4, 5
"""Fields of LeaseSpec."""

_SIZED = [tag(number, LENGTH) for number in range(16)]
_NUMBER = [tag(number, VARINT) for number in range(16)]
"""The tags of fields."""
_TYPE = sized(_SIZED[1], sized(_SIZED[1], _API_VERSION.encode()) + sized(_SIZED[2], _KIND.encode()))
HEAD = PREFIX + _TYPE
"""The beginning of every lease's value: the prefix of protocol buffers, and the type."""
_RAW = _SIZED[2]
_METADATA, _SPEC = _SIZED[1], _SIZED[2]


class Lease:
    """A node's lease; parts that do not change with a renewal are encoded once."""

    __slots__ = ("_head", "_spec", "_tail", "acquired", "duration", "holder", "metadata",
                 "renewed", "transitions")  # fmt: skip

    def __init__(
        self,
        metadata: Mapping[str, Json],
        *,
        holder: str,
        duration: int,
        acquired: float,
        renewed: float,
        transitions: int = 0,
    ) -> None:
        """Describe a lease, `metadata` without a resourceVersion.

        `duration` is in seconds, times are POSIX time stamps; all but `renewed` stay as they are.
        """
        self.metadata = metadata
        self.holder = holder
        self.duration = duration
        self.acquired = acquired
        self.renewed = renewed
        self.transitions = transitions
        self._head = self._spec = self._tail = b""

    def named(self, uid: str, created: str) -> "Lease":
        """Return this lease as a newly created object."""
        return Lease(
            {**self.metadata, "uid": uid, "creationTimestamp": created},
            holder=self.holder,
            duration=self.duration,
            acquired=self.acquired,
            renewed=self.renewed,
            transitions=self.transitions,
        )

    def document(self) -> dict[str, Json]:
        """Return the lease as the API expects it."""
        return {
            "apiVersion": _API_VERSION,
            "kind": _KIND,
            "metadata": self.metadata,
            "spec": {
                "holderIdentity": self.holder,
                "leaseDurationSeconds": self.duration,
                "acquireTime": micro_time(self.acquired),
                "renewTime": micro_time(self.renewed),
                "leaseTransitions": self.transitions,
            },
        }

    def value(self) -> bytes:
        """Return the lease as kube-apiserver stores it."""
        if not self._head:
            self._head = sized(_METADATA, _metadata(self.metadata))
            self._spec = b"".join(
                (
                    sized(_SIZED[_HOLDER], self.holder.encode()),
                    _NUMBER[_DURATION],
                    varint(self.duration),
                    sized(_SIZED[_ACQUIRED], _micro_time(self.acquired)),
                )
            )
            self._tail = _NUMBER[_TRANSITIONS] + varint(self.transitions)
        spec = self._spec + sized(_SIZED[_RENEWED], _micro_time(self.renewed)) + self._tail
        size = varint(len(spec))
        raw = len(self._head) + 1 + len(size) + len(spec)
        return b"".join((HEAD, _RAW, varint(raw), self._head, _SPEC, size, spec))


def micro_time(now: float) -> str:
    """Write a POSIX time stamp as Kubernetes' MicroTime."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@lru_cache(maxsize=64)
def _micro_time(now: float) -> bytes:
    """Encode a time; leases that are written together share it."""
    seconds, micro = divmod(round(now * 1e6), 10**6)
    return _NUMBER[1] + varint(seconds) + _NUMBER[2] + varint(micro * 1000)


@lru_cache(maxsize=64)
def _time(text: str) -> bytes:
    return message_template.time(int(parse_time(text)))


def _metadata(metadata: Mapping[str, Json]) -> bytes:
    parts = _texts(metadata, _TEXTS)
    for number, name in _TIMES.items():
        if metadata.get(name):
            parts.append(sized(_SIZED[number], _time(metadata[name])))
    grace = metadata.get("deletionGracePeriodSeconds")
    if grace is not None:
        parts.append(_NUMBER[_GRACE] + varint(grace))
    for number, name in ((_LABELS, "labels"), (_ANNOTATIONS, "annotations")):
        parts += [
            sized(_SIZED[number], _text(1, key) + _text(2, text))
            for key, text in (metadata.get(name) or {}).items()
        ]
    for owner in metadata.get("ownerReferences") or ():
        flags = [
            _NUMBER[number] + varint(int(owner[name]))
            for number, name in _OWNER_FLAGS.items()
            if owner.get(name) is not None
        ]
        content = b"".join(_texts(owner, _OWNER_TEXTS) + flags)
        parts.append(sized(_SIZED[_OWNERS], content))
    parts += [_text(_FINALIZERS, name) for name in metadata.get("finalizers") or ()]
    return b"".join(parts)


def _texts(values: Mapping[str, Json], names: _Names) -> list[bytes]:
    return [_text(number, values[name]) for number, name in names.items() if values.get(name)]


def _text(number: int, text: str) -> bytes:
    return sized(_SIZED[number], text.encode())
