"""The actions with which nodes are repaired: what each does to a node, and which faults it can end. Pure."""

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from kwokctl.faults.classes.class_schema import Cure, FaultClassSpec

Action = Literal["reset-gpu", "reboot", "power-cycle", "reimage", "replace", "host-repair"]
ACTIONS: tuple[Action, ...] = get_args(Action)
"""From the lightest to the heaviest."""
REPLACE: Action = "replace"

_RESET: tuple[Cure, ...] = ("reset-gpu", "application-restart")
_REBOOT: tuple[Cure, ...] = (*_RESET, "driver-reload", "agent-restart", "reboot")
_POWER: tuple[Cure, ...] = (*_REBOOT, "power-cycle")


class RepairAction(msgspec.Struct, frozen=True, kw_only=True):
    """The properties of an action without a policy."""

    cures: tuple[Cure, ...]
    """The words of `clearedBy` that it stands for: a power cycle is a reboot as well."""
    takes: Mapping[str, str]
    """Its length: two percentiles of a log-normal distribution."""
    shows: str
    """The class of the fault that the node shows meanwhile; empty if it shows nothing."""
    needs_idle: bool = False
    """Whether it fails while pods use GPUs of the node."""


KNOWN: Mapping[Action, RepairAction] = {
    "reset-gpu": RepairAction(
        cures=_RESET, takes={"p50": "20s", "p95": "60s"}, shows="", needs_idle=True
    ),
    "reboot": RepairAction(cures=_REBOOT, takes={"p50": "4m", "p95": "9m"}, shows="reboot"),
    "power-cycle": RepairAction(cures=_POWER, takes={"p50": "6m", "p95": "12m"}, shows="reboot"),
    "reimage": RepairAction(cures=_POWER, takes={"p50": "20m", "p95": "40m"}, shows="reboot"),
    "replace": RepairAction(
        cures=(*_POWER, "replace"), takes={"p50": "8m", "p95": "20m"}, shows="reboot"
    ),
    "host-repair": RepairAction(
        cures=(*_POWER, "replace", "repair"), takes={"p50": "35m", "p95": "4h"}, shows="reboot"
    ),
}
"""The lengths are judgements; that of a host's repair is the time that GKE was measured to take."""


def class_odds(action: Action, spec: FaultClassSpec) -> float:
    """Return with which probability an action ends a fault of a class, as the class says it: 0 if it cannot."""
    cures = [cure for cure in spec.cleared_by if cure in KNOWN[action].cures]
    return max((spec.clearing_odds.get(cure, 1.0) for cure in cures), default=0.0)
