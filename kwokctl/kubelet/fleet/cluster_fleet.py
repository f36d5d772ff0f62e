"""The fleet of a cluster: asked for one by one, and watched as soon as something needs all."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from contextlib import aclosing
from random import Random
from typing import TypeVar

import msgspec

from kwokctl.embedded.selection import Selection
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kubelet.fleet.api_objects import NodeObject, PodObject, node_view, pod_view
from kwokctl.kubelet.fleet.views import NodeView, PodView
from kwokctl.retry import until_answered

Member = TypeVar("Member", bound=Hashable)


class FleetMemory:
    """The nodes and pods that have been seen."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeView] = {}
        self._by_address: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._pods: dict[tuple[str, str], PodView] = {}
        self._on: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)

    def node(self, name: str) -> NodeView | None:
        """Return a node by name."""
        return self._nodes.get(name)

    def nodes(self) -> Iterable[NodeView]:
        """Return all nodes."""
        return self._nodes.values()

    def nodes_at(self, address: str) -> Iterable[NodeView]:
        """Return the nodes that have an address."""
        return [self._nodes[name] for name in self._by_address.get(address, ())]

    def pod(self, namespace: str, name: str) -> PodView | None:
        """Return a pod that is on one of these nodes."""
        found = self._pods.get((namespace, name))
        return found if found is not None and found.node in self._nodes else None

    def pods_on(self, node: str) -> Iterable[PodView]:
        """Return the pods on a node."""
        return [self._pods[key] for key in self._on.get(node, ())]

    def count(self) -> tuple[int, int]:
        """Return how many nodes and pods are kept."""
        return len(self._nodes), len(self._pods)

    def put_node(self, node: NodeView) -> None:
        """Add or replace a node."""
        self.drop_node(node.name)
        self._nodes[node.name] = node
        for address in node.addresses:
            self._by_address[address][node.name] = None

    def drop_node(self, name: str) -> None:
        """Forget a node; its pods stay known."""
        former = self._nodes.pop(name, None)
        for address in former.addresses if former is not None else ():
            _take_out(self._by_address, address, name)

    def put_pod(self, pod: PodView) -> None:
        """Add or replace a pod."""
        key = (pod.namespace, pod.name)
        former = self._pods.get(key)
        if former is not None and former.node != pod.node:
            _take_out(self._on, former.node, key)
        self._pods[key] = pod
        self._on[pod.node][key] = None

    def drop_pod(self, namespace: str, name: str) -> None:
        """Forget a pod."""
        key = (namespace, name)
        former = self._pods.pop(key, None)
        if former is not None:
            _take_out(self._on, former.node, key)


def _take_out(groups: dict[str, dict[Member, None]], name: str, member: Member) -> None:
    group = groups.get(name)
    if group is not None:
        group.pop(member, None)
        if not group:
            del groups[name]


_GATHER = 0.2
"""Seconds between looks at a watch while much happens: usage is asked for every few seconds."""

Seen = TypeVar("Seen", NodeObject, PodObject)


class ClusterFleet:
    """A `FleetView` of the nodes that are selected."""

    def __init__(self, client: Client, selection: Selection, random: Random) -> None:
        """Ask with `client`; nothing is asked yet."""
        self._client = client
        self._selection = selection
        self._random = random
        self._memory = FleetMemory()
        self._listen: Callable[[str], None] = lambda _: None
        self._wanted = asyncio.Event()
        self._synced = {NODES: asyncio.Event(), PODS: asyncio.Event()}

    def listen(self, listener: Callable[[str], None]) -> None:
        """Tell the name of each node that changes, or whose pods do, while all are watched."""
        self._listen = listener

    async def run(self) -> None:
        """Watch from the moment in which that is needed, until cancelled."""
        await self._wanted.wait()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow(NODES, NodeObject, self._note_node, self._drop_node))
            tasks.create_task(self._follow(PODS, PodObject, self._note_pod, self._drop_pod))

    async def watched(self) -> None:
        """Begin to watch, and wait until all have been seen."""
        self._wanted.set()
        for synced in self._synced.values():
            await synced.wait()

    @property
    def is_watched(self) -> bool:
        """Whether all have been seen."""
        return all(synced.is_set() for synced in self._synced.values())

    def count(self) -> tuple[int, int]:
        """Return how many nodes and pods are kept."""
        return self._memory.count()

    async def pod(self, namespace: str, name: str) -> PodView | None:
        """Return a pod that is on a fake node; asks the cluster while nothing is watched."""
        if self.is_watched:
            return self._known(namespace, name)
        found = await self._ask(PODS, namespace, name, PodObject)
        if found is None or not found.spec.node_name:
            return None
        node = await self._ask(NODES, None, found.spec.node_name, NodeObject)
        if node is None or not self._is_ours(node):
            return None
        node_view(node).demand_answer()
        return pod_view(found)

    def node(self, name: str) -> NodeView | None:
        """Return a fake node."""
        return self._memory.node(name)

    def nodes(self) -> Iterable[NodeView]:
        """Return every fake node."""
        return self._memory.nodes()

    def pods_on(self, node: str) -> Iterable[PodView]:
        """Return the pods on a node."""
        return self._memory.pods_on(node)

    def nodes_at(self, address: str) -> Iterable[NodeView]:
        """Return the fake nodes that have an address."""
        return self._memory.nodes_at(address)

    def _known(self, namespace: str, name: str) -> PodView | None:
        found = self._memory.pod(namespace, name)
        if found is not None and (node := self._memory.node(found.node)) is not None:
            node.demand_answer()
        return found

    async def _ask(
        self, resource: Resource, namespace: str | None, name: str, shape: type[Seen]
    ) -> Seen | None:
        try:
            raw = await self._client.get_raw(resource, namespace, name)
        except ApiError as e:
            if e.status == 404:
                return None
            raise
        return msgspec.json.decode(raw, type=shape)

    def _is_ours(self, node: NodeObject) -> bool:
        metadata = node.metadata
        return self._selection.selects(
            metadata.name, metadata.annotations or {}, metadata.labels or {}
        )

    async def _follow(
        self,
        resource: Resource,
        shape: type[Seen],
        note: Callable[[Seen], None],
        drop: Callable[[Seen], None],
    ) -> None:
        decoder = msgspec.json.Decoder(shape).decode
        pods = resource == PODS
        selection = self._selection
        fields = selection.pod_field_selector if pods else selection.node_field_selector

        async def once() -> None:
            events = watch(
                self._client.pool,
                resource,
                decoder=decoder,
                field_selector=fields,
                label_selector="" if pods else selection.label_selector,
                gather=_GATHER,
                from_cache=True,
            )
            async with aclosing(events) as batches:
                async for batch in batches:
                    for event in batch:
                        if event.object is None:
                            self._synced[resource].set()
                        else:
                            (drop if event.type is EventType.DELETED else note)(event.object)

        await until_answered(once, self._random)

    def _note_node(self, node: NodeObject) -> None:
        if self._is_ours(node):
            self._memory.put_node(node_view(node))
            self._listen(node.metadata.name)
        else:
            self._drop_node(node)

    def _drop_node(self, node: NodeObject) -> None:
        self._memory.drop_node(node.metadata.name)
        self._listen(node.metadata.name)

    def _note_pod(self, pod: PodObject) -> None:
        self._memory.put_pod(pod_view(pod))
        self._listen(pod.spec.node_name)

    def _drop_pod(self, pod: PodObject) -> None:
        self._memory.drop_pod(pod.metadata.namespace, pod.metadata.name)
        self._listen(pod.spec.node_name)
