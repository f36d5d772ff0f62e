"""Whether a container that has ended is started again, and how long that waits.

As kubelet 1.36 decides it: `ContainerShouldRestart` (pkg/api/v1/pod), and the back-off of client-go's
flowcontrol that `doBackOff` (pkg/kubelet/kuberuntime) uses.
"""

from collections.abc import Mapping
from typing import Any

FIRST, LONGEST = 10.0, 300.0
"""Seconds: the back-off after the second failure in a row, and the longest."""
_GOOD = 2 * LONGEST
"""Seconds that a container has to run for its back-off to begin anew."""


def is_sidecar(container: Mapping[str, Any]) -> bool:
    """Return whether an init container restarts always, and runs beside the others."""
    return container.get("restartPolicy") == "Always"


def restarts(container: Mapping[str, Any], pod_policy: str, exit_code: int) -> bool:
    """Return whether a container that has exited is started again: by its own rules first."""
    for rule in container.get("restartPolicyRules") or ():
        if _applies(rule.get("exitCodes") or {}, exit_code):
            return True
    policy = container.get("restartPolicy") or pod_policy
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def pause(level: int, ran: float) -> float:
    """Return the seconds between an end and the next start.

    `level` counts the starts since the back-off began, without the first one; `ran` is for how long
    the last run was.
    """
    if level == 0 or ran > _GOOD:
        return 0.0
    return min(FIRST * 2.0 ** min(level - 1, 10), LONGEST)


def level_after(level: int, ran: float) -> int:
    """Return the level for the time after the next start."""
    return 1 if ran > _GOOD else level + 1


def _applies(codes: Mapping[str, Any], exit_code: int) -> bool:
    is_listed = exit_code in (codes.get("values") or ())
    operator = codes.get("operator")
    return is_listed if operator == "In" else operator == "NotIn" and not is_listed
