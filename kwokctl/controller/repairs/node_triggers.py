"""Follows the nodes of a cluster while policies watch them: which are cordoned, have a label that asks for repair, or were deleted."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from random import Random

import msgspec

from kwokctl.faults.repairs.policy_schema import RepairPolicySpec
from kwokctl.faults.repairs.triggers import TriggerNode
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import NODES
from kwokctl.retry import until_answered

_GATHER = 0.05


class WatchedNode(msgspec.Struct, frozen=True):
    """A node that may be repaired, and the time of day at which it was first seen like this."""

    node: TriggerNode
    seen: float


class DeletedNode(msgspec.Struct, frozen=True):
    """A node that was deleted, as it was."""

    node: TriggerNode
    raw: bytes


class NodeTriggers:
    """The nodes on which triggers may bear."""

    def __init__(
        self,
        client: Client,
        policies: Mapping[str, RepairPolicySpec],
        changed: Callable[[], None],
        wall: Callable[[], float],
        random: Random,
    ) -> None:
        """Watch by `policies`; `changed` is called when a node may have to be repaired."""
        self._client = client
        self._policies = policies
        self._changed = changed
        self._wall = wall
        self._random = random
        self.watched: dict[str, WatchedNode] = {}
        """By name."""
        self._before: dict[str, WatchedNode] = {}
        """The nodes that were known when the present watch began, by name."""
        self.deleted: dict[str, DeletedNode] = {}
        """By uid, until `Triggering` has taken them."""
        self._unlabelled: dict[str, int] = {}
        """The versions, by name, in which nodes lack a label that a repair has removed, until the watch has come there."""

    async def run(self) -> None:
        """Follow until cancelled, by the policies as they are; all nodes are looked at anew."""
        self._before, self.watched = self.watched, {}
        await until_answered(self._follow, self._random)

    def unlabelled(self, name: str, version: int) -> None:
        """Note that a repair has removed a label of a node, in this version of it.

        The watch may show it later, when that repair is over: a node that was replaced would be taken for another that asks for repair.
        """
        watched = self.watched.get(name)
        if watched is None or _version(watched.node) < version:
            self.watched.pop(name, None)
            self._unlabelled[name] = version

    async def _follow(self) -> None:
        decode = msgspec.json.Decoder(TriggerNode).decode
        events = watch(self._client.pool, NODES, decoder=decode, gather=_GATHER)
        async with aclosing(events) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is not None:
                        self._note(event, event.object)

    def _note(self, event: Event[TriggerNode], node: TriggerNode) -> None:
        name = node.metadata.name
        if event.type is EventType.DELETED:
            self.watched.pop(name, None)
            if node.metadata.resource_version and any(self._deletions()):
                self.deleted[node.metadata.uid] = DeletedNode(node, event.raw)
                self._changed()
            return
        if _version(node) < self._unlabelled.get(name, 0):
            return
        self._unlabelled.pop(name, None)
        if not node.spec.unschedulable and self._labels().isdisjoint(node.metadata.labels or ()):
            self.watched.pop(name, None)
            return
        before = self.watched.get(name) or self._before.get(name)
        is_same = before is not None and before.node.metadata.uid == node.metadata.uid
        seen = before.seen if before is not None and is_same else self._wall()
        self.watched[name] = WatchedNode(node, seen)
        self._changed()

    def _labels(self) -> set[str]:
        """Return the keys of the labels that ask for repair."""
        triggers = (each for policy in self._policies.values() for each in policy.triggers)
        return {each.label.key for each in triggers if each.label is not None}

    def _deletions(self) -> Iterator[bool]:
        """Yield for each trigger whether it is about nodes that were deleted."""
        for policy in self._policies.values():
            yield from (bool(each.node_deleted) for each in policy.triggers)


def _version(node: TriggerNode) -> int:
    return int(node.metadata.resource_version or 0)


def watches_nodes(policies: Mapping[str, RepairPolicySpec]) -> bool:
    """Return whether a policy has a trigger that is about nodes."""
    triggers = (each for policy in policies.values() for each in policy.triggers)
    return any(each.request is None for each in triggers)
