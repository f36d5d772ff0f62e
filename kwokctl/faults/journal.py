"""The journal of a node: of each field that faults overlay, what lies beneath it. Pure.

It stands in the node itself, so that it is written together with what the faults show, and undone by the
controller that holds the node: both exist, or neither ([ADR 125](../../docs/adr/0125-a-fault-is-an-overlay-with-a-journal.md)).
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from kwokctl.json_value import Json

JOURNAL = "kwokctl.dev/faults"
"""The annotation."""
Surface = Literal["conditions", "taints", "labels", "annotations"]


class NodeField(NamedTuple):
    """A field that faults may overlay: a condition by its type, a taint by key and effect, others by their key."""

    surface: Surface
    name: str


class Overlaid(msgspec.Struct, frozen=True, array_like=True):
    """The values of a field; None where there is no such field."""

    base: Json
    """The value beneath, as a Stage or a client wrote it last."""
    shown: Json


FaultJournal = Mapping[NodeField, Overlaid]


def journal_of(node: Mapping[str, Json]) -> FaultJournal:
    """Return the journal that a node has; an annotation that is not one counts as none."""
    text = (node["metadata"].get("annotations") or {}).get(JOURNAL)
    try:
        surfaces = _decode(text) if text else {}
    except msgspec.MsgspecError:
        return {}
    return {
        NodeField(surface, name): each
        for surface, fields in surfaces.items()
        for name, each in fields.items()
    }


@lru_cache(maxsize=256)
def overlaid_conditions(text: str) -> frozenset[str]:
    """Return the types of the conditions that are in a journal, which is given as text."""
    try:
        surfaces = _decode(text) if text else {}
    except msgspec.MsgspecError:
        return frozenset()
    return frozenset(surfaces.get("conditions", ()))


def as_text(journal: FaultJournal) -> str:
    """Return the value of the annotation, the same text for the same journal."""
    surfaces: dict[str, dict[str, Overlaid]] = {}
    for field, each in journal.items():
        surfaces.setdefault(field.surface, {})[field.name] = each
    return _encode(surfaces).decode()


_decode = msgspec.json.Decoder(dict[Surface, dict[str, Overlaid]]).decode
_encode = msgspec.json.Encoder(order="sorted").encode
