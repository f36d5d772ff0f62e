"""Which Repairs the triggers make, whatever comes first."""

import asyncio
from random import Random
from typing import Any

import msgspec

from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.repairs.known_repairs import KnownRepairs, StoredPolicy
from kwokctl.controller.repairs.node_triggers import DeletedNode, NodeTriggers
from kwokctl.controller.repairs.repair_objects import RepairObjects
from kwokctl.controller.repairs.request_triggers import RequestTriggers
from kwokctl.controller.repairs.triggering import Triggering
from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.faults.repairs.repair_schema import (
    RepairMeta,
    RepairSpec,
    RepairStatus,
    StoredRepair,
)
from kwokctl.faults.repairs.triggers import TriggerNode
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.transport.pool import Pool
from kwokctl.replacing import replace
from tests.support.faults import NOON, node

NODE: dict[str, Any] = {**node(), "metadata": {**node()["metadata"], "uid": "old"}}


class Objects(RepairObjects):
    """Repairs that were made, some of them without an answer."""

    def __init__(self) -> None:
        self.made: dict[str, StoredRepair] = {}

    async def create(self, name: str, spec: RepairSpec) -> StoredRepair | None:
        if name in self.made:
            return None
        self.made[name] = StoredRepair(
            metadata=RepairMeta(name=name, uid=name, resource_version="1"), spec=spec
        )
        return self.made[name]

    async def put_status(self, repair: StoredRepair, status: RepairStatus) -> StoredRepair:
        self.made[repair.name] = replace(repair, status=status)
        return self.made[repair.name]

    async def slices_of(self, node: str) -> list[dict[str, Json]]:
        return []


def test_a_node_is_made_anew_though_the_answer_of_its_repair_was_lost() -> None:
    known, objects = KnownRepairs(lambda: None), Objects()
    spec: dict[str, Any] = {"triggers": [{"action": "replace", "nodeDeleted": True}]}
    known.note_policy(StoredPolicy(metadata=ObjectMeta(name="p"), spec=spec))
    assert not known.problems
    client, random = Client(Pool.__new__(Pool)), Random(1)

    def changed() -> None:
        pass

    on_nodes = NodeTriggers(client, known.policies, changed, lambda: NOON, random)
    on_requests = RequestTriggers(client, changed, random)
    triggering = Triggering(known, objects, on_nodes, on_requests, NodeRegistry(), lambda: NOON)
    raw = msgspec.json.encode(NODE)
    deleted = DeletedNode(msgspec.json.decode(raw, type=TriggerNode), raw)

    on_nodes.deleted["old"] = deleted
    asyncio.run(triggering.look())
    ((name, made),) = objects.made.items()
    objects.made[name] = replace(made, status=RepairStatus())
    known.drop(name, "")
    on_nodes.deleted["old"] = deleted
    wait = asyncio.run(triggering.look())

    assert not objects.made[name].status.replacement
    assert wait is not None
    known.note(objects.made[name])
    asyncio.run(triggering.look())
    assert "n-0" in objects.made[name].status.replacement
    assert not on_nodes.deleted
