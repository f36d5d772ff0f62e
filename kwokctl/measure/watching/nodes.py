"""Turns what is seen of nodes into lines: heartbeats, which change nothing that is recorded, write none."""

from collections.abc import Mapping, Sequence

import msgspec

from kwokctl.fleet.tree import PLACE
from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.kube.pod_requests import amounts
from kwokctl.measure.record.amounts import text_of
from kwokctl.measure.record.fleet_lines import NodeChange, NodeGone, NodeSeen
from kwokctl.measure.watching.node_acts import NodeActs, NodeBarriers
from kwokctl.measure.watching.numbered_texts import Emit, Texts
from kwokctl.measure.watching.pods import SeenCondition


class SeenNodeAnnotations(msgspec.Struct, gc=False):
    """The one annotation that is read: others may be large, and change with each heartbeat."""

    place: str = msgspec.field(name=PLACE, default="")


class SeenNodeMetadata(Metadata, rename="camel", gc=False):
    """The metadata of a node that is recorded."""

    labels: dict[str, str] | None = None
    annotations: SeenNodeAnnotations | None = None

    @property
    def place(self) -> str:
        """The units of the fleet in which it is, as its annotation has them."""
        return self.annotations.place if self.annotations else ""


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

    metadata: SeenNodeMetadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_State = tuple[int, int, int, bool, bool]
"""The recorded state of a node: allocatable, labels and taints as numbers of texts, Ready, cordoned."""
_WholeState = tuple[_State, int]
"""Also its conditions, as the number of a text."""


class _Known(msgspec.Struct, gc=False):
    number: int
    state: _WholeState


_quantities = msgspec.json.Decoder(Mapping[str, str | int]).decode


class NodeTracker:
    """Writes a line for each change of the recorded fields of a node."""

    plural = "nodes"

    def __init__(
        self, emit: Emit, texts: Texts, *, labels: Sequence[str], acts: NodeActs | None = None
    ) -> None:
        """Write lines by `emit`; record the values of `labels`, and by `acts` who keeps pods away."""
        self.decode = msgspec.json.Decoder(SeenNode).decode
        self._emit = emit
        self._texts = texts
        self._labels = sorted(labels)
        self._acts = acts
        self._known: dict[str, _Known] = {}
        self._allocatable: dict[bytes, int] = {}
        self._has_begun = False
        self._count = 0

    def begin(self) -> None:
        """Take nodes that come from now on for new ones."""
        self._has_begun = True

    def see(self, node: SeenNode, raw: bytes, time: int, *, listed: bool) -> None:
        """Note what a node is like."""
        named = node.metadata
        state, conditions = whole = (self._state(node), self._conditions(node))
        known = self._known.get(named.uid)
        if known is None:
            self._count += 1
            known = self._known[named.uid] = _Known(self._count, whole)
            is_listed = listed or not self._has_begun
            place = self._texts.number(named.place)
            self._emit(
                NodeSeen(time, self._count, named.name, is_listed, *state, place, conditions)
            )
        elif known.state != whole:
            known.state = whole
            self._emit(NodeChange(time, known.number, *state, conditions))
        if self._acts is not None:
            self._acts.note(known.number, _access(node), raw, time)

    def gone(self, uid: str, time: int) -> None:
        """Note that a node exists no longer."""
        known = self._known.pop(uid, None)
        if known is not None:
            self._emit(NodeGone(time, known.number))
            if self._acts is not None:
                self._acts.forget(known.number)

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

    def _conditions(self, node: SeenNode) -> int:
        found = node.status.conditions or ()
        return self._texts.number(",".join(sorted(f"{each.type}={each.status}" for each in found)))

    def _number_of(self, allocatable: bytes) -> int:
        number = self._allocatable.get(allocatable)
        if number is None:
            text = text_of(amounts(_quantities(allocatable)).items())
            number = self._allocatable[allocatable] = self._texts.number(text)
        return number


def _access(node: SeenNode) -> NodeBarriers:
    taints = frozenset(f"{each.key}:{each.effect}" for each in node.spec.taints or ())
    return NodeBarriers(node.spec.unschedulable, taints)
