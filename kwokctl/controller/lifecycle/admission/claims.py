"""The resources and ports that a pod takes of its node, as the scheduler and the kubelet count them.

Source: HostPortInfo in pkg/scheduler/framework of Kubernetes 1.36.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kwokctl.controller.lifecycle.admission.device_claims import DeviceClaims, device_claims_of
from kwokctl.kube.pod_requests import Amounts, is_sidecar, requests_of

_EVERY = "0.0.0.0"  # noqa: S104 - what a pod without an address of the host takes


class HostPort(NamedTuple):
    """A port of a node."""

    port: int
    protocol: str
    address: str

    def excludes(self, other: "HostPort") -> bool:
        """Return whether two pods cannot have both."""
        if self[:2] != other[:2]:
            return False
        return self.address == other.address or _EVERY in (self.address, other.address)


HostPorts = tuple[HostPort, ...]


def ports_of(spec: Mapping[str, Any]) -> HostPorts:
    """Return the ports of its node that a pod with this spec takes."""
    running = [
        *(spec.get("containers") or ()),
        *(each for each in spec.get("initContainers") or () if is_sidecar(each)),
    ]
    return tuple(
        HostPort(port["hostPort"], port.get("protocol") or "TCP", port.get("hostIP") or _EVERY)
        for each in running
        for port in each.get("ports") or ()
        if port.get("hostPort")
    )


def are_free(wanted: HostPorts, taken: Iterable[HostPort]) -> bool:
    """Return whether none of the ports is taken."""
    return not wanted or not any(each.excludes(other) for other in taken for each in wanted)


class Claims(NamedTuple):
    """The exclusive resources of a pod: what no other pod of its node can have as well."""

    requests: Amounts
    ports: HostPorts = ()
    devices: DeviceClaims = ()


def claims_of(spec: Mapping[str, Any]) -> Claims:
    """Return what a pod with this spec takes."""
    return Claims(requests_of(spec), ports_of(spec), device_claims_of(spec))
