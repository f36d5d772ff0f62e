"""How faults come to nodes of others when the leader changes."""

import asyncio
from random import Random
from typing import Any

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.faults.foreign_nodes import ForeignNodes
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import (
    FaultPageSpec,
    FaultSpec,
    FaultStatus,
    FaultTarget,
    ObjectMeta,
    StoredFault,
    StoredPage,
)
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow, row_text
from kwokctl.faults.overlays.definitions import definition_name, definition_of
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS
from kwokctl.kube.resource import NODES
from kwokctl.tasks import beside
from tests.support.fake_cluster import FakeCluster
from tests.support.faults import NOON, node
from tests.support.virtual_time import run

DEFINITION = definition_of(FaultCatalogue(), "not-ready", ())
UNIT = FaultUnit(node="n-0", node_uid="u-0")


def fault() -> StoredFault:
    return StoredFault(
        metadata=ObjectMeta(name="f", uid="u"),
        spec=FaultSpec(class_name="not-ready", target=FaultTarget(nodes=("n-0",), foreign=True)),
        status=FaultStatus(
            phase="Injecting",
            clock=NOON,
            definition=definition_name(DEFINITION),
            rows=(row_text(UnitRow(unit=UNIT)),),
        ),
    )


def test_a_fault_shows_that_came_when_there_was_no_leader() -> None:
    async def whole() -> None:
        loop = asyncio.get_running_loop()
        cluster, leads = FakeCluster(NODES), [False]
        body: dict[str, Any] = node()
        body["metadata"]["uid"] = "u-0"
        cluster.put(NODES, body)

        def wall() -> float:
            return NOON + loop.time()

        faults = OpenFaults(FaultClock(wall))
        context = ControllerContext(
            plane=cluster, reader=cluster, random=Random(1), wall=wall, faults=faults
        )
        foreign = ForeignNodes(context, NodeRegistry(), lambda: leads[0])
        meta = ObjectMeta(name=definition_name(DEFINITION))
        faults.note_page(StoredPage(metadata=meta, spec=FaultPageSpec(definition=DEFINITION)))
        async with beside(foreign.run()):
            faults.note(fault())
            await asyncio.sleep(5)
            leads[0] = True
            await asyncio.sleep(10)
        assert OPEN_FAULTS in cluster.object(NODES, "n-0")["metadata"]["annotations"]
        assert "u-0" in faults.foreign

    run(whole())
