"""The documents that a sink gets: each thing that a stack could notice of a fault, with what remediators ask for. Pure."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from kwokctl.expr.duration import parse_time
from kwokctl.faults.classes.catalogue import FaultClass
from kwokctl.faults.classes.class_schema import FaultSignal
from kwokctl.faults.classes.message_texts import HitNode, context, rendered
from kwokctl.faults.truth.fault_truth import Happening, TruthEntry, TruthPhase
from kwokctl.json_value import Json

_TOLD: frozenset[TruthPhase] = frozenset({"injected", "followed", "signal", "cleared"})
"""The others are about what the controller has written, and no stack notices that."""
_ACTION = re.compile(r"Recommended Action=(\w+)")


class SinkSignal(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A document on something that happened to a unit of a fault."""

    id: str
    """The same for the same happening: a receiver may get one twice, if its answer was lost."""
    time: str
    """The time of day at which it was due, as RFC 3339 writes it."""
    phase: TruthPhase
    """`injected`, `followed`, `signal` or `cleared`."""
    fault: str
    uid: str
    class_name: str = msgspec.field(name="class")
    dialect: str = ""
    node: str
    gpu: int | None = None
    uuid: str = ""
    pci: str = ""
    """As the kernel writes the bus: `0000:1b:00`."""
    pod: str = ""
    xid: int | None = None
    kernel_line: str = ""
    """The lines that the kernel logs, if there are several with line ends between."""
    check: str = ""
    """The type of the condition that shows it, else the reason of the Event, else the first word on what does."""
    signal: str = ""
    """All that the dialect shows, in short."""
    message: str = ""
    """The message of that condition or Event."""
    fatal: bool
    action: str | None = None
    """The action that NVIDIA recommends, in NVSentinel's words, as far as the class says it."""

    @property
    def due(self) -> float:
        """The time at which it was due, as a POSIX time stamp."""
        return parse_time(self.time)


def sink_signals(happening: Happening, node: HitNode | None) -> Iterator[SinkSignal]:
    """Yield the documents on a happening; none for one that no stack notices. `node` is None if it is gone.

    The end of a fault has a document for each signal that is shown no longer, or one if none was shown.
    """
    entry = happening.entry
    if entry.phase not in _TOLD:
        return
    for each in happening.ended or (happening,):
        yield _document(each, entry, node)


def _document(each: Happening, told: TruthEntry, node: HitNode | None) -> SinkSignal:
    """Return the document on a happening, with the phase and the time of the line `told` of the log."""
    entry, part = each.entry, each.part
    found = part.found if part is not None else None
    values = _values(each, node)
    kernel = found.spec.effects.kernel_log if found is not None else ()
    check, message = next(_checks(each, values), (_first_word(entry.signal), ""))
    return SinkSignal(
        id=_identity(each, told.phase),
        time=told.wall,
        phase=told.phase,
        fault=entry.fault,
        uid=entry.uid,
        class_name=entry.class_name,
        dialect=entry.dialect,
        node=entry.node,
        gpu=entry.gpu,
        uuid=values.get("uuid", ""),
        pci=values.get("bus", ""),
        pod=entry.pod,
        xid=found.spec.xid if found is not None else None,
        kernel_line="\n".join(rendered(line, values) for line in kernel),
        check=check,
        signal=entry.signal,
        message=message,
        fatal=found is not None and found.spec.severity == "fatal",
        action=recommended_action(found) if found is not None else None,
    )


def recommended_action(found: FaultClass) -> str | None:
    """Return what the class's own signals recommend, such as `RESTART_BM`; None if none does."""
    for signals in found.spec.signals.values():
        for _, text in (shown for each in signals for shown in _shown(each)):
            if (action := _ACTION.search(text)) is not None:
                return action[1]
    return None


def _shown(signal: FaultSignal) -> Iterator[tuple[str, str]]:
    """Yield the type and message of each condition, then the reason and message of each Event, as templates."""
    for condition in signal.conditions:
        yield condition.type, condition.message
    for event in signal.events:
        yield event.reason, event.message


def _values(each: Happening, node: HitNode | None) -> Mapping[str, Json]:
    """Return the values of the templates; of other faults of the node nothing is counted."""
    if each.part is None or node is None:
        return {"node": each.entry.node}
    missing = each.part.found.spec.effects.device == "missing"
    return context(node, each.part.parameters, missing=int(missing))


def _checks(each: Happening, values: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield the names and messages of what shows it."""
    for name, text in _shown(each.signal) if each.signal is not None else ():
        yield name, rendered(text, values)


def _first_word(signal: str) -> str:
    return signal.partition(", ")[0]


def _identity(each: Happening, phase: TruthPhase) -> str:
    """Return the words that tell a document from all others of a cluster; the end of a fault without signals has no time."""
    entry = each.entry
    gpu = "" if entry.gpu is None else str(entry.gpu)
    order = "" if each.part is None else str(each.part.identity.order)
    time = "" if entry.phase == "cleared" else str(entry.t)
    unit = (entry.uid, entry.node, gpu, entry.pod, order)
    return "/".join((*unit, phase, entry.dialect, time))
