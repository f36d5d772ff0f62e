"""The repairs of a cluster: followed, made and kept going."""

import asyncio
from collections.abc import Callable

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.repairs.known_repairs import KnownRepairs, StoredPolicy
from kwokctl.controller.repairs.node_triggers import NodeTriggers, watches_nodes
from kwokctl.controller.repairs.repair_keeper import RepairKeeper
from kwokctl.controller.repairs.repair_objects import RepairObjects
from kwokctl.controller.repairs.repair_steps import RepairSteps
from kwokctl.controller.repairs.request_triggers import RequestTriggers
from kwokctl.controller.repairs.triggering import Triggering
from kwokctl.faults.repairs.repair_schema import StoredRepair
from kwokctl.kube.client import Client
from kwokctl.kube.collections.defined_kinds import DefinedKinds, FollowedKind, NamedObject
from kwokctl.kube.collections.watch import EventType
from kwokctl.kube.resource import REPAIR_POLICIES, REPAIRS
from kwokctl.tasks import beside


class ClusterRepairs:
    """Follows the Repairs and the policies of a cluster, and does what they say."""

    def __init__(
        self,
        client: Client,
        context: ControllerContext,
        nodes: NodeRegistry,
        is_mine: Callable[[], bool],
    ) -> None:
        """Repair `nodes`; `is_mine` says whether this controller is the one of several that does it."""
        self.repairs = known = KnownRepairs(self._changed)
        objects, wall, random = RepairObjects(client), context.wall, context.random
        self._kinds = DefinedKinds(
            client,
            (
                FollowedKind(REPAIRS, StoredRepair, self._repair),
                FollowedKind(REPAIR_POLICIES, StoredPolicy, self._policy),
            ),
            random,
            gone=self._gone,
        )
        self._policies_changed = asyncio.Event()
        self._on_nodes = NodeTriggers(client, known.policies, self._wake, wall, random)
        self._on_requests = RequestTriggers(client, self._wake, random)
        triggering = Triggering(known, objects, self._on_nodes, self._on_requests, nodes, wall)
        self._keeper = RepairKeeper(
            known,
            objects,
            RepairSteps(known, objects, context.faults, nodes, wall, self._on_nodes.unlabelled),
            triggering,
            context.faults,
            is_mine,
            random=random,
            rights=context.rights,
        )

    @property
    def is_known(self) -> bool:
        """Whether all are known, or the cluster has turned out to have none."""
        return self._kinds.is_known

    def is_in_repair(self, node_uid: str) -> bool:
        """Return whether a repair of a node, by uid, goes on."""
        return self.repairs.is_in_repair(node_uid)

    async def known(self) -> None:
        """Wait until all are known, or the cluster has turned out to have none."""
        await self._kinds.known()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._kinds.run())
            tasks.create_task(self._on_requests.run())
            tasks.create_task(self._watch_nodes())
            tasks.create_task(self._keep())

    async def _keep(self) -> None:
        # A trigger must know which repairs were made before this process has begun.
        await self._kinds.known()
        await self._keeper.run()

    async def _watch_nodes(self) -> None:
        """Follow the nodes as long as a policy has a trigger that is about them, and anew when policies have changed."""
        while True:
            self._policies_changed.clear()
            if watches_nodes(self.repairs.policies):
                async with beside(self._on_nodes.run()):
                    await self._policies_changed.wait()
            else:
                await self._policies_changed.wait()

    def _gone(self) -> None:
        self.repairs.forget()
        self._policies_changed.set()

    def _wake(self) -> None:
        self._keeper.wake()

    def _changed(self) -> None:
        self._on_requests.watch_for(self.repairs.policies)
        self._keeper.wake()

    def _repair(self, event: EventType, repair: StoredRepair | NamedObject) -> None:
        meta = repair.metadata
        if isinstance(repair, NamedObject) or event is EventType.DELETED:
            self.repairs.drop(meta.name, meta.uid)
        else:
            self.repairs.note(repair)

    def _policy(self, event: EventType, policy: StoredPolicy | NamedObject) -> None:
        before = dict(self.repairs.policies)
        if isinstance(policy, NamedObject) or event is EventType.DELETED:
            self.repairs.drop_policy(policy.metadata.name)
        else:
            self.repairs.note_policy(policy)
        if self.repairs.policies != before:
            self._policies_changed.set()
