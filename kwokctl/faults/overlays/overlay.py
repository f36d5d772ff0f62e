"""Shows the open faults of a node on it, and puts back what lies beneath when they are over. Pure.

What a node has beneath is what its Stages and clients wrote last. It is found by comparing each field with
what was shown in it before: a field that has another value was written meanwhile, and that value lies beneath from
now on. So a write of exactly what a fault shows is not noticed.
"""

from collections.abc import Mapping, Sequence

from kwokctl.expr.duration import format_time
from kwokctl.faults.classes.class_schema import FaultTaint
from kwokctl.faults.classes.message_texts import HitNode
from kwokctl.faults.journal import FaultJournal, NodeField, Overlaid, journal_of
from kwokctl.faults.overlays.device_words import device_words
from kwokctl.faults.overlays.effects import NodeEffects, OpenFault, ShownCondition, effects_of
from kwokctl.faults.overlays.node_fields import (
    facts_of,
    fields_of,
    with_entries,
    with_fields,
    with_journal,
)
from kwokctl.faults.overlays.open_entries import entries_of
from kwokctl.json_value import Json

_Values = Mapping[NodeField, Json]
_ADDED = "timeAdded"


def overlay(
    node: Mapping[str, Json], faults: Sequence[OpenFault], now: float
) -> Mapping[str, Json]:
    """Return a node with what its open faults show, in the order of `faults`, and with its journal.

    Of faults that show the same field, the later one is seen. Without faults the node is as it is beneath, and
    a node that has neither faults nor a journal is returned itself. The given node is not changed. `now` is a
    POSIX time stamp.
    """
    before = journal_of(node)
    if not before and not faults and not entries_of(node):
        return node
    found = fields_of(node)
    base = _beneath(found, before)
    effects = tuple(effects_of(facts := facts_of(node, base), faults))
    wanted = _wanted(facts, base, effects)
    shown = {field: _since(field, value, found, now) for field, value in wanted.items()}
    values = {field: base.get(field) for field in before} | shown
    changes = {field: value for field, value in values.items() if value != found.get(field)}
    journal = {
        field: Overlaid(base.get(field), _timeless(field, value))
        for field, value in shown.items()
        if value != base.get(field)
    }
    shown_node = with_journal(with_fields(node, changes, now), journal)
    return with_entries(shown_node, [each.entry for each in effects if each.entry is not None])


def _beneath(found: _Values, journal: FaultJournal) -> _Values:
    """Return the fields as they are without what was shown in them."""
    base = dict(found)
    for field, each in journal.items():
        if _timeless(field, found.get(field)) == each.shown:  # journals have no times
            base[field] = each.base
    return {field: value for field, value in base.items() if value is not None}


def _wanted(
    facts: HitNode, base: _Values, in_order: Sequence[NodeEffects]
) -> dict[NodeField, Json]:
    """Return the fields that faults show, by what lies beneath."""
    wanted: dict[NodeField, Json] = {}
    for each in in_order:
        for condition in each.conditions:
            field = NodeField("conditions", condition.type)
            wanted[field] = _in_words(condition, wanted.get(field))
        for taint in each.taints:
            field = NodeField("taints", f"{taint.key}:{taint.effect}")
            if field not in base:  # one that another client has added stays
                wanted[field] = _taint(taint)
        wanted.update((NodeField("labels", key), text) for key, text in each.labels.items())
        wanted.update(
            (NodeField("annotations", key), text) for key, text in each.annotations.items()
        )
    wanted.update(device_words(facts, base, in_order))
    return wanted


def _in_words(condition: ShownCondition, before: Json) -> Json:
    """Return a condition; an agent that collects messages keeps those of the faults before."""
    message = condition.message
    if (
        before is not None
        and condition.separator is not None
        and before["status"] == condition.status
    ):
        collected = before.get("message", "")
        message = (
            collected if message in collected else f"{collected}{condition.separator}{message}"
        )
    words = {"status": condition.status, "reason": condition.reason}
    # As the API server gives it back: what it leaves out would be taken for what another client has written.
    return {**words, "message": message} if message else words


def _taint(taint: FaultTaint) -> dict[str, Json]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}


def _timeless(field: NodeField, value: Json) -> Json:
    """Return a value without the time at which its taint was added.

    That time may change while the fault stays: a Stage is played on the node without the taint, which is then added again.
    """
    if field.surface != "taints" or value is None or _ADDED not in value:
        return value
    return {name: each for name, each in value.items() if name != _ADDED}


def _since(field: NodeField, value: Json, found: _Values, now: float) -> Json:
    """Return a value as it is shown: a taint with the time at which it was added."""
    if field.surface != "taints":
        return value
    have = found.get(field)
    if have is not None and _timeless(field, have) == value:
        return have
    return {**value, _ADDED: format_time(now)}
