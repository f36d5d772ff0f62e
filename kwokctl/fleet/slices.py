"""The pools of devices that a DRA driver publishes as ResourceSlices: their devices, slices and generations. Pure.

The attributes are those of NVIDIA's DRA driver (https://github.com/NVIDIA/k8s-dra-driver-gpu). A slice holds a
limited number of devices (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/resource-slice-v1/),
so a large pool has several. Consumers use the slices of its highest generation only, and none of them unless all
are there: so they change together, as the last write makes them complete.
"""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import TypeVar

import msgspec

from kwokctl.fleet.devices import gpus
from kwokctl.json_value import Json

MOST = 128
"""Devices of a slice."""
MOST_TAINTED = 64
"""Devices of a slice in which one has taints, or consumes counters."""
_MAJOR, _MINOR = "nvidia.com/gpu.compute.major", "nvidia.com/gpu.compute.minor"
_FAMILY = "nvidia.com/gpu.family"
_DRIVER, _CUDA = "nvidia.com/cuda.driver-version.full", "nvidia.com/cuda.runtime-version.full"
_USUAL_DRIVER, _USUAL_CUDA = "570.86.15", "12.8.0"
"""The versions where no label says them."""

Item = TypeVar("Item")


def gpu_pages(
    labels: Mapping[str, str], resources: Mapping[str, Json]
) -> list[Sequence[dict[str, Json]]]:
    """Return the GPUs of a node by the slices that publish them; none for a node without GPUs."""
    found = gpu_facts(labels, resources)
    return pages(found) if found else []


def gpu_facts(labels: Mapping[str, str], resources: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return what a DRA driver publishes of the GPUs of a node, all but the uuids: these depend on its name.

    `labels` are those of GPU feature discovery, `resources` the node's.
    """
    numbers = {name: int(n) for name, n in resources.items() if str(n).isdecimal()}
    texts = {key: str(value) for key, value in labels.items()}
    return [
        {
            "index": gpu.index,
            "pciBusID": _bus_id(gpu.pci_bus_id),
            "productName": gpu.product,
            "architecture": texts.get(_FAMILY, "").title(),
            "cudaComputeCapability": f"{texts.get(_MAJOR, '0')}.{texts.get(_MINOR, '0')}.0",
            "driverVersion": texts.get(_DRIVER, _USUAL_DRIVER),
            "cudaDriverVersion": texts.get(_CUDA, _USUAL_CUDA),
            "memory": gpu.memory,
        }
        for gpu in gpus("", texts, numbers)
    ]


def _bus_id(pci_bus_id: str) -> str:
    """Return the address of a PCI device as the kernel writes it: `0000:1b:00.0`."""
    domain, _, rest = pci_bus_id.partition(":")
    return f"{domain[-4:]}:{rest}".lower()


def pages(devices: Sequence[Item], *, is_tainted: bool = False) -> list[Sequence[Item]]:
    """Return the devices of each slice of a pool; an empty pool has one slice without any."""
    most = MOST_TAINTED if is_tainted else MOST
    return [devices[at : at + most] for at in range(0, len(devices), most)] or [devices]


class Verb(Enum):
    """A way to write a slice."""

    CREATE = auto()
    UPDATE = auto()
    DELETE = auto()


class SliceWrite(msgspec.Struct, frozen=True):
    """A write of one slice of a pool."""

    verb: Verb
    page: int
    """The number of the slice in its pool."""
    generation: int
    """That of the pool which the slice says; 0 for one that is deleted."""


def next_generation(before: int, after: int, generation: int) -> list[SliceWrite]:
    """Return the writes, in their order, that give a pool of `before` slices new content in `after` slices.

    `generation` is the present one. The first write of the next generation takes the whole pool from its consumers,
    the last one gives it back, and deletions follow. So a pool that has one slice afterwards is never short of devices, and one that
    has two for the time of one write. A larger one is not, either, if a transaction has all of its writes.
    """
    new = generation + 1
    updated = [SliceWrite(Verb.UPDATE, page, new) for page in range(min(before, after))]
    created = [SliceWrite(Verb.CREATE, page, new) for page in range(before, after)]
    deleted = [SliceWrite(Verb.DELETE, page, 0) for page in range(after, before)]
    return [*updated, *created, *deleted]
