"""The pools of devices that a DRA driver publishes as ResourceSlices: their devices and slices. Pure.

The attributes are those of NVIDIA's DRA driver (https://github.com/NVIDIA/k8s-dra-driver-gpu). A slice holds a
limited number of devices (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/resource-slice-v1/),
so a large pool has several.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from kwokctl.fleet.devices import gpus
from kwokctl.json_value import Json

MOST = 128
"""Devices of a slice; the API server takes 64 of which one has taints, or consumes counters."""
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
