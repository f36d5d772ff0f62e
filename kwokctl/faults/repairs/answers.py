"""Words about a repair that is over: for its status, and for the request that asked for it. Pure."""

from collections.abc import Mapping, Sequence

from kwokctl.faults.repairs.repair_actions import Action
from kwokctl.faults.repairs.repair_schema import RepairStatus
from kwokctl.json_value import Json

_DONE = {"GPUReset": "Complete", "TerminateNode": "NodeTerminated"}
"""The conditions with which NVSentinel's janitor says how requests have ended, by their kinds."""
_READY = "NodeReady"
_SHOWN = 3
"""The most pods that a message names."""


def answer_of(kind: str, at: str, *, is_good: bool) -> Mapping[str, Json]:
    """Return the status of a request of a kind that is done, in the words of NVSentinel's janitor; `at` is the time of day."""
    done = "True" if is_good else "False"
    reason = "RepairSucceeded" if is_good else "RepairFailed"
    words = "kwokctl has repaired the node" if is_good else "the repair has failed"
    conditions = [
        {
            "type": kind,
            "status": status,
            "reason": why,
            "message": text,
            "lastTransitionTime": at,
        }
        for kind, status, why, text in (
            ("SignalSent", "True", "Succeeded", "kwokctl has taken the request"),
            (_DONE.get(kind, _READY), done, reason, words),
        )
    ]
    return {"completionTime": at, "conditions": conditions}


def words_of(status: RepairStatus, following: Action | None) -> str:
    """Return what a repair has done, in short."""
    parts = []
    if status.in_use:
        parts.append(f"no GPU was reset, because {in_use(status.in_use)}")
    if status.cleared:
        parts.append(f"ended {', '.join(status.cleared)}")
    if lasting := [name for name in status.left if name not in status.asleep]:
        parts.append(f"left {', '.join(lasting)}")
    if status.asleep:
        parts.append(f"looks good until it is used: {', '.join(status.asleep)}")
    if following is not None:
        parts.append(f"'{following}' follows")
    return "; ".join(parts) or "there was no fault"


def in_use(pods: Sequence[str]) -> str:
    """Return which pods use GPUs, in words."""
    more = len(pods) - _SHOWN
    names = ", ".join(pods[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    verb = "uses GPUs" if len(pods) == 1 else "use GPUs"
    return f"{names} {verb} of the node"
