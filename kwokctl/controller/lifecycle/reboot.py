"""Applies the reboot of its machine to a pod: no container runs any more, and its sandbox is gone.

As kubelet 1.36 goes on then (`computePodActions` in pkg/kubelet/kuberuntime): it begins with a new
sandbox, and with the first init container, unless none of the containers is started again.
"""

from collections.abc import Mapping
from typing import Any

from kwokctl.controller.lifecycle.containers.container_states import unknown_state
from kwokctl.controller.lifecycle.moments import read_moment, write_moment
from kwokctl.controller.lifecycle.pod_containers import PodContainers
from kwokctl.controller.lifecycle.pod_events import PodEvent
from kwokctl.controller.stages.identifiers import container_id
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson

SANDBOX_CHANGED = PodEvent(
    reason="SandboxChanged", message="Pod sandbox changed, it will be killed and re-created."
)


def befall(containers: PodContainers, at: float) -> bool:
    """End the containers that ran before a reboot; return whether the pod starts again."""
    lost = [each for each in containers.every if each.is_lost(at)]
    for each in containers.every:
        each.lose(at)
    if not lost or all(each.is_over for each in containers.regular):
        return False
    if any(each.is_over and not each.is_done for each in containers.init if not each.is_sidecar):
        return False
    for each in containers.init:
        each.begin_anew(has_init=True)
    for each in containers.regular if containers.init else ():
        if not each.is_over:
            each.begin_anew(has_init=True)
    return True


def restarted(pod: ObjectInJson, at: float) -> Json:
    """Return the status of a pod that Stages play: its containers have been started again.

    Those of a pod that is not restarted have failed.
    """
    status: dict[str, Json] = dict(pod.get("status") or {})
    parts = ("initContainerStatuses", "containerStatuses")
    is_restarted = (pod["spec"].get("restartPolicy") or "Always") != "Never"
    for part in (each for each in parts if status.get(each)):
        status[part] = [_after(each, pod, at, is_restarted=is_restarted) for each in status[part]]
    before = pod.get("status") or {}
    if not is_restarted and any(status.get(part) != before.get(part) for part in parts):
        status["phase"] = "Failed"
        status["conditions"] = [_unready(each, at) for each in status.get("conditions") or ()]
    return status


def _after(
    container: Mapping[str, Any], pod: ObjectInJson, at: float, *, is_restarted: bool
) -> Json:
    running = (container.get("state") or {}).get("running")
    if not running or read_moment(running.get("startedAt") or write_moment(0)) >= int(at):
        return container
    end = unknown_state(container, at)
    if not is_restarted:
        return {**container, "state": end, "ready": False, "started": False}
    count = container.get("restartCount", 0) + 1
    return {
        **container,
        "containerID": container_id(pod["metadata"]["uid"], f"{container['name']}#{count}"),
        "lastState": end,
        "restartCount": count,
        "state": {"running": {"startedAt": write_moment(at)}},
    }


def _unready(condition: Mapping[str, Any], at: float) -> Json:
    is_one = condition.get("type") in {"Ready", "ContainersReady"}
    if not is_one or condition.get("status") == "False":
        return condition
    return {
        **condition,
        "status": "False",
        "reason": "PodFailed",
        "lastTransitionTime": write_moment(at),
    }
