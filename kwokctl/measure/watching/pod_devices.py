"""Reads which devices a pod has been given, as the pod itself says it. Pure."""

import msgspec

from kwokctl.fleet.allocations import allocations_of
from kwokctl.fleet.claimed_devices import claimed_gpus
from kwokctl.fleet.devices import is_device
from kwokctl.kube.pod_requests import requests_of

NO_DEVICE = "none"
"""Of a pod that asks for no device."""


def devices_in(raw: bytes, node: str) -> str:
    """Return the identifiers of the devices of a pod on a node, of its JSON; empty if it asks for some and does not say which it has."""
    pod = msgspec.json.decode(raw)
    found = {each.device_id for each in (*allocations_of(pod), *claimed_gpus(pod, node))}
    if found:
        return ",".join(sorted(found))
    spec = pod.get("spec") or {}
    asks = spec.get("resourceClaims") or any(is_device(name) for name, _ in requests_of(spec))
    return "" if asks else NO_DEVICE
