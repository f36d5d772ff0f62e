"""Watches nodes as a record does, and also where they stand and which faults they show."""

from collections.abc import Callable

import msgspec

from kwokctl.faults.overlays.open_entries import OPEN_FAULTS
from kwokctl.fleet.tree import place_of
from kwokctl.measure.record.fleet_lines import ZONE
from kwokctl.measure.watching.nodes import (
    NodeTracker,
    SeenNode,
    SeenNodeAnnotations,
    SeenNodeMetadata,
)
from kwokctl.measure.watching.numbered_texts import Emit, Texts


class _Annotations(SeenNodeAnnotations, gc=False):
    faults: str = msgspec.field(default="", name=OPEN_FAULTS)


class _PlacedMetadata(SeenNodeMetadata, gc=False):
    annotations: _Annotations | None = None  # type: ignore[mutable-override]  # no code sets it


class _PlacedNode(SeenNode, gc=False):
    metadata: _PlacedMetadata  # type: ignore[mutable-override]  # no code sets it


class _NamedFault(msgspec.Struct, gc=False, frozen=True):
    fault: str = ""


NotePlace = Callable[[str, str, str], None]
"""Gets the name of a node, its rack (else its zone, or nothing), and the names of its open faults."""
_faults = msgspec.json.Decoder(list[_NamedFault]).decode


class PlacedNodes(NodeTracker):
    """Writes the lines of nodes; `note` gets places and faults first."""

    def __init__(self, emit: Emit, texts: Texts, note: NotePlace) -> None:
        super().__init__(emit, texts, labels=(ZONE,))
        self.decode = msgspec.json.Decoder(_PlacedNode).decode
        self._note = note
        self._noted: dict[str, tuple[str, str]] = {}
        """By uid: the annotations that were noted last, as they are."""

    def see(self, node: SeenNode, raw: bytes, time: int, *, listed: bool) -> None:
        """Note what a node is like."""
        assert isinstance(node, _PlacedNode)
        found = node.metadata.annotations or _Annotations()
        place = found.place or (node.metadata.labels or {}).get(ZONE, "")
        present = (place, found.faults)
        uid = node.metadata.uid
        if self._noted.get(uid) != present:
            self._noted[uid] = present
            self._note(node.metadata.name, _unit(found.place, place), _fault_names(present[1]))
        super().see(node, raw, time, listed=listed)

    def gone(self, uid: str, time: int) -> None:
        """Note that a node exists no longer."""
        self._noted.pop(uid, None)
        super().gone(uid, time)


def _unit(place: str, zone: str) -> str:
    """Return the rack of a place; else the zone."""
    return place_of(place).get("rack", "") if place else zone


def _fault_names(text: str) -> str:
    """Return the names of the faults in the annotation; what is no list of them counts as one without a name."""
    if not text:
        return ""
    try:
        return ", ".join(dict.fromkeys(each.fault for each in _faults(text)))
    except msgspec.MsgspecError:
        return "unreadable"
