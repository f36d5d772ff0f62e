"""The devices that pods have through ResourceClaims, and how the GPUs among them are called. Pure."""

from collections.abc import Iterator, Mapping

from kwokctl.errors import ExpressionError
from kwokctl.fleet.allocations import Allocation, claimed_in
from kwokctl.fleet.device_health import read_health
from kwokctl.fleet.devices import GPU, gpu_uuid
from kwokctl.json_value import Json
from kwokctl.replacing import replace

DRA_DRIVERS = "kwokctl.dev/dra-drivers"
"""The annotation of a node with the DRA drivers, separated by commas, for which the controller stands in there."""
GPU_DRIVER = "gpu.nvidia.com"
"""The driver whose devices `gpu-0`, `gpu-1` … of the pool with the name of a node are the GPUs of that node."""
_GPU = "gpu-"


def device_id(driver: str, pool: str, device: str) -> str:
    """Return the identifier of a device in the status of a pod: what a kubelet writes without an id of CDI."""
    return f"{driver}/{pool}/{device}"


def gpu_index(identifier: str, node: str) -> int | None:
    """Return the index of the GPU of a node that is meant; None if it is none."""
    driver, _, rest = identifier.partition("/")
    pool, _, device = rest.rpartition("/")
    number = device.removeprefix(_GPU)
    if driver != GPU_DRIVER or pool != node or number == device or not number.isdecimal():
        return None
    return int(number)


def claimed_gpus(pod: Mapping[str, Json], node: str) -> Iterator[Allocation]:
    """Yield the GPUs that a pod has through claims, as if a device plugin had given them."""
    found = (
        replace(each, resource=GPU, device_id=gpu_uuid(node, index))
        for each in claimed_in(pod)
        if (index := gpu_index(each.device_id, node)) is not None
    )
    yield from dict.fromkeys(found)  # containers may name a claim, and a request of it


def is_unhealthy(identifier: str, node: str, health: str) -> bool:
    """Return whether the annotation of a node about the health of its devices says so of one of a claim."""
    try:
        words = read_health(health).unhealthy
    except ExpressionError:  # of which the writer of the node's status warns
        return False
    names = {identifier}
    if (index := gpu_index(identifier, node)) is not None:
        names |= {str(index), gpu_uuid(node, index)}
    return not names.isdisjoint(words)
