"""Whether an evicted pod had one of the GPUs of a node that are broken. Pure."""

from collections.abc import Iterable

from kwokctl.fleet.devices import gpu_uuid
from kwokctl.measure.watching.pod_devices import NO_DEVICE

_REPLICA = "::"
"""Between the name of a GPU and the number of its replica."""
_PART = "MIG-"
"""The beginning of the names of parts of GPUs, of which the record does not say which GPU is meant."""


def has_any_of(devices: str, node: str, gpus: Iterable[int]) -> bool | None:
    """Return whether a pod had one of some GPUs, by its devices as the record has them; None if that is not known."""
    if devices == NO_DEVICE:
        return False
    names = devices.split(",") if devices else []
    if not names or any(each.startswith(_PART) for each in names):
        return None
    broken = {gpu_uuid(node, each) for each in gpus}
    return any(each.partition(_REPLICA)[0] in broken for each in names)
