"""The pools of devices that a DRA driver publishes as ResourceSlices: their devices and slices. Pure.

The attributes are those of NVIDIA's DRA driver (https://github.com/NVIDIA/k8s-dra-driver-gpu). A slice holds a
limited number of devices (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/resource-slice-v1/),
so a large pool has several.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from kwokctl.fleet.devices import gpus
from kwokctl.fleet.mig import counter_set, parts, whole_counters
from kwokctl.json_value import Json

MOST = 128
"""Devices of a slice; the API server takes 64 of which one has taints, or consumes counters."""
MOST_DIVIDED = 64
"""Devices of a slice that consume counters."""
MOST_COUNTER_SETS = 8
"""Sets of counters of a slice, which has no devices."""
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
    return _pages(found)


def divided_pages(
    labels: Mapping[str, str], resources: Mapping[str, Json]
) -> list[dict[str, list[dict[str, Json]]]]:
    """Return the slices of a node that publishes the parts of its GPUs, too: `counters` or `devices` of each.

    A device has the facts of its GPU, and `part` if it is not the whole one. Raises ExpressionError for a GPU whose parts are
    not known.
    """
    sets: list[dict[str, Json]] = []
    slices: list[list[dict[str, Json]]] = []
    for gpu in gpu_facts(labels, resources):
        whole = whole_counters(gpu["productName"])
        sets.append({"name": counter_set(gpu["index"]), "counters": whole})
        common = {**gpu, "counterSet": counter_set(gpu["index"])}
        divided = parts(gpu["index"], gpu["productName"])
        devices = [
            {**common, "name": f"gpu-{gpu['index']}", "counters": whole},
            *({**common, **part, "part": True} for part in divided),
        ]
        if not slices or len(slices[-1]) + len(devices) > MOST_DIVIDED:
            slices.append([])
        slices[-1] += devices
    counters = [sets[at : at + MOST_COUNTER_SETS] for at in range(0, len(sets), MOST_COUNTER_SETS)]
    return [
        *({"counters": each, "devices": []} for each in counters),
        *({"counters": [], "devices": each} for each in slices),
    ]


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


def _pages(devices: Sequence[Item]) -> list[Sequence[Item]]:
    """Return the devices of each slice of a pool."""
    return [devices[at : at + MOST] for at in range(0, len(devices), MOST)]
