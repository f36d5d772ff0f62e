"""Whether a container that has ended is started again, and how long that waits.

As kubelet 1.36 decides it: `ContainerShouldRestart` (pkg/api/v1/pod), and the back-off of client-go's
flowcontrol that `doBackOff` (pkg/kubelet/kuberuntime) uses.
"""

from collections.abc import Mapping
from typing import Any

from kwokctl.controller.lifecycle.moments import read_moment

FIRST, LONGEST = 10.0, 300.0
"""Seconds: the back-off after the second failure in a row, and the longest."""
ALL = "RestartAllContainers"
"""The action of a rule that restarts the whole pod (`RestartAllContainersOnContainerExits`)."""
END_SHOWN = 1.0
"""Seconds for which earlier kubelets show the end before the back-off."""
_SHOWN = 0.2
"""Seconds before a start in which kubelet 1.36 shows CrashLoopBackOff instead of the end."""
_GOOD = 2 * LONGEST
"""Seconds that a container has to run for its back-off to begin again."""


def restarts(container: Mapping[str, Any], pod_policy: str, exit_code: int) -> bool:
    """Return whether a container that has exited is started again: by its own rules first."""
    if action_after(container, exit_code):
        return True
    policy = container.get("restartPolicy") or pod_policy
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def restarts_init(container: Mapping[str, Any], pod_policy: str, exit_code: int) -> bool:
    """Return whether an init container that has exited is started again: not if it has succeeded."""
    policy = "OnFailure" if pod_policy == "Always" else pod_policy
    return exit_code != 0 and restarts(container, policy, exit_code)


def action_after(container: Mapping[str, Any], exit_code: int) -> str:
    """Return what the first of a container's own rules says that applies; empty if none does."""
    for rule in container.get("restartPolicyRules") or ():
        if _applies(rule.get("exitCodes") or {}, exit_code):
            return str(rule.get("action") or "Restart")
    return ""


def pause(level: int, length: float) -> float:
    """Return the seconds between an end and the next start.

    `level` counts the starts since the back-off began, without the first one; `length` is for how long
    the last run was.
    """
    if level == 0 or length > _GOOD:
        return 0.0
    return min(FIRST * 2.0 ** min(level - 1, 10), LONGEST)


def shown(wait: float, *, throughout: bool) -> float:
    """Return for how many seconds before a start its back-off is shown."""
    return wait - END_SHOWN if throughout else _SHOWN


def level_after(level: int, length: float) -> int:
    """Return the level for the time after the next start."""
    return 1 if length > _GOOD else level + 1


def ran(end: Mapping[str, Any]) -> float:
    """Return for how many seconds a container ran that has ended so."""
    if "startedAt" not in end:
        return 0.0
    return read_moment(end["finishedAt"]) - read_moment(end["startedAt"])


def written(seconds: float) -> str:
    """Write seconds as Go does: 10s, 1m20s, 5m0s."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _applies(codes: Mapping[str, Any], exit_code: int) -> bool:
    is_listed = exit_code in (codes.get("values") or ())
    operator = codes.get("operator")
    return is_listed if operator == "In" else operator == "NotIn" and not is_listed
