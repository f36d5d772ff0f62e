"""The GPUs that each pod of a node uses. Pure.

A pod that lives as on a kubelet says which devices it has. One that only requests some gets here the first that are free, as a
kubelet would give them.
"""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.faults.classes.message_texts import HitNode
from kwokctl.fleet.allocations import allocations_of
from kwokctl.fleet.claimed_devices import claimed_gpus
from kwokctl.fleet.devices import device_ids, gpu_of
from kwokctl.json_value import Json
from kwokctl.kube.pod_requests import requests_of

_VENDOR = "nvidia.com/"


def gpus_by_pod(node: HitNode, pods: Sequence[Mapping[str, Json]]) -> Sequence[frozenset[int]]:
    """Return the indices of the GPUs that each of the pods uses, also of those that it has a part of.

    `pods` have not ended; the first of them come first where they do not say which devices they have.
    """
    named = [[each.device_id for each in allocations_of(pod)] for pod in pods]
    taken = {device for devices in named for device in devices}
    found = []
    for pod, devices in zip(pods, named, strict=True):
        claimed = [each.device_id for each in claimed_gpus(pod, node.name)]
        ids = devices or [*_first_free(node, pod, taken)]
        taken.update(ids)
        found.append(frozenset(_indices(node, (*ids, *claimed))))
    return found


def _first_free(node: HitNode, pod: Mapping[str, Json], taken: set[str]) -> Iterator[str]:
    """Yield the devices that a pod would get: as many of each resource as it requests, while some are left."""
    for resource, number in requests_of(pod.get("spec") or {}):
        if resource.startswith(_VENDOR):
            ids = device_ids(node.name, node.labels, node.capacity, resource)
            yield from [each for each in ids if each not in taken][:number]


def _indices(node: HitNode, devices: Sequence[str]) -> Iterator[int]:
    for each in devices:
        index = gpu_of(node.name, node.labels, node.capacity, each)
        if index is not None:
            yield index
