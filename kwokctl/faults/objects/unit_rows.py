"""The rows of a fault: a unit that it hits, and whether it shows the fault, as a text. Pure.

A unit is a node, a device of it, or a pod on it. It is known by uids: a node that is deleted and created again with the same name is another unit.
"""

import msgspec

_NONE = "-"
_ASLEEP = "~"
"""The end of the time of a repair that has not ended the fault."""
DECIMALS = 3
"""The decimals of times in rows."""
LATE = 1.0
"""Seconds from which on a signal is late: a controller and a watch need a moment."""


class FaultUnit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A node, device or pod that a fault hits."""

    node: str
    node_uid: str
    gpu: int | None = None
    """The index of the GPU; None where the fault hits no device."""
    pod: str = ""
    """Namespace and name, with `/` between them; empty where the fault hits no pod."""
    pod_uid: str = ""

    @property
    def name(self) -> str:
        """The key of what is drawn for the unit, which does not depend on uids: `n-3`, `n-3/gpu-1`, `n-3/default/web-0`."""
        if self.pod:
            return f"{self.node}/{self.pod}"
        return self.node if self.gpu is None else f"{self.node}/gpu-{self.gpu}"


class UnitRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A unit, and whether it shows the fault."""

    unit: FaultUnit
    landed: float | None = None
    """The seconds from the injection until all signals that were due by then were shown; None before that."""
    problem: str = ""
    """The reason why the unit cannot show the fault, as one word, such as `NodeGone`."""
    late: float = 0.0
    """The delay of the latest of its signals after it was due, in seconds, as the controller saw it; 0 below `LATE`."""
    ended: float | None = None
    """The seconds from the injection until a repair of the node ended the fault on this unit; None while the unit has it."""
    asleep: bool = False
    """Whether the repair has failed, and the unit only looks good until it is used: then the fault shows again."""


def row_text(row: UnitRow) -> str:
    """Return a row as pages have it: `n-3 <uid> 1 - - 0.042 -`.

    A further word says how late signals were, and one more when a repair ended the fault: `12.000`, or `12.000~` if it is only asleep.
    """
    unit = row.unit
    gpu = _NONE if unit.gpu is None else str(unit.gpu)
    landed = _NONE if row.landed is None else f"{row.landed:.{DECIMALS}f}"
    words = [unit.node, unit.node_uid, gpu, unit.pod, unit.pod_uid, landed, row.problem]
    if row.late or row.ended is not None:
        words.append(f"{row.late:.{DECIMALS}f}")
    if row.ended is not None:
        words.append(f"{row.ended:.{DECIMALS}f}{_ASLEEP if row.asleep else ''}")
    return " ".join(word or _NONE for word in words)


def read_row(text: str) -> UnitRow | None:
    """Return the row of a text; None for one that is not a row."""
    words = ["" if word == _NONE else word for word in text.split(" ")]
    try:
        node, node_uid, gpu, pod, pod_uid, landed, problem, *more = words
        late, ended = (*more, *("0", "")[len(more) :])
        unit = FaultUnit(
            node=node,
            node_uid=node_uid,
            gpu=int(gpu) if gpu else None,
            pod=pod,
            pod_uid=pod_uid,
        )
        return UnitRow(
            unit=unit,
            landed=float(landed) if landed else None,
            problem=problem,
            late=float(late),
            ended=float(ended.removesuffix(_ASLEEP)) if ended else None,
            asleep=ended.endswith(_ASLEEP),
        )
    except ValueError:
        return None
