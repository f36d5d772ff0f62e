"""Finds who has cordoned or tainted a node: the field manager that owns what was set.

The format of `managedFields`: https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kwokctl.json_value import Json
from kwokctl.measure.record.incident_lines import NodeAct
from kwokctl.measure.watching.numbered_texts import Emit, Texts

CORDON, UNCORDON, TAINT, UNTAINT = "cordon", "uncordon", "taint", "untaint"
_UNSCHEDULABLE, _TAINTS = "f:unschedulable", "f:taints"


class _Entry(msgspec.Struct, gc=False, rename="camel"):
    manager: str = ""
    fields_v1: Mapping[str, Json] = msgspec.field(name="fieldsV1", default_factory=dict)


class _Metadata(msgspec.Struct, gc=False, rename="camel"):
    managed_fields: list[_Entry] | None = None


class _ManagedNode(msgspec.Struct, gc=False):
    metadata: _Metadata


_node = msgspec.json.Decoder(_ManagedNode).decode


class NodeBarriers(msgspec.Struct, frozen=True):
    """The barriers that keep pods away from a node."""

    cordoned: bool
    taints: frozenset[str]
    """As `KEY:EFFECT`, without their values."""


class NodeActs:
    """Writes a line for each cordon, taint and the like."""

    def __init__(self, emit: Emit, texts: Texts) -> None:
        """Write lines by `emit`."""
        self._emit = emit
        self._texts = texts
        self._last: dict[int, NodeBarriers] = {}
        """By the number of the node."""

    def note(self, number: int, access: NodeBarriers, raw: bytes, time: int) -> None:
        """Note what keeps pods away from a node: what it has when it is first seen is no act."""
        before = self._last.get(number)
        self._last[number] = access
        if before is None or before == access:
            return
        entries = _node(raw).metadata.managed_fields or []
        for act, field in _acts(before, access):
            texts = (self._texts.number(act), self._texts.number(_owner(entries, field)))
            self._emit(NodeAct(time, number, *texts))

    def forget(self, number: int) -> None:
        """Forget a node that exists no longer."""
        self._last.pop(number, None)


def _acts(before: NodeBarriers, after: NodeBarriers) -> Iterator[tuple[str, str]]:
    """Yield what was done, and the field that shows who did it: no field manager owns what was taken away."""
    if before.cordoned != after.cordoned:
        yield (CORDON, _UNSCHEDULABLE) if after.cordoned else (UNCORDON, "")
    yield from ((f"{TAINT} {each}", _TAINTS) for each in sorted(after.taints - before.taints))
    yield from ((f"{UNTAINT} {each}", "") for each in sorted(before.taints - after.taints))


def _owner(entries: Iterable[_Entry], field: str) -> str:
    """Return the manager that owns a field of the spec; empty if none does."""
    return next((each.manager for each in entries if field in _spec(each.fields_v1)), "")


def _spec(fields: Mapping[str, Json]) -> Mapping[str, Json]:
    found: Mapping[str, Json] = fields.get("f:spec") or {}
    return found
