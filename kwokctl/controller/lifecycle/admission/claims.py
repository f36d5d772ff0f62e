"""The resources and ports that a pod takes of its node, as the scheduler and the kubelet count them.

Sources: PodRequests in k8s.io/component-helpers, resource/helpers.go; HostPortInfo in pkg/scheduler/framework of
Kubernetes 1.36.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from kwokctl.controller.lifecycle.containers.restarts import is_sidecar
from kwokctl.expr.cel.values.quantities import parse_quantity

Amounts = tuple[tuple[str, int], ...]
"""Names of resources with whole numbers: thousandths of a processor, bytes, or pieces."""
_CPU = "cpu"
_NANOS = 10**9


def requests_of(spec: Mapping[str, Any]) -> Amounts:
    """Return what a pod with this spec requests; zeros are left out."""
    total = _of_containers(spec)
    total |= _requested(spec)
    total.update(amounts(spec.get("overhead") or {}))
    return _kept(tuple(sorted((name, value) for name, value in total.items() if value)))


def amounts(quantities: Mapping[str, str | int]) -> dict[str, int]:
    """Return quantities as whole numbers, rounded up."""
    return {name: amount(name, str(quantity)) for name, quantity in quantities.items()}


@lru_cache(maxsize=1024)
def amount(resource: str, text: str) -> int:
    """Return a quantity of a resource as a whole number, rounded up."""
    quantity = parse_quantity(text)
    return quantity.thousandths() if resource == _CPU else -(-quantity.nanos // _NANOS)


def _of_containers(spec: Mapping[str, Any]) -> Counter[str]:
    """Return the most that is requested at a time: by an init container, or by all that run on."""
    beside: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for each in spec.get("initContainers") or ():
        own = _requested(each)
        if is_sidecar(each):
            beside += own
        most |= beside if is_sidecar(each) else beside + own
    return most | _sum([beside, *(_requested(each) for each in spec.get("containers") or ())])


def _requested(of: Mapping[str, Any]) -> Counter[str]:
    return Counter(amounts((of.get("resources") or {}).get("requests") or {}))


def _sum(parts: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in parts:
        total.update(each)
    return total


@lru_cache(maxsize=1024)
def _kept(found: Amounts) -> Amounts:
    """Return one shared value for equal amounts: a node may have thousands of pods of one workload."""
    return found


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


def claims_of(spec: Mapping[str, Any]) -> Claims:
    """Return what a pod with this spec takes."""
    return Claims(requests_of(spec), ports_of(spec))
