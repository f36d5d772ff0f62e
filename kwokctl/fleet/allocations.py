"""The devices that the containers of a pod have, as the pod itself says it. Pure.

A kubelet reports them as `allocatedResourcesStatus` of a container's status
(https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/#device-plugin-and-unhealthy-devices);
where the feature gate `ResourceHealthStatus` is off the API server drops that field, and an annotation says it.
"""

from collections.abc import Iterator, Mapping

import msgspec

from kwokctl.json_value import Json

DEVICES = "kwokctl.dev/devices"
"""The annotation of a pod: a JSON object with, by container and by resource, a list of identifiers."""
HEALTHY, UNHEALTHY, UNKNOWN = "Healthy", "Unhealthy", "Unknown"
CLAIM = "claim:"
"""The beginning of the names of resources that are ResourceClaims."""
_LISTS = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """A device of a container."""

    container: str
    resource: str
    device_id: str
    health: str = HEALTHY


def allocations_of(pod: Mapping[str, Json]) -> Iterator[Allocation]:
    """Yield the devices of a pod, without those of claims, by its status or else its annotation."""
    return (each for each in _listed(pod) if not each.resource.startswith(CLAIM))


def claimed_in(pod: Mapping[str, Json]) -> Iterator[Allocation]:
    """Yield the devices that a pod has through claims, by its status or else its annotation.

    The resource is `claim:NAME` or `claim:NAME/REQUEST`, with the pod's own name of the claim.
    """
    return (each for each in _listed(pod) if each.resource.startswith(CLAIM))


def _listed(pod: Mapping[str, Json]) -> Iterator[Allocation]:
    found = False
    status = pod.get("status") or {}
    for name in _LISTS:
        for container in status.get(name) or ():
            for resource in container.get("allocatedResourcesStatus") or ():
                for each in resource.get("resources") or ():
                    found = True
                    yield Allocation(
                        container=container["name"],
                        resource=resource["name"],
                        device_id=each["resourceID"],
                        health=each.get("health") or UNKNOWN,
                    )
    if not found:
        yield from _annotated(pod)


def _annotated(pod: Mapping[str, Json]) -> Iterator[Allocation]:
    text = (pod["metadata"].get("annotations") or {}).get(DEVICES)
    try:
        by_container = _decode(text) if text else {}
    except msgspec.DecodeError:
        return
    for container, resources in by_container.items():
        for resource, ids in resources.items():
            for device_id in ids:
                yield Allocation(container=container, resource=resource, device_id=device_id)


_decode = msgspec.json.Decoder(dict[str, dict[str, list[str]]]).decode
