"""When nodes show their faults though their controller could not write for a moment."""

import asyncio
from itertools import count
from random import Random
from typing import Any

import orjson

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.faults.node_overlays import NodeOverlays
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.facts import NodeFacts
from kwokctl.controller.nodes.node_registry import Hold, ManagedNode, NodeRegistry
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.journal import JOURNAL
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
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS, entries_of
from kwokctl.kube.resource import NODES
from kwokctl.tasks import beside
from tests.support.fake_cluster import FakeCluster
from tests.support.faults import NOON, node
from tests.support.virtual_time import run

DEFINITION = definition_of(FaultCatalogue(), "xid-79", ("eks", "device-plugin"))
UNIT = FaultUnit(node="n-0", node_uid="u-0", gpu=3)
PAGE = StoredPage(
    metadata=ObjectMeta(name=definition_name(DEFINITION)),
    spec=FaultPageSpec(definition=DEFINITION),
)
FAULT = StoredFault(
    metadata=ObjectMeta(name="f", uid="u"),
    spec=FaultSpec(class_name="xid-79", target=FaultTarget(nodes=("n-0",))),
    status=FaultStatus(
        phase="Injecting",
        clock=NOON,
        definition=PAGE.metadata.name,
        rows=(row_text(UnitRow(unit=UNIT)),),
    ),
)


def facts_of(body: dict[str, Any]) -> NodeFacts:
    """Return what a node shows, as the controller reads it."""
    meta = body["metadata"]
    annotations = meta.get("annotations") or {}
    return NodeFacts(
        open_faults=annotations.get(OPEN_FAULTS, ""),
        faulty_version=meta["resourceVersion"] if JOURNAL in annotations else "",
    )


def test_a_signal_shows_that_was_due_while_another_had_the_lease_of_the_node() -> None:
    async def whole() -> None:
        loop = asyncio.get_running_loop()
        cluster, nodes = FakeCluster(NODES), NodeRegistry()
        body: dict[str, Any] = node()
        body["metadata"]["uid"] = "u-0"
        cluster.put(NODES, body)

        looks = count()

        def wall() -> float:
            return NOON + loop.time() + next(looks) / 1e6  # it has gone on at each look

        faults = OpenFaults(FaultClock(wall))
        context = ControllerContext(
            plane=cluster, reader=cluster, random=Random(1), wall=wall, faults=faults
        )
        overlays = NodeOverlays(context, nodes)
        faults.note_page(PAGE)
        managed = ManagedNode("n-0", "u-0", (), ())
        nodes.put(managed)
        cluster.watch(NODES, lambda _, raw: nodes.describe(managed, facts_of(orjson.loads(raw))))
        faults.note(FAULT)
        course = faults.course(FAULT, UNIT, 8)
        assert course is not None
        async with beside(overlays.run()):
            nodes.set_hold("n-0", Hold.HELD)
            await asyncio.sleep(10)
            shown = entries_of(cluster.object(NODES, "n-0"))
            assert shown
            assert not course.is_complete(shown)
            nodes.set_hold("n-0", Hold.FOREIGN)
            await asyncio.sleep(20)
            nodes.set_hold("n-0", Hold.HELD)
            await asyncio.sleep(20)
        assert course.is_complete(entries_of(cluster.object(NODES, "n-0")))

    run(whole())
