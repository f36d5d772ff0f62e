"""The devices of nodes: what each is called, by its node and its number alone. Pure.

An identifier is derived from the names of the node and of the device, so it is the same after a restart, in a
snapshot, in a fork and in every controller. Those of NVIDIA have the form that its device plugin advertises
(https://github.com/NVIDIA/k8s-device-plugin): `GPU-…` for a whole GPU, `GPU-…::2` for a replica of a shared one,
`MIG-…` for a part of one.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from kwokctl.fleet.uuids import uuid_for

GPU = "nvidia.com/gpu"
"""The resource of whole GPUs and of replicas of them."""
SHARED_GPU = "nvidia.com/gpu.shared"
"""The resource of replicas where the device plugin renames it."""
_MIG = "nvidia.com/mig-"
_COUNT, _REPLICAS, _FAMILY = f"{GPU}.count", f"{GPU}.replicas", f"{GPU}.family"
_PRODUCT, _MEMORY = f"{GPU}.product", f"{GPU}.memory"
_NATIVE = "kubernetes.io/"
_AMPERE = (0x07, 0x0F, 0x47, 0x4E, 0x87, 0x90, 0xB7, 0xBD)
_OTHERS = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)
"""The PCI buses of 8 GPUs, as `nvidia-smi` shows them on a DGX A100 and on a DGX H100."""


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU of a node."""

    index: int
    uuid: str
    """Such as `GPU-1c2b7f0e-…`."""
    pci_bus_id: str
    """Domain, bus, device and function: `00000000:1B:00.0`."""
    product: str
    """The name as `nvidia-smi` shows it: `NVIDIA H100 80GB HBM3`."""
    memory: int
    """The framebuffer in MiB; 0 if the node does not say it."""
    peers: tuple[int, ...]
    """The indices of the GPUs of the node that NVLink connects it with."""


def is_device(resource: str) -> bool:
    """Return whether a resource is one that a device plugin advertises: an extended one of a vendor."""
    return "/" in resource and _NATIVE not in resource


def gpus(node: str, labels: Mapping[str, str], resources: Mapping[str, int]) -> Sequence[Gpu]:
    """Return the GPUs of a node, by its labels of GPU feature discovery and the resources of its capacity."""
    product = labels.get(_PRODUCT, "").replace("-", " ")
    facts = labels.get(_FAMILY, ""), product, _number(labels.get(_MEMORY), 0)
    return _gpus(node, _count(labels, resources), *facts)


def device_ids(
    node: str, labels: Mapping[str, str], resources: Mapping[str, int], resource: str
) -> Sequence[str]:
    """Return the identifiers of the devices of a resource, in the order in which pods get them.

    `resources` are the numbers in the node's capacity. Replicas of one GPU are spread: the first of each, then
    the second of each.
    """
    number = resources.get(resource, 0)
    whole = _count(labels, resources)
    if resource in (GPU, SHARED_GPU):
        return _replicas(node, number, max(whole, 1))
    return _ids("MIG" if resource.startswith(_MIG) else resource, node, resource, number)


def gpu_of(
    node: str, labels: Mapping[str, str], resources: Mapping[str, int], device_id: str
) -> int | None:
    """Return the index of the GPU that a device is, or is a part of; None if it is of no GPU of the node."""
    whole = _count(labels, resources)
    uuids = _replicas(node, whole, whole)
    if device_id in uuids:  # of a claim: the plugin may offer parts of it, or nothing
        return uuids.index(device_id)
    whole = max(whole, 1)
    for resource in resources:
        if not (resource in (GPU, SHARED_GPU) or resource.startswith(_MIG)):
            continue
        ids = device_ids(node, labels, resources, resource)
        if device_id in ids:
            place = ids.index(device_id)
            if not resource.startswith(_MIG):
                return place % whole
            return place * whole // len(ids)
    return None


def gpu_uuid(node: str, index: int) -> str:
    """Return the UUID of a GPU of a node."""
    return f"GPU-{uuid_for(node, 'gpu', str(index))}"


def _count(labels: Mapping[str, str], resources: Mapping[str, int]) -> int:
    """Return the number of GPUs: what the label says, or what the resource does, divided by replicas."""
    replicas = max(_number(labels.get(_REPLICAS), 1), 1)
    offered = resources.get(GPU, 0) or resources.get(SHARED_GPU, 0)
    return _number(labels.get(_COUNT), offered // replicas)


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isdecimal() else otherwise


@lru_cache(maxsize=16_384)
def _replicas(node: str, number: int, whole: int) -> tuple[str, ...]:
    uuids = [gpu_uuid(node, index) for index in range(min(whole, number))]
    if number <= whole:
        return tuple(uuids)
    return tuple(f"{uuids[place % whole]}::{place // whole}" for place in range(number))


@lru_cache(maxsize=16_384)
def _ids(kind: str, node: str, resource: str, number: int) -> tuple[str, ...]:
    return tuple(f"{kind}-{uuid_for(node, resource, str(place))}" for place in range(number))


@lru_cache(maxsize=16_384)
def _gpus(node: str, number: int, family: str, product: str, memory: int) -> tuple[Gpu, ...]:
    buses = _AMPERE if family == "ampere" else _OTHERS
    return tuple(
        Gpu(
            index=index,
            uuid=gpu_uuid(node, index),
            pci_bus_id=f"{index // len(buses):08X}:{buses[index % len(buses)]:02X}:00.0",
            product=product,
            memory=memory,
            peers=tuple(peer for peer in range(number) if peer != index),
        )
        for index in range(number)
    )
