"""Writes the devices of a pod into its status, or into an annotation where the API server would drop them there."""

from collections.abc import Mapping, Sequence

import msgspec

from kwokctl.controller.lifecycle.admission.device_claims import DeviceClaims
from kwokctl.controller.lifecycle.admission.device_table import Devices
from kwokctl.fleet.allocations import DEVICES, HEALTHY, Allocation, allocations_of
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson


def by_container(devices: Devices) -> dict[str, list[Json]]:
    """Return the contents of the field for each container that has devices."""
    found: dict[str, dict[str, list[Json]]] = {}
    for each in devices:
        health = {"resourceID": each.device_id, "health": each.health}
        found.setdefault(each.container, {}).setdefault(each.resource, []).append(health)
    return {
        container: [{"name": name, "resources": listed} for name, listed in resources.items()]
        for container, resources in found.items()
    }


def annotation_of(pod: ObjectInJson, devices: Devices) -> Mapping[str, str] | None:
    """Return the annotation that says which devices a pod has; None if it says so already."""
    found: dict[str, dict[str, list[str]]] = {}
    for each in devices:
        found.setdefault(each.container, {}).setdefault(each.resource, []).append(each.device_id)
    text = msgspec.json.encode(found).decode()
    known = (pod["metadata"].get("annotations") or {}).get(DEVICES)
    return None if text == known else {DEVICES: text}


def healthy_in(pod: ObjectInJson) -> int:
    """Return the number of devices in the status of a pod; -1 if one is not healthy."""
    found = [each.health == HEALTHY for each in allocations_of({**pod, "metadata": {}})]
    return len(found) if all(found) else -1


def number_of(claims: DeviceClaims) -> int:
    """Return how many devices the containers of a pod ask for together."""
    return sum(claim.number for claim in claims)


def as_claimed(claims: DeviceClaims, ids: Sequence[str]) -> Devices:
    """Return the devices of a pod that has got all that it asks for, in that order."""
    asked = (claim for claim in claims for _ in range(claim.number))
    return tuple(
        Allocation(container=claim.container, resource=claim.resource, device_id=each)
        for claim, each in zip(asked, ids, strict=True)
    )
