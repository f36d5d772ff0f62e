"""Makes the Repairs that the triggers of policies ask for."""

from collections.abc import Callable, Iterator

import orjson

from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.repairs.known_repairs import KnownRepairs
from kwokctl.controller.repairs.node_triggers import DeletedNode, NodeTriggers
from kwokctl.controller.repairs.repair_objects import RepairObjects
from kwokctl.controller.repairs.request_triggers import RequestTriggers
from kwokctl.faults.repairs.policy_schema import RepairPolicySpec
from kwokctl.faults.repairs.repair_actions import REPLACE
from kwokctl.faults.repairs.replaced_node import replacement_of, replacement_text
from kwokctl.faults.repairs.triggers import (
    Due,
    due_of_deleted,
    due_of_node,
    due_of_request,
    is_answered,
)
from kwokctl.faults.targets.candidates import candidate
from kwokctl.faults.targets.node_expressions import compile_where
from kwokctl.json_value import Json
from kwokctl.replacing import replace

_AGAIN = 1.0
"""Seconds until the next try to have a node made anew, unless the watch shows its Repair before."""


class Triggering:
    """Looks at nodes and requests by the policies."""

    def __init__(
        self,
        known: KnownRepairs,
        objects: RepairObjects,
        on_nodes: NodeTriggers,
        on_requests: RequestTriggers,
        nodes: NodeRegistry,
        wall: Callable[[], float],
    ) -> None:
        """Make Repairs with `objects`; `wall` returns the time of day."""
        self._known = known
        self._objects = objects
        self._on_nodes = on_nodes
        self._on_requests = on_requests
        self._nodes = nodes
        self._wall = wall

    def leave(self) -> None:
        """Leave nodes that were deleted to the leader."""
        self._on_nodes.deleted.clear()

    async def look(self) -> float | None:
        """Make the Repairs that are due; return the seconds until another is. Raises RequestError if the cluster refuses."""
        waits = []
        for due in (*self._by_nodes(), *self._by_requests()):
            if is_answered(due, self._known.all):
                continue
            if due.wait > 0:
                waits.append(due.wait)
            elif await self.fits(due.spec.policy, due.spec.node):
                await self._make(due)
        for uid, deleted in tuple(self._on_nodes.deleted.items()):
            if await self._remake(deleted):
                self._on_nodes.deleted.pop(uid, None)
            else:
                waits.append(_AGAIN)
        return min(waits, default=None)

    async def fits(self, policy: str, node: str) -> bool:
        """Return whether a policy is for a node; one that does not exist is for no policy with an expression."""
        if not self._known.policy(policy).where:
            return True
        value = await self._objects.node(node)
        return value is not None and self._holds(self._known.policy(policy), value)

    def _holds(self, policy: RepairPolicySpec, node: dict[str, Json]) -> bool:
        where = policy.where
        return not where or compile_where(where).holds(candidate(node))

    def _by_nodes(self) -> Iterator[Due]:
        now = self._wall()
        for name, policy in sorted(self._known.policies.items()):
            for each in self._on_nodes.watched.values():
                if self._nodes.get(each.node.metadata.name) is not None:
                    yield from due_of_node(name, policy, each.node, each.seen, now)

    def _by_requests(self) -> Iterator[Due]:
        now = self._wall()
        for name, policy in sorted(self._known.policies.items()):
            for trigger in policy.triggers:
                if (request := trigger.request) is None:
                    continue
                kind = (request.api_version, request.kind)
                for body in tuple(self._on_requests.requests.get(kind, {}).values()):
                    due = due_of_request(name, trigger, request, body, now)
                    if due is not None:
                        yield due

    async def _make(self, due: Due) -> None:
        made = await self._objects.create(due.name, due.spec)
        if made is not None:
            self._known.note(made)

    async def _remake(self, deleted: DeletedNode) -> bool:
        """Have a node that was deleted made anew, if a policy says so; not one that a repair has just deleted.

        Returns False if there is a Repair for that which is not known yet: it has to be told what the node was like.
        """
        meta, value = deleted.node.metadata, orjson.loads(deleted.raw)
        replacing = (each for each in self._known.open() if each.spec.action == REPLACE)
        if any(each.status.node_uid == meta.uid for each in replacing):
            return True
        for name, policy in sorted(self._known.policies.items()):
            due = due_of_deleted(name, policy, deleted.node)
            if due is not None and self._holds(policy, value):
                slices = await self._objects.slices_of(meta.name)
                made = replacement_of(value, slices, due.name, self._wall())
                repair = await self._objects.create(due.name, due.spec)
                repair = repair or self._known.get(due.name)
                if repair is None:
                    return False
                if not repair.status.phase:
                    kept = replace(repair.status, replacement=replacement_text(made))
                    self._known.note(await self._objects.put_status(repair, kept))
                return True
        return True
