"""The writes that bring a node to what its open faults show, in their order. Pure.

A node has two parts that are written apart: its taints, and the rest of what faults show, which the API server takes
together with the status. The journal must know of each taint for as long as the node has it: so it is written before a taint is
added, and the entry of a taint that is removed stays in it until the taint is gone. If a program is killed between two of the
writes, the next call continues from the node as it is then.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kwokctl.faults.journal import FaultJournal, Surface, journal_of
from kwokctl.faults.overlays.node_fields import with_entries, with_journal
from kwokctl.faults.overlays.open_entries import KubeletState, entries_of
from kwokctl.fleet.uuids import uuid_for
from kwokctl.json_value import Json
from kwokctl.kube.patching.merge_diff import merge_diff

_SPEC = "spec"
_METADATA = "metadata"
_TRANSITION = "lastTransitionTime"
_CONDITIONS: Surface = "conditions"
_REBOOTING: KubeletState = "rebooting"


class NodeWrite(NamedTuple):
    """One write."""

    subresource: str
    """Empty for the object itself, else `status`."""
    document: dict[str, Json]
    """A merge patch."""


def node_writes(node: Mapping[str, Json], target: Mapping[str, Json]) -> Iterator[NodeWrite]:
    """Yield the writes that make `target` of a node; none if it is that already.

    Each is made of the one before it, so it has no version: the caller adds that of the node as it is by then.
    """
    journal = journal_of(target)
    kept = _kept(journal_of(node), journal)
    first = with_journal(target, kept) if kept is not journal else target
    without_taints = {**first, _SPEC: node.get(_SPEC) or {}}
    if patch := merge_diff({**node, _SPEC: node.get(_SPEC) or {}}, without_taints):
        yield NodeWrite("status", patch)
    if (target.get(_SPEC) or {}) != (node.get(_SPEC) or {}):
        yield NodeWrite("", {_SPEC: {"taints": (target.get(_SPEC) or {}).get("taints")}})
    if kept is not journal:
        yield NodeWrite("status", merge_diff(first, target))


def change_of(
    before: Mapping[str, Json], after: Mapping[str, Json], subresource: str
) -> dict[str, Json]:
    """Return the merge patch of what a subresource of a node takes; an empty one if that does not differ.

    `status` takes the status with labels and annotations, the node itself the spec with these. The entries of taints that
    are to be removed stay in the journal: taints are written apart. A write of the node itself leaves to a later one of the
    status what the journal says of conditions, and which faults are open.
    """
    part = subresource or _SPEC
    journal = journal_of(after)
    kept = _kept(journal_of(before), journal)
    after = after if kept is journal else with_journal(after, kept)
    after = after if subresource else _as_shown(before, after)
    return merge_diff(
        {name: before[name] for name in (_METADATA, part) if name in before},
        {name: after[name] for name in (_METADATA, part) if name in after},
    )


def _as_shown(before: Mapping[str, Json], after: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return `after` with what `before` says of conditions that faults show, and of the faults that are open."""
    journal, entries = journal_of(after), entries_of(before)
    known = journal_of(before).items()
    wanted = {**journal, **{field: each for field, each in known if field.surface == _CONDITIONS}}
    after = after if wanted == journal else with_journal(after, wanted)
    return after if entries == entries_of(after) else with_entries(after, entries)


def _kept(before: FaultJournal, after: FaultJournal) -> FaultJournal:
    """Return the journal with the entries of taints that are to be removed; the journal itself if there are none."""
    going = {
        field: each
        for field, each in before.items()
        if field.surface == "taints" and field not in after and each.base is None
    }
    return {**going, **after} if going else after


def with_transitions(before: Mapping[str, Json], after: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a node whose conditions have the transition times of `before` where their statuses are the same."""
    known = {each.get("type"): each for each in _conditions(before)}
    conditions = [_dated(each, known.get(each.get("type"))) for each in _conditions(after)]
    if not conditions:
        return after
    return {**after, "status": {**after["status"], "conditions": conditions}}


def _conditions(node: Mapping[str, Json]) -> list[Json]:
    return (node.get("status") or {}).get("conditions") or []


def _dated(condition: Json, before: Json | None) -> Json:
    if before is None or before.get("status") != condition.get("status"):
        return condition
    if _TRANSITION not in before:
        return {name: value for name, value in condition.items() if name != _TRANSITION}
    return {**condition, _TRANSITION: before[_TRANSITION]}


def started_anew(before: Mapping[str, Json], after: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return `after` with another boot ID if a fault is over that had the machine reboot."""
    open_now = {each.key for each in entries_of(after)}
    rebooting = (each for each in entries_of(before) if each.kubelet == _REBOOTING)
    cause = next((each.uid for each in rebooting if each.key not in open_now), "")
    return with_boot(after, cause) if cause else after


def with_boot(node: Mapping[str, Json], cause: str) -> Mapping[str, Json]:
    """Return a node that was started anew; `cause` is the uid of the fault, so that the boot ID is the same each time."""
    status = node.get("status") or {}
    boot = uuid_for(node["metadata"]["name"], "boot", cause)
    return {
        **node,
        "status": {**status, "nodeInfo": {**(status.get("nodeInfo") or {}), "bootID": boot}},
    }
