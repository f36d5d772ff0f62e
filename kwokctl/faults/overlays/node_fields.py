"""The fields of a node that faults may overlay: reading them all, and writing some. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.expr.duration import format_time
from kwokctl.faults.classes.message_texts import HitNode
from kwokctl.faults.journal import JOURNAL, FaultJournal, NodeField, Surface, as_text
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS, OpenEntry, entries_text
from kwokctl.fleet.device_health import DEVICE_INVENTORY, all_devices, read_inventory
from kwokctl.fleet.devices import gpus
from kwokctl.json_value import Json

_MAPS: Mapping[Surface, str] = {"labels": "metadata", "annotations": "metadata"}
"""The part of the node in which each mapping is."""
_LISTS: Mapping[Surface, str] = {"conditions": "status", "taints": "spec"}
_OWN = frozenset({JOURNAL, OPEN_FAULTS})
"""Annotations about faults, beneath which nothing lies."""
_WORDS = ("status", "reason", "message")
_HEARTBEAT, _TRANSITION = "lastHeartbeatTime", "lastTransitionTime"


def fields_of(node: Mapping[str, Json]) -> dict[NodeField, Json]:
    """Return every field; of a condition its words, without times."""
    found: dict[NodeField, Json] = {}
    for surface, part in _MAPS.items():
        values = (node.get(part) or {}).get(surface) or {}
        found.update(
            (NodeField(surface, name), value) for name, value in values.items() if name not in _OWN
        )
    for surface, part in _LISTS.items():
        for item in (node.get(part) or {}).get(surface) or ():
            found[NodeField(surface, _name(surface, item))] = _value(surface, item)
    return found


def facts_of(node: Mapping[str, Json], fields: Mapping[NodeField, Json]) -> HitNode:
    """Return the facts of a node that has these fields."""
    capacity = (node.get("status") or {}).get("capacity") or {}
    numbers = {name: int(each) for name, each in capacity.items() if str(each).isdecimal()}
    inventory = read_inventory(fields.get(NodeField("annotations", DEVICE_INVENTORY), ""))
    return HitNode(
        name=node["metadata"]["name"],
        labels=_of(fields, "labels"),
        capacity=all_devices(numbers, inventory),
    )


def gpus_of(node: Mapping[str, Json]) -> int:
    """Return the number of GPUs of a node that shows no faults."""
    facts = facts_of(node, fields_of(node))
    return len(gpus(facts.name, facts.labels, facts.capacity))


def _of(fields: Mapping[NodeField, Json], surface: Surface) -> dict[str, Json]:
    return {field.name: value for field, value in fields.items() if field.surface == surface}


def _name(surface: Surface, item: Mapping[str, Json]) -> str:
    if surface == "conditions":
        return str(item["type"])
    return f"{item['key']}:{item['effect']}"


def _value(surface: Surface, item: Mapping[str, Json]) -> Json:
    if surface == "conditions":
        return {word: item[word] for word in _WORDS if item.get(word)}
    return item


def with_fields(
    node: Mapping[str, Json], changes: Mapping[NodeField, Json], now: float
) -> Mapping[str, Json]:
    """Return a copy of a node with other values in some fields; None removes one.

    The times of a condition are those of the present one; its transition is `now` if the status is another.
    """
    for surface, part in (*_MAPS.items(), *_LISTS.items()):
        own = _of(changes, surface)
        if own:
            have = (node.get(part) or {}).get(surface)
            values = _in_map(have, own) if surface in _MAPS else _in_list(surface, have, own, now)
            node = _with_part(node, part, surface, values)
    return node


def with_journal(node: Mapping[str, Json], journal: FaultJournal) -> Mapping[str, Json]:
    """Return a copy of a node with a journal; without the annotation, if there is nothing in it."""
    have = node["metadata"].get("annotations")
    text = as_text(journal) if journal else None
    return _with_part(node, "metadata", "annotations", _in_map(have, {JOURNAL: text}))


def with_entries(node: Mapping[str, Json], entries: Sequence[OpenEntry]) -> Mapping[str, Json]:
    """Return a copy of a node that says which faults are open; without the annotation, if there are none."""
    have = node["metadata"].get("annotations")
    text = entries_text(entries) if entries else None
    return _with_part(node, "metadata", "annotations", _in_map(have, {OPEN_FAULTS: text}))


def _with_part(node: Mapping[str, Json], part: str, name: str, values: Json) -> Mapping[str, Json]:
    """Return a copy with a part's field; one that became empty is left out, as the API server does."""
    have = node.get(part) or {}
    if values:
        return {**node, part: {**have, name: values}}
    return {**node, part: {key: value for key, value in have.items() if key != name}}


def _in_map(have: Mapping[str, Json] | None, own: Mapping[str, Json]) -> Json:
    return {key: value for key, value in {**(have or {}), **own}.items() if value is not None}


def _in_list(
    surface: Surface, have: Sequence[Json] | None, own: Mapping[str, Json], now: float
) -> Json:
    """Return the items in their order, with new ones at the end."""
    present = {_name(surface, item): item for item in have or ()}
    merged = {**present, **{name: present.get(name) for name in own}}
    return [*_items(surface, merged, own, now)]


def _items(
    surface: Surface, merged: Mapping[str, Json], own: Mapping[str, Json], now: float
) -> Iterator[Json]:
    for name, item in merged.items():
        if name not in own:
            yield item
        elif own[name] is not None:
            yield own[name] if surface == "taints" else _condition(name, item, own[name], now)


def _condition(kind: str, have: Json, words: Json, now: float) -> Json:
    kept = {key: value for key, value in (have or {}).items() if key not in _WORDS}
    moves = have is None or have.get("status") != words.get("status")
    times = {_HEARTBEAT: format_time(now), **({_TRANSITION: format_time(now)} if moves else {})}
    return {"type": kind, **kept, **words, **times}
