"""The status of one container, beside the states it goes through."""

from collections.abc import Mapping
from typing import Any

from kwokctl.controller.lifecycle.container import PodContainer
from kwokctl.json_value import Json


def fresh_status(spec: Mapping[str, Any], *, has_init: bool) -> dict[str, Json]:
    """Return the status of a container that waits for its first start."""
    reason = "PodInitializing" if has_init else "ContainerCreating"
    status: dict[str, Json] = {
        "name": spec["name"],
        "image": spec.get("image", ""),
        "imageID": "",
        "ready": False,
        "started": False,
        "restartCount": 0,
        "state": {"waiting": {"reason": reason}},
        "lastState": {},
    }
    if mounts := spec.get("volumeMounts"):
        status["volumeMounts"] = [_mount(each) for each in mounts]
    return status


def with_resources(container: PodContainer) -> dict[str, Json]:
    """Return the status of a container with the resources that its spec requests now."""
    status = container.status
    if not container.running:
        return status
    resources = dict(container.spec.get("resources") or {})
    resources.pop("claims", None)
    status["resources"] = resources
    if requests := resources.get("requests"):
        status["allocatedResources"] = requests
    return status


def _mount(mount: Mapping[str, Any]) -> dict[str, Json]:
    found: dict[str, Json] = {"name": mount["name"], "mountPath": mount["mountPath"]}
    if mount.get("readOnly"):
        is_recursive = mount.get("recursiveReadOnly") in {"Enabled", "IfPossible"}
        found |= {
            "readOnly": True,
            "recursiveReadOnly": "Enabled" if is_recursive else "Disabled",
        }
    return found
