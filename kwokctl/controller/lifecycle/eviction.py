"""Evicts pods of nodes under pressure: one of each node at a time, as a kubelet does.

They are ranked as by kubelet 1.36 (pkg/kubelet/eviction).
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import orjson

from kwokctl.controller.lifecycle.admission.quality import is_critical, priority_of
from kwokctl.controller.nodes.facts import pressures_of
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.errors import KwokctlError, RequestError
from kwokctl.expr.cel.values.quantities import CelQuantity
from kwokctl.json_value import Json
from kwokctl.kube.pod_requests import amount
from kwokctl.kube.resource import PODS
from kwokctl.kube.stored_json import ObjectInJson

_RESOURCES = {
    "MemoryPressure": "memory",
    "DiskPressure": "ephemeral-storage",
    "PIDPressure": "pids",
}
"""The resource that a node lacks, by its condition; the first condition that holds counts."""
_USAGE = "kwok.x-k8s.io/usage-"
_USUAL = {"memory": 1 << 20}
_NANOS = 10**9


def victim_of(pods: Sequence[Json], pressures: Sequence[str]) -> tuple[Json, str] | None:
    """Return the pod that is evicted first, and the message; None if no pod can be evicted."""
    resource = next((_RESOURCES[each] for each in _RESOURCES if each in pressures), None)
    candidates = [pod for pod in pods if not is_critical(pod)]
    if resource is None or not candidates:
        return None
    victim = min(candidates, key=lambda pod: _rank(pod, resource))
    return victim, _message(victim, resource)


def _rank(pod: ObjectInJson, resource: str) -> tuple[bool, int, int, str]:
    """Return a key: those above their requests, of low priority, and furthest above come first."""
    above = sum(used - requested for _, used, requested in _usages(pod, resource))
    return above <= 0, priority_of(pod), -above, str(pod["metadata"].get("creationTimestamp"))


def _message(pod: ObjectInJson, resource: str) -> str:
    above = (
        f"Container {name} was using {_written(used)}, request is {_written(requested)}, "
        f"has larger consumption of {resource}. "
        for name, used, requested in _usages(pod, resource)
        if used > requested
    )
    return f"The node was low on resource: {resource}. {''.join(above)}"


def _usages(pod: ObjectInJson, resource: str) -> Iterator[tuple[str, int, int]]:
    """Yield the name of each container, what it uses, and what it requests."""
    text = (pod["metadata"].get("annotations") or {}).get(_USAGE + resource)
    for each in pod["spec"].get("containers") or ():
        requested = _requested(each, resource)
        yield each["name"], _used(text, requested, _USUAL.get(resource, 0)), requested


def _used(text: str | None, requested: int, usual: int) -> int:
    if text is None:
        return usual
    try:
        if text.endswith("%"):
            return round(float(text[:-1]) / 100 * requested)
        return amount("", text)
    except (KwokctlError, ValueError):  # a curve, which only `kubectl top` follows
        return usual


def _requested(container: Mapping[str, Any], resource: str) -> int:
    requests = (container.get("resources") or {}).get("requests") or {}
    return amount(resource, str(requests.get(resource, "0")))


def _written(number: int) -> str:
    return str(CelQuantity(number * _NANOS, "binary"))


log = logging.getLogger(__name__)

_EVERY = 10.0
"""Seconds between the looks of a kubelet at what its node has left."""


class Evictable(Protocol):
    """The pods that live as on a kubelet."""

    def may_evict(self, pod: ObjectInJson) -> bool:
        """Return whether a pod has started, and has not ended."""
        ...

    def evict(self, pod: ObjectInJson, message: str) -> None:
        """End a pod."""
        ...


class Evictor:
    """Looks at the nodes that are held."""

    def __init__(self, nodes: NodeRegistry, reader: ObjectReader, pods: Evictable) -> None:
        """Read the pods of nodes under pressure with `reader`."""
        self._nodes = nodes
        self._reader = reader
        self._pods = pods

    async def run(self) -> None:
        """Evict until cancelled."""
        while True:
            await asyncio.sleep(_EVERY)
            for node in tuple(self._nodes):
                pressures = pressures_of(node.facts)
                if pressures and node.plays_pods:
                    await self._relieve(node.name, pressures)

    async def _relieve(self, name: str, pressures: Sequence[str]) -> None:
        try:
            found = await self._reader.list(PODS, field_selector=f"spec.nodeName={name}")
        except RequestError as e:
            log.debug("pods of node %r: %s", name, e)
            return
        pods = [pod for pod in map(orjson.loads, found) if self._pods.may_evict(pod)]
        if victim := victim_of(pods, pressures):
            self._pods.evict(*victim)
