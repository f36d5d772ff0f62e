"""Turns what is seen of nodes into lines: heartbeats, which change nothing that is recorded, write none."""

from collections.abc import Mapping, Sequence

import msgspec

from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.kube.pod_requests import amounts
from kwokctl.measure.record.amounts import text_of
from kwokctl.measure.record.fleet_lines import NodeChange, NodeGone, NodeSeen
from kwokctl.measure.watching.pods import SeenCondition
from kwokctl.measure.watching.texts import Emit, Texts


class _Metadata(Metadata, rename="camel", gc=False):
    labels: dict[str, str] | None = None


class _Taint(msgspec.Struct, gc=False):
    key: str
    effect: str
    value: str = ""

    def __str__(self) -> str:
        return (
            f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"
        )


class _Spec(msgspec.Struct, gc=False):
    unschedulable: bool = False
    taints: list[_Taint] | None = None


class _Status(msgspec.Struct, gc=False):
    allocatable: msgspec.Raw = msgspec.Raw(b"{}")
    """Not decoded: it is the same in most nodes, and in all heartbeats."""
    conditions: list[SeenCondition] | None = None


class SeenNode(msgspec.Struct, gc=False):
    """The recorded fields of a node."""

    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_State = tuple[int, int, int, bool, bool]
"""The recorded state of a node: allocatable, labels and taints as numbers of texts, Ready, cordoned."""


class _Known(msgspec.Struct, gc=False):
    number: int
    state: _State


_quantities = msgspec.json.Decoder(Mapping[str, str | int]).decode


class NodeTracker:
    """Writes a line for each change of the recorded fields of a node."""

    plural = "nodes"

    def __init__(self, emit: Emit, texts: Texts, *, labels: Sequence[str]) -> None:
        """Write lines by `emit`; record the values of `labels`."""
        self.decode = msgspec.json.Decoder(SeenNode).decode
        self._emit = emit
        self._texts = texts
        self._labels = sorted(labels)
        self._known: dict[str, _Known] = {}
        self._allocatable: dict[bytes, int] = {}
        self._has_begun = False
        self._count = 0

    def begin(self) -> None:
        """Take nodes that come from now on for new ones."""
        self._has_begun = True

    def see(self, node: SeenNode, _raw: bytes, time: int, *, listed: bool) -> None:
        """Note what a node is like."""
        named, state = node.metadata, self._state(node)
        known = self._known.get(named.uid)
        if known is None:
            self._count += 1
            self._known[named.uid] = _Known(self._count, state)
            is_listed = listed or not self._has_begun
            self._emit(NodeSeen(time, self._count, named.name, is_listed, *state))
        elif known.state != state:
            known.state = state
            self._emit(NodeChange(time, known.number, *state))

    def gone(self, uid: str, time: int) -> None:
        """Note that a node exists no longer."""
        known = self._known.pop(uid, None)
        if known is not None:
            self._emit(NodeGone(time, known.number))

    def _state(self, node: SeenNode) -> _State:
        found, spec, status = node.metadata.labels or {}, node.spec, node.status
        labels = ",".join(f"{key}={found[key]}" for key in self._labels if key in found)
        taints = ",".join(sorted(map(str, spec.taints))) if spec.taints else ""
        ready = any(
            each.type == "Ready" and each.status == "True" for each in status.conditions or ()
        )
        return (
            self._number_of(bytes(status.allocatable)),
            self._texts.number(labels),
            self._texts.number(taints),
            ready,
            spec.unschedulable,
        )

    def _number_of(self, allocatable: bytes) -> int:
        number = self._allocatable.get(allocatable)
        if number is None:
            text = text_of(amounts(_quantities(allocatable)).items())
            number = self._allocatable[allocatable] = self._texts.number(text)
        return number
