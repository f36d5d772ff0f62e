"""Judges whether an object of a set is what was requested: a Ready node, a Running pod.

Only the fields that decide are decoded, since a watch shows every object several times.
"""

from collections.abc import Callable
from functools import partial

import msgspec

from kwokctl.controller.nodes.facts import DOWN
from kwokctl.embedded.silence import is_silent
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS

_NOT_READY_TAINT = "node.kubernetes.io/not-ready"
_GOING = "is being deleted"
_RUNNING = frozenset({"Running", "Succeeded"})


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    deletion_timestamp: str | None = None
    finalizers: list[str] | None = None

    @property
    def held_by(self) -> tuple[str, ...]:
        return tuple(self.finalizers or ()) if self.deletion_timestamp else ()


class _NodeMetadata(_Metadata, rename="camel"):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None

    @property
    def is_broken(self) -> bool:
        """Whether a user, or a fault, has broken the node."""
        found = self.annotations or {}
        return (
            (self.labels or {}).get(DOWN) == "true"
            or is_silent(found)
            or bool(found.get(OPEN_FAULTS))
        )


class _Condition(msgspec.Struct):
    type: str
    status: str
    reason: str = ""
    message: str = ""


class _Status(msgspec.Struct):
    phase: str = ""
    reason: str = ""
    """Why a pod has failed."""
    message: str = ""
    conditions: list[_Condition] | None = None

    def condition(self, kind: str) -> _Condition | None:
        return next((each for each in self.conditions or () if each.type == kind), None)


class _Taint(msgspec.Struct):
    key: str


class _NodeSpec(msgspec.Struct):
    taints: list[_Taint] | None = None


class _Node(msgspec.Struct):
    metadata: _NodeMetadata
    spec: _NodeSpec = msgspec.field(default_factory=_NodeSpec)
    status: _Status = msgspec.field(default_factory=_Status)


class _PodSpec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Pod(msgspec.Struct):
    metadata: _Metadata
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)
    status: _Status = msgspec.field(default_factory=_Status)


class _Object(msgspec.Struct):
    metadata: _Metadata


_decode_node = msgspec.json.Decoder(_Node).decode
_decode_pod = msgspec.json.Decoder(_Pod).decode
_decode_object = msgspec.json.Decoder(_Object).decode


class Verdict(msgspec.Struct, frozen=True):
    """Whether one object is ready."""

    name: str
    lacks: str | None
    """The lack, for people; None if the object is ready."""
    node: str = ""
    """Of a pod that does not run: the node that it is bound to."""
    held_by: tuple[str, ...] = ()
    """Of an object that is being deleted: its finalizers."""
    is_broken: bool = False
    """Whether a user, or a fault, has broken a node that is not ready: `--wait` does not wait for it."""


Judge = Callable[[bytes | msgspec.Raw], Verdict]
"""Judges an object by its JSON."""


def judge_of(kind: str, *, keeps_taints: bool = False) -> Judge:
    """Return the function that judges objects of this kind, given as JSON.

    A node is ready when its Ready condition is True and it is free of the not-ready taint, and broken if
    it is not ready and its kubelet is down or silent by a label or an annotation; a pod is ready
    when it runs or has succeeded; an object of any other kind when it exists. No object is ready
    while it is being deleted. With `keeps_taints` the taint does not count: in that cluster no controller removes it.
    """
    node = partial(_node, keeps_taints=keeps_taints)
    judges: dict[str, Judge] = {"Node": node, "Pod": _pod}
    return judges.get(kind, _object)


def word_for(kind: str) -> str:
    """Return what objects of this kind are when they are ready, as a word."""
    return {"Node": "Ready", "Pod": "Running"}.get(kind, "there")


def _node(raw: bytes | msgspec.Raw, *, keeps_taints: bool) -> Verdict:
    node = _decode_node(raw)
    is_broken = False
    ready = node.status.condition("Ready")
    if node.metadata.deletion_timestamp:
        lacks: str | None = _GOING
    elif ready is None or ready.status != "True":
        lacks = "is not Ready" + (f": {ready.message or ready.reason}" if ready else "")
        is_broken = node.metadata.is_broken
    elif not keeps_taints and any(
        taint.key == _NOT_READY_TAINT for taint in node.spec.taints or ()
    ):
        lacks = f"has the taint {_NOT_READY_TAINT}"
        is_broken = node.metadata.is_broken
    else:
        lacks = None
    return Verdict(node.metadata.name, lacks, held_by=node.metadata.held_by, is_broken=is_broken)


def _pod(raw: bytes | msgspec.Raw) -> Verdict:
    pod = _decode_pod(raw)
    if pod.metadata.deletion_timestamp:
        return Verdict(pod.metadata.name, _GOING, held_by=pod.metadata.held_by)
    if pod.status.phase in _RUNNING:
        return Verdict(pod.metadata.name, None)
    scheduled = pod.status.condition("PodScheduled")
    is_unscheduled = scheduled is not None and scheduled.status == "False"
    why = scheduled.message if scheduled and is_unscheduled else ""
    if pod.status.phase == "Failed":
        why = pod.status.message or pod.status.reason
    because = f": {why}" if why else ""
    lacks = f"is {pod.status.phase or 'Pending'}{because}"
    return Verdict(pod.metadata.name, lacks, pod.spec.node_name)


def _object(raw: bytes | msgspec.Raw) -> Verdict:
    metadata = _decode_object(raw).metadata
    lacks = _GOING if metadata.deletion_timestamp else None
    return Verdict(metadata.name, lacks, held_by=metadata.held_by)
