"""When the repairs of a cluster are looked at."""

import asyncio
from random import Random

from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.repairs.known_repairs import KnownRepairs
from kwokctl.controller.repairs.node_triggers import NodeTriggers
from kwokctl.controller.repairs.repair_keeper import RepairKeeper
from kwokctl.controller.repairs.repair_objects import RepairObjects
from kwokctl.controller.repairs.repair_steps import RepairSteps
from kwokctl.controller.repairs.request_triggers import RequestTriggers
from kwokctl.controller.repairs.triggering import Triggering
from kwokctl.controller.write_errors import RightsLog
from kwokctl.faults.objects.fault_schema import (
    FaultSpec,
    FaultStatus,
    FaultTarget,
    ObjectMeta,
    StoredFault,
)
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow, row_text
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.transport.pool import Pool
from kwokctl.tasks import beside
from tests.support.faults import NOON, node
from tests.support.virtual_time import run

AWAKE = UnitRow(unit=FaultUnit(node="n-0", node_uid="u-0"), landed=1.0)
ASLEEP = UnitRow(unit=AWAKE.unit, landed=1.0, ended=60.0, asleep=True)


def fault(version: int, row: UnitRow) -> StoredFault:
    return StoredFault(
        metadata=ObjectMeta(name="f", uid="u", resource_version=str(version)),
        spec=FaultSpec(class_name="xid-79", target=FaultTarget(nodes=("n-0",))),
        status=FaultStatus(phase="Landed", clock=NOON, rows=(row_text(row),)),
    )


class Busy(RepairObjects):
    """A node with a pod on a GPU."""

    def __init__(self) -> None:
        pass

    async def node(self, name: str) -> dict[str, Json] | None:
        return {**node(), "metadata": {**node()["metadata"], "uid": "u-0"}}

    async def pods_on(self, node: str) -> list[dict[str, Json]]:
        wanted = {"requests": {"nvidia.com/gpu": "1"}}
        spec = {"nodeName": node, "containers": [{"name": "a", "resources": wanted}]}
        meta = {"namespace": "default", "name": "p", "uid": "p"}
        return [{"metadata": meta, "spec": spec, "status": {"phase": "Running"}}]


def test_a_unit_wakes_that_a_rewind_has_put_to_sleep() -> None:
    async def whole() -> None:
        loop = asyncio.get_running_loop()

        def wall() -> float:
            return NOON + loop.time()

        known, objects, nodes, random = (
            KnownRepairs(lambda: None), Busy(), NodeRegistry(), Random(1),
        )  # fmt: skip
        faults, client = OpenFaults(FaultClock(wall)), Client(Pool.__new__(Pool))
        on_nodes = NodeTriggers(client, known.policies, lambda: None, wall, random)
        on_requests = RequestTriggers(client, lambda: None, random)
        keeper = RepairKeeper(
            known,
            objects,
            RepairSteps(known, objects, faults, nodes, wall, on_nodes.unlabelled),
            Triggering(known, objects, on_nodes, on_requests, nodes, wall),
            faults,
            lambda: True,
            random=random,
            rights=RightsLog(),
        )
        faults.note(fault(1, AWAKE))
        async with beside(keeper.run()):
            await asyncio.sleep(60)
            faults.note(fault(2, ASLEEP))
            await asyncio.sleep(5)
        assert faults.endings.applied("u", ASLEEP, NOON).ended is None

    run(whole())
