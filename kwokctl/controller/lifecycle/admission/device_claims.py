"""The devices that the containers of a pod ask for, and those that they get of what is free.

As the device manager of kubelet 1.36 allocates them (pkg/kubelet/cm/devicemanager/manager.go): container by container,
init containers first, whose devices the later ones use again unless they run on as sidecars.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from kwokctl.fleet.allocations import Allocation
from kwokctl.fleet.device_health import NodeDevices
from kwokctl.fleet.devices import is_device
from kwokctl.kube.pod_requests import amounts, is_sidecar


class DeviceClaim(NamedTuple):
    """A number of devices of a resource for a container."""

    container: str
    resource: str
    number: int
    lends: bool = False
    """Whether the containers after it get the same devices: it is an init container that ends."""


DeviceClaims = tuple[DeviceClaim, ...]


class ShortageError(Exception):
    """A node has not the devices that a pod asks for, in the words of a kubelet."""


def device_claims_of(spec: Mapping[str, Any]) -> DeviceClaims:
    """Return what the containers of a pod with this spec ask for, in the order in which they get it."""
    return (
        *_claims(spec.get("initContainers") or (), may_lend=True),
        *_claims(spec.get("containers") or (), may_lend=False),
    )


def _claims(containers: Sequence[Mapping[str, Any]], *, may_lend: bool) -> Iterator[DeviceClaim]:
    for each in containers:
        limits = (each.get("resources") or {}).get("limits") or {}
        devices = {name: much for name, much in limits.items() if is_device(name)}
        if devices:
            lends = may_lend and not is_sidecar(each)
            for name, number in amounts(devices).items():
                if number:
                    yield DeviceClaim(each["name"], name, number, lends)


def allocated(
    claims: DeviceClaims, offered: Mapping[str, NodeDevices], taken: Mapping[str, str]
) -> tuple[Allocation, ...]:
    """Return the devices that a pod gets: the lowest free ones of the resources that the node offers.

    `taken` has the identifiers of those that other pods have. Raises ShortageError if there are too few.
    """
    own: set[str] = set()
    reusable: defaultdict[str, list[str]] = defaultdict(list)
    found: list[Allocation] = []
    for claim in claims:
        devices = offered.get(claim.resource)
        if devices is None:
            continue
        used_again = reusable[claim.resource][: claim.number]
        free = (each for each in devices.healthy if each not in taken and each not in own)
        got = used_again + list(islice(free, claim.number - len(used_again)))
        if len(got) < claim.number:
            raise ShortageError(_shortage(claim, devices, len(got)))
        own.update(got)
        _lend(reusable[claim.resource], got, claim)
        found += (
            Allocation(container=claim.container, resource=claim.resource, device_id=each)
            for each in got
        )
    return tuple(found)


def _lend(reusable: list[str], got: Sequence[str], claim: DeviceClaim) -> None:
    if claim.lends:
        reusable += [each for each in got if each not in reusable]
    else:
        reusable[:] = [each for each in reusable if each not in got]


def _shortage(claim: DeviceClaim, devices: NodeDevices, available: int) -> str:
    if not devices.healthy:
        return f"no healthy devices present; cannot allocate unhealthy devices {claim.resource}"
    amount = f"Requested: {claim.number}, Available: {available}"
    return f"requested number of devices unavailable for {claim.resource}. {amount}"
