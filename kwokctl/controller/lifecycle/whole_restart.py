"""The restart of all containers of a pod in place, which a rule of one of them asks for (KEP-5532).

All that run are killed, without hooks and time to end; then they begin as those of a new pod, in order,
with their volumes and addresses. A condition shows it, from which a controller goes on.
"""

from collections.abc import Mapping
from typing import Any

from kwokctl.controller.lifecycle.containers import restarts
from kwokctl.controller.lifecycle.moments import read_moment
from kwokctl.controller.lifecycle.pod_containers import PodContainers
from kwokctl.json_value import Json

RESTARTING = "AllContainersRestarting"
"""The condition: pods have it that a rule can restart."""


def may_happen(spec: Mapping[str, Any]) -> bool:
    """Return whether a rule of one of the containers asks for it."""
    every = (*(spec.get("initContainers") or ()), *spec["containers"])
    rules = (rule for each in every for rule in each.get("restartPolicyRules") or ())
    return any(rule.get("action") == restarts.ALL for rule in rules)


def is_under_way(status: Mapping[str, Json]) -> bool:
    """Return whether all have been killed, and have not begun again."""
    found = _condition(status)
    return found is not None and found["status"] == "True"


def begin_of(status: Mapping[str, Json]) -> float:
    """Return when the first container could start: at the pod's start, or after the last restart."""
    found = _condition(status)
    since = read_moment(status["startTime"])
    return since if found is None else max(since, read_moment(found["lastTransitionTime"]))


def is_asked_for(containers: PodContainers) -> bool:
    """Return whether a container has just ended whose end restarts all of them."""
    return any(each.restarts_all for each in containers.all)


def kill_all(containers: PodContainers, now: float) -> None:
    """End all that run."""
    for each in containers.every:
        each.kill(now)


def begin_anew(containers: PodContainers) -> None:
    """Let all wait for their turn."""
    for each in containers.all:
        each.begin_anew(has_init=bool(containers.init))


def _condition(status: Mapping[str, Json]) -> Json:
    conditions = status.get("conditions") or ()
    return next((each for each in conditions if each["type"] == RESTARTING), None)
