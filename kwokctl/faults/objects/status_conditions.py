"""The conditions in the status of a Fault. Pure."""

from collections.abc import Sequence
from sys import intern
from typing import Literal

import msgspec

from kwokctl.replacing import replace

ConditionType = Literal["Selected", "Landed", "Cleared", "NoMatch", "Stale"]
"""Its units are known; all of them show it; it is over; no unit matched; what it shows is not known any more."""


class StatusCondition(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A condition of a Fault; equal texts of many Faults are one object."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""

    def __post_init__(self) -> None:
        """Share the texts."""
        for name in self.__struct_fields__:
            msgspec.structs.force_setattr(self, name, intern(getattr(self, name)))


def condition(
    kind: ConditionType, reason: str, message: str, at: str, *, status: bool = True
) -> StatusCondition:
    """Return a condition; `at` is the time of day as RFC 3339 writes it."""
    return StatusCondition(
        type=kind,
        status="True" if status else "False",
        reason=reason,
        message=message,
        last_transition_time=at,
    )


def with_condition(
    conditions: Sequence[StatusCondition], new: StatusCondition
) -> tuple[StatusCondition, ...]:
    """Return conditions in which one replaces that of its type; its time changes only if its status does."""
    before = next((each for each in conditions if each.type == new.type), None)
    if before is not None and before.status == new.status:
        new = replace(new, last_transition_time=before.last_transition_time)
    return (*(each for each in conditions if each.type != new.type), new)
