"""The functions that templates of Stages may call, beside those that every template has."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import msgspec

from kwokctl import __version__
from kwokctl.controller.stages.identifiers import container_id, image_id
from kwokctl.expr.duration import format_time
from kwokctl.fleet.uuids import uuid_for
from kwokctl.specialization.source import FunctionNames

NODE_CONDITIONS = (
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
)  # fmt: skip
"""Type, status, reason and message of the conditions of a healthy node."""

NAMES = frozenset(
    {
        "Now",
        "StartTime",
        "Version",
        "KubeletAddress",
        "KubeletFeatures",
        "NodeConditions",
        "NodeIP",
        "NodeName",
        "NodePort",
        "UUIDFor",
    }
)
"""The functions for every kind."""
POD_NAMES = NAMES | {
    "ContainerID",
    "ImageID",
    "NodeIPWith",
    "NodeIPsWith",
    "PodIP",
    "PodIPWith",
    "PodIPsWith",
}
"""The functions for pods."""
_OF_THE_MOMENT = frozenset({"NodeIPWith", "NodeIPsWith", "Now", "PodIP", "PodIPWith", "PodIPsWith"})
"""Those whose results depend on more than what they are called with."""
KNOWN = FunctionNames(
    pure=POD_NAMES - _OF_THE_MOMENT, of_the_moment=_OF_THE_MOMENT, times=frozenset({"Now"})
)
"""The properties of the functions, which plans rely on while the controller runs."""


class Kubelet(msgspec.Struct, frozen=True, kw_only=True):
    """The addresses, the port and the features that all fake nodes report for their kubelet."""

    ip: str = ""
    name: str = ""
    port: int = 0
    address: str = ""
    """The address at which the API server reaches it; `ip` and `name` are what other clients see."""
    features: tuple[str, ...] = ()
    """The features that its nodes declare, in alphabetical order."""


@lru_cache(maxsize=1)
def _moment(milliseconds: int) -> str:
    """Return a time of day as text; the objects that are played within a millisecond share it."""
    seconds, fraction = divmod(milliseconds, 1000)
    return f"{_second(seconds)}.{fraction:03d}000000Z"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return format_time(seconds).removesuffix("Z")


def common(wall: Callable[[], float]) -> dict[str, Any]:
    """Return the functions for every kind; `wall` is the time of day as a POSIX time stamp."""
    started = format_time(wall(), nanos=True)
    conditions = [
        {"type": kind, "status": status, "reason": reason, "message": message}
        for kind, status, reason, message in NODE_CONDITIONS
    ]
    return {
        "Now": lambda: _moment(int(wall() * 1000)),
        "StartTime": lambda: started,
        "Version": lambda: __version__,
        "NodeConditions": lambda: conditions,
        "UUIDFor": lambda *words: uuid_for(*map(str, words)),
    }


def for_nodes(shared: Mapping[str, Any], kubelet: Kubelet) -> dict[str, Any]:
    """Return the functions for nodes."""
    return {
        **shared,
        "NodeIP": lambda: kubelet.ip,
        "NodeName": lambda: kubelet.name,
        "NodePort": lambda: kubelet.port,
        "KubeletAddress": lambda: kubelet.address,
        "KubeletFeatures": lambda: list(kubelet.features),
    }


class AddressBook(Protocol):
    """Returns the addresses of nodes and pods."""

    def of_node(self, name: str) -> Sequence[str]:
        """Return the addresses of a node, the first of which is its main one."""
        ...

    def of_pod(self, uid: str, node: str, *, host_network: bool) -> Sequence[str]:
        """Return the addresses of a pod."""
        ...


def for_pods(shared: Mapping[str, Any], kubelet: Kubelet, addresses: AddressBook) -> dict[str, Any]:
    """Return the functions for pods."""

    def node_ips_with(node: str) -> list[str]:
        return list(addresses.of_node(node))

    def pod_ips_with(
        node: str, host_network: Any, uid: str, name: str, namespace: str
    ) -> list[str]:
        owner = uid or f"{namespace}/{name}"
        return list(addresses.of_pod(owner, node, host_network=bool(host_network)))

    return {
        **for_nodes(shared, kubelet),
        "ContainerID": lambda uid, name: container_id(str(uid), str(name)),
        "ImageID": lambda image: image_id(str(image or "")),
        "NodeIPWith": lambda node: next(iter(node_ips_with(node)), ""),
        "NodeIPsWith": node_ips_with,
        "PodIPWith": lambda *words: next(iter(pod_ips_with(*words)), ""),
        "PodIPsWith": pod_ips_with,
    }
