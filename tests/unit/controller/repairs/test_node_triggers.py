"""Which nodes a controller looks at for repairs, as their watch shows them."""

import asyncio
from collections.abc import AsyncGenerator
from random import Random

import pytest

from kwokctl.controller.repairs import node_triggers
from kwokctl.controller.repairs.node_triggers import NodeTriggers, watches_nodes
from kwokctl.faults.repairs.policy_schema import (
    LabelTrigger,
    RepairPolicySpec,
    RepairTrigger,
    RequestTrigger,
)
from kwokctl.faults.repairs.triggers import TriggerMeta, TriggerNode
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import Event, EventType
from kwokctl.kube.transport.pool import Pool
from kwokctl.tasks import beside
from tests.support.faults import NOON
from tests.support.virtual_time import run

CORDONS = {"p": RepairPolicySpec(triggers=(RepairTrigger(action="reboot", cordoned_for="1m"),))}
LABELS = {
    "p": RepairPolicySpec(triggers=(RepairTrigger(action="replace", label=LabelTrigger(key="k")),))
}
REQUESTS = {
    "p": RepairPolicySpec(
        triggers=(
            RepairTrigger(action="reboot", request=RequestTrigger(api_version="a/v1", kind="B")),
        )
    )
}


def test_nodes_are_watched_only_for_policies_that_are_about_them() -> None:
    assert watches_nodes(CORDONS)
    assert not watches_nodes(REQUESTS)
    assert not watches_nodes({})


def test_a_label_that_a_repair_has_removed_asks_for_no_other_though_the_watch_is_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def whole() -> None:
        events: asyncio.Queue[Event[TriggerNode]] = asyncio.Queue()

        async def shown() -> AsyncGenerator[list[Event[TriggerNode]], None]:
            while True:
                yield [await events.get()]

        async def show(version: int, *labels: str, name: str = "n") -> bool:
            """Show a node; return whether it asks for a repair then."""
            meta = TriggerMeta(
                name=name, uid="u", resource_version=str(version), labels=dict.fromkeys(labels, "")
            )
            events.put_nowait(Event(EventType.MODIFIED, TriggerNode(metadata=meta), b""))
            await asyncio.sleep(1)
            return name in triggers.watched

        monkeypatch.setattr(node_triggers, "watch", lambda *_, **__: shown())
        client = Client(Pool.__new__(Pool))
        triggers = NodeTriggers(client, LABELS, lambda: None, lambda: NOON, Random(1))
        async with beside(triggers.run()):
            assert await show(5, "k")
            triggers.unlabelled("n", 8)
            assert "n" not in triggers.watched
            assert not await show(7, "k")
            assert not await show(8)
            assert await show(9, "k")
            triggers.unlabelled("n", 9)  # it was removed before, and set again
            assert "n" in triggers.watched
            triggers.unlabelled("late", 12)
            assert not await show(11, "k", name="late")

    run(whole())
