"""The parts into which MIG divides a GPU: their profiles, numbers and sizes. Pure."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kwokctl.fleet.devices import device_ids, gpu_of, gpus
from kwokctl.kubelet.fleet.views import NodeView

_MIG = "nvidia.com/mig-"
_SLICES = 7
"""Parts of compute that MIG divides a GPU into."""


class MigPart(NamedTuple):
    """A part of a GPU of a node."""

    gpu: int
    resource: str
    device_id: str
    instance: int
    """Its number among those of its profile in the GPU, from 1 on."""


def mig_parts(view: NodeView, counts: Mapping[str, int]) -> Iterator[MigPart]:
    """Yield all parts of the GPUs of a node; `counts` are what it has of each resource if all is well."""
    for resource in counts:
        if not mig_profile(resource):
            continue
        for device_id in device_ids(view.name, view.labels, counts, resource):
            gpu = gpu_of(view.name, view.labels, counts, device_id)
            if gpu is not None:
                instance = instance_of(view, counts, resource, device_id)
                yield MigPart(gpu, resource, device_id, instance)


def mig_profile(resource: str) -> str:
    """Return the profile of a resource of parts of GPUs, such as `1g.10gb`; empty for others."""
    return resource.removeprefix(_MIG) if resource.startswith(_MIG) else ""


def instance_of(view: NodeView, counts: Mapping[str, int], resource: str, device_id: str) -> int:
    """Return the number of a part of MIG among those of its profile in its GPU, from 1 on; 0 for all else."""
    if not mig_profile(resource):
        return 0
    ids = device_ids(view.name, view.labels, counts, resource)
    each = max(len(ids) // max(len(gpus(view.name, view.labels, counts)), 1), 1)
    return ids.index(device_id) % each + 1


def part_of(profile: str) -> float:
    """Return the part of a GPU that a profile such as `3g.40gb` has; 0 if it is none."""
    slices = profile.partition("g")[0]
    return min(int(slices) / _SLICES, 1.0) if slices.isdecimal() else 0.0
