"""The status of a container before it runs, and the addresses of a pod."""

from collections.abc import Mapping
from typing import Any

from kwokctl.controller.lifecycle.outcome import NodeOffer
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


def _mount(mount: Mapping[str, Any]) -> dict[str, Json]:
    found: dict[str, Json] = {"name": mount["name"], "mountPath": mount["mountPath"]}
    if mount.get("readOnly"):
        is_recursive = mount.get("recursiveReadOnly") in {"Enabled", "IfPossible"}
        found |= {
            "readOnly": True,
            "recursiveReadOnly": "Enabled" if is_recursive else "Disabled",
        }
    return found


def addresses_of(place: NodeOffer, *, has_pod: bool) -> dict[str, Json]:
    """Return the addresses in the status of a pod: those of its own once it has them."""
    found: dict[str, Json] = {}
    if place.host_ips:
        found["hostIP"] = place.host_ips[0]
        found["hostIPs"] = [{"ip": ip} for ip in place.host_ips]
    if has_pod and place.pod_ips:
        found["podIP"] = place.pod_ips[0]
        found["podIPs"] = [{"ip": ip} for ip in place.pod_ips]
    return found
