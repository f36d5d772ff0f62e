"""Evicts pods of nodes under pressure: one of each node at a time, as a kubelet does."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

import orjson

from kwokctl.controller.lifecycle.eviction.victims import victim_of
from kwokctl.controller.nodes.facts import pressures_of
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.errors import RequestError
from kwokctl.kube.resource import PODS
from kwokctl.kube.stored_json import ObjectInJson

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
