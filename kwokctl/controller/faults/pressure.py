"""Makes a node say what its annotation says that it is short of, and that this is over. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kwokctl.controller.nodes.facts import NodeFacts
from kwokctl.controller.nodes.pressures import PRESSURES, Pressure, annotated
from kwokctl.controller.stages.functions import NODE_CONDITIONS
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json

_HEALTHY = {kind: (status, reason, message) for kind, status, reason, message in NODE_CONDITIONS}


class Turn(NamedTuple):
    """A pressure that begins or ends."""

    pressure: Pressure
    begins: bool

    @property
    def event(self) -> str:
        """The reason of the Event about it."""
        return self.pressure.event if self.begins else self.pressure.relief

    def condition(self, now: float) -> dict[str, Json]:
        """Return the condition from now on."""
        pressure, at = self.pressure, format_time(now)
        sick = ("True", pressure.reason, pressure.message)
        status, reason, message = sick if self.begins else _HEALTHY[pressure.condition]
        return {
            "type": pressure.condition,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": at,
            "lastTransitionTime": at,
        }


def is_due(facts: NodeFacts) -> bool:
    """Return whether the conditions of a node are not what its annotation says."""
    wanted = annotated(facts.pressure)
    if not wanted and not facts.reported:
        return False
    return not wanted.issubset(facts.conditions) or not wanted.issuperset(facts.reported)


def turns(annotation: str, conditions: Sequence[Mapping[str, Json]]) -> list[Turn]:
    """Return what begins and what ends; a condition that another program has set ends by that."""
    wanted = annotated(annotation)
    known = {each.get("type"): each for each in conditions}
    found = []
    for pressure in PRESSURES:
        have = known.get(pressure.condition, {})
        if pressure.condition in wanted:
            if have.get("status") != "True":
                found.append(Turn(pressure, begins=True))
        elif have.get("reason") == pressure.reason:
            found.append(Turn(pressure, begins=False))
    return found
