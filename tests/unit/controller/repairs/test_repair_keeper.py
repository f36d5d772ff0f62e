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
    OwnerReference,
    StoredFault,
)
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow, row_text
from kwokctl.faults.repairs.repair_schema import (
    REPAIR_LABEL,
    RepairMeta,
    RepairSpec,
    RepairStatus,
    StoredRepair,
)
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.transport.pool import Pool
from kwokctl.replacing import replace
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
        self.repairs: set[str] = set()
        """The uids of those that exist."""
        self.hidden: list[str] = []
        """The names of the Faults that were deleted."""

    async def exists(self, name: str, uid: str) -> bool:
        return uid in self.repairs

    async def hide(self, name: str) -> None:
        self.hidden.append(name)

    async def node(self, name: str) -> dict[str, Json] | None:
        return {**node(), "metadata": {**node()["metadata"], "uid": "u-0"}}

    async def pods_on(self, node: str) -> list[dict[str, Json]]:
        wanted = {"requests": {"nvidia.com/gpu": "1"}}
        spec = {"nodeName": node, "containers": [{"name": "a", "resources": wanted}]}
        meta = {"namespace": "default", "name": "p", "uid": "p"}
        return [{"metadata": meta, "spec": spec, "status": {"phase": "Running"}}]


class Rig:
    """The repairs of a cluster with one node, while this controller is the leader."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()

        def wall() -> float:
            return NOON + loop.time()

        def changed() -> None:
            self.keeper.wake()

        self.known = known = KnownRepairs(changed)
        self.objects = objects = Busy()
        self.faults = faults = OpenFaults(FaultClock(wall))
        nodes, random, client = NodeRegistry(), Random(1), Client(Pool.__new__(Pool))
        on_nodes = NodeTriggers(client, known.policies, lambda: None, wall, random)
        on_requests = RequestTriggers(client, lambda: None, random)
        self.keeper = RepairKeeper(
            known,
            objects,
            RepairSteps(known, objects, faults, nodes, wall, on_nodes.unlabelled),
            Triggering(known, objects, on_nodes, on_requests, nodes, wall),
            faults,
            lambda: True,
            random=random,
            rights=RightsLog(),
        )


def test_a_unit_wakes_that_a_rewind_has_put_to_sleep() -> None:
    async def whole() -> None:
        rig = Rig()
        rig.faults.note(fault(1, AWAKE))
        async with beside(rig.keeper.run()):
            await asyncio.sleep(60)
            rig.faults.note(fault(2, ASLEEP))
            await asyncio.sleep(5)
        assert rig.faults.endings.applied("u", ASLEEP, NOON).ended is None

    run(whole())


def test_what_a_node_shows_ends_with_a_repair_that_is_deleted() -> None:
    async def whole() -> None:
        rig = Rig()
        meta = RepairMeta(name="r", uid="r", resource_version="1")
        status = RepairStatus(phase="Succeeded")
        spec = RepairSpec(node="n-0", action="reboot")
        rig.known.note(StoredRepair(metadata=meta, spec=spec, status=status))
        owner = OwnerReference(kind="Repair", name="r", uid="r")
        shown = fault(1, AWAKE)
        labelled = replace(shown.metadata, labels={REPAIR_LABEL: "r"}, owner_references=(owner,))
        rig.objects.repairs.add("r")
        async with beside(rig.keeper.run()):
            rig.faults.note(replace(shown, metadata=labelled))
            await asyncio.sleep(5)
            rig.known.drop("r", "r")
            await asyncio.sleep(5)
            assert rig.objects.hidden == []  # it is there: the watch shows it later
            rig.objects.repairs.clear()
            rig.faults.note(replace(shown, metadata=labelled))
            await asyncio.sleep(5)
        assert rig.objects.hidden == ["f"]

    run(whole())
