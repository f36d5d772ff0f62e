"""The Events with which agents report the faults of a node. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kwokctl.faults.classes.message_texts import rendered
from kwokctl.faults.overlays.effects import OpenFault, signal_values
from kwokctl.faults.overlays.node_fields import facts_of, fields_of
from kwokctl.faults.overlays.open_entries import entries_of
from kwokctl.json_value import Json


class AgentEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An Event about a node, in the words of an agent."""

    type: str
    reason: str
    message: str
    component: str


def fault_events(node: Mapping[str, Json], faults: Sequence[OpenFault]) -> Iterator[AgentEvent]:
    """Yield the Events of the signals that the node does not show yet, in the order of the faults.

    `node` is as it was before they are shown: its annotation says how many signals of each fault are shown.
    """
    shown = {each.key: each.shown for each in entries_of(node)}
    known = [shown.get(_key(each), 0) for each in faults]
    if all(len(each.due) <= before for each, before in zip(faults, known, strict=True)):
        return
    facts = facts_of(node, fields_of(node))
    values = signal_values(facts, faults)
    for fault, before, texts in zip(faults, known, values, strict=True):
        for dialect, signal in fault.due[before:]:
            for event in signal.events:
                message = rendered(event.message, texts)
                yield AgentEvent(
                    type=event.type,
                    reason=rendered(event.reason, texts),
                    message=message[: dialect.spec.longest_message],
                    component=event.component or dialect.spec.component,
                )


def _key(fault: OpenFault) -> tuple[str, int | None, int]:
    identity = fault.identity
    return ("", None, 0) if identity is None else (identity.uid, fault.gpu, identity.order)
