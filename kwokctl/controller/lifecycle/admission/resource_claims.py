"""The ResourceClaims of a pod: which they are, what a driver reports of their devices, and what the pod says of them.

As kubelet 1.36 prepares them and shows them (PrepareResources and UpdateAllocatedResourcesStatus in
pkg/kubelet/cm/dra/manager.go), and as drivers report devices
(https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/resource-claim-v1/). Pure.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from kwokctl.controller.lifecycle.admission.device_table import Devices
from kwokctl.controller.lifecycle.moments import write_moment
from kwokctl.fleet.allocations import CLAIM, Allocation
from kwokctl.fleet.claimed_devices import device_id, gpu_index
from kwokctl.fleet.devices import gpu_uuid
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson

_READY = "Ready"
_KEY = ("driver", "pool", "device", "shareID")
Claims = Mapping[str, ObjectInJson]
"""ResourceClaims by the name that the pod has for them."""


class NamedClaim(NamedTuple):
    """A ResourceClaim of a pod."""

    name: str
    """The name that the pod has for it."""
    object_name: str


def claim_names(pod: ObjectInJson) -> Iterator[NamedClaim]:
    """Yield the claims of a pod; none for a template that made none. ValueError if one is not made yet."""
    statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or ()
    made = {each["name"]: each.get("resourceClaimName") for each in statuses}
    for each in pod["spec"].get("resourceClaims") or ():
        name = each["name"]
        if not each.get("resourceClaimName") and name not in made:
            raise ValueError(
                f'pod "{pod["metadata"]["namespace"]}/{pod["metadata"]["name"]}": ResourceClaim not created yet'
            )
        if object_name := each.get("resourceClaimName") or made[name]:
            yield NamedClaim(name, object_name)


def is_reserved(claim: ObjectInJson, pod: ObjectInJson) -> bool:
    """Return whether a pod may use a claim."""
    consumers = (claim.get("status") or {}).get("reservedFor") or ()
    return any(each.get("uid") == pod["metadata"]["uid"] for each in consumers)


def allocated_by(claim: ObjectInJson, drivers: Collection[str]) -> list[Json]:
    """Return what is allocated to a claim of the devices of these drivers."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results") or ()
    return [each for each in results if each["driver"] in drivers]


def report_of(claim: ObjectInJson, drivers: Collection[str], now: float) -> list[Json] | None:
    """Return the devices of these drivers as their status says that they are ready; None if it does already."""
    known = {_key(each): each for each in (claim.get("status") or {}).get("devices") or ()}
    wanted = {_key(each): each for each in allocated_by(claim, drivers)}
    if all(key in known and _is_ready(known[key]) for key in wanted):
        return None
    return [
        known[key] if key in known and _is_ready(known[key]) else _prepared(each, now)
        for key, each in wanted.items()
    ]


def devices_through(pod: ObjectInJson, claims: Claims, drivers: Collection[str]) -> Devices:
    """Return the devices of these drivers that the containers of a pod have through claims."""
    spec = pod["spec"]
    found: dict[Allocation, None] = {}
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        for each in (container.get("resources") or {}).get("claims") or ():
            request = each.get("request") or ""
            resource = f"{CLAIM}{each['name']}/{request}" if request else f"{CLAIM}{each['name']}"
            for result in allocated_by(claims.get(each["name"], {}), drivers):
                if not request or _base(result["request"]) == _base(request):
                    identifier = device_id(result["driver"], result["pool"], result["device"])
                    found[
                        Allocation(
                            container=container["name"], resource=resource, device_id=identifier
                        )
                    ] = None
    return tuple(found)


def _base(request: str) -> str:
    """Return the request that a subrequest belongs to."""
    return request.partition("/")[0]


def _key(device: Mapping[str, Json]) -> tuple[str, ...]:
    return tuple(device.get(name) or "" for name in _KEY)


def _is_ready(device: Mapping[str, Json]) -> bool:
    conditions = device.get("conditions") or ()
    return any(each["type"] == _READY and each["status"] == "True" for each in conditions)


def _prepared(result: Mapping[str, Json], now: float) -> Json:
    """Return the status of a device that is prepared; that of a GPU has its uuid, as `nvidia-smi` shows it."""
    ready = {
        "type": _READY,
        "status": "True",
        "reason": "Prepared",
        "message": "kwok stands in for the driver",
        "lastTransitionTime": write_moment(now),
    }
    found = {name: result[name] for name in _KEY if result.get(name)}
    node = result["pool"]
    index = gpu_index(device_id(result["driver"], node, result["device"]), node)
    data = {} if index is None else {"data": {"uuid": gpu_uuid(node, index)}}
    return {**found, "conditions": [ready], **data}
