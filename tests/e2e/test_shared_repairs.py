"""Repairs where several controllers share the nodes, and are killed."""

import asyncio
import signal
from pathlib import Path

import pytest

from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.resource import (
    FAULTS,
    REPAIR_POLICIES,
    REPAIRS,
    Resource,
)
from tests.support.controllers import Controllers
from tests.support.direct import ask, encoded
from tests.support.installed import Installed
from tests.support.lease_history import LeaseHistory
from tests.support.repair_history import RepairHistory
from tests.support.shared_faults import (
    COUNT,
    NAMES,
    PREFIX,
    are_as,
    are_ready,
    controllers_of,
    eventually,
    fleet,
    has_landed,
    inject,
    listed,
    nodes_of,
    served,
)

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(300, func_only=True),
]

SLOTS = 3


REPAIRED = {name: "replace" if number % 3 else "reboot" for number, name in enumerate(NAMES[:12])}
"""Nodes, and how each is repaired."""


async def shop(client: Client) -> None:
    """Make a policy whose reboots end a fault or not, and are followed by one that does, and a Repair of each node."""
    ends = {"takes": "2s", "odds": {"all-surfaces": 1.0}}
    may_end = {"takes": "2s", "odds": {"all-surfaces": 0.5}, "ifFailed": "power-cycle"}
    actions = {"reboot": may_end, "power-cycle": ends, "replace": ends}
    spec: Json = {"seed": 3, "slots": SLOTS, "actions": actions}
    await make(client, REPAIR_POLICIES, "shop", spec)
    for name, action in REPAIRED.items():
        await make(client, REPAIRS, f"of-{name}", {"node": name, "action": action})


async def make(client: Client, resource: Resource, name: str, spec: Json) -> None:
    body = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name},
        "spec": spec,
    }
    await client.call("POST", resource.path(), encoded(body))


async def is_repaired(client: Client, name: str, units: int) -> bool:
    status = (await client.get(FAULTS, None, name)).get("status") or {}
    return status.get("phase") == "Cleared" and status.get("repaired") == units


def test_another_controller_goes_on_with_repairs_and_does_nothing_twice(
    storage: Installed, tmp_path: Path
) -> None:
    controllers = controllers_of(storage, tmp_path)
    leases, repairs = LeaseHistory(PREFIX), RepairHistory()

    async def story(client: Client) -> None:
        async with fleet(client, "repair"), asyncio.TaskGroup() as tasks:
            following = tasks.create_task(leases.follow(client))
            for _ in range(2):
                await controllers.start()
            await leases.until_shared(COUNT, among=2)
            await eventually(lambda: are_ready(client))
            await eventually(lambda: served(client, REPAIRS, REPAIR_POLICIES))
            before = await nodes_of(client)
            await inject(client, "loud", "all-surfaces", NAMES[:12])
            await eventually(lambda: has_landed(client, "loud", 12))
            watching = tasks.create_task(repairs.follow(client))

            await shop(client)
            await kill_in_turn(controllers, repairs)
            await eventually(lambda: is_repaired(client, "loud", 12))
            await eventually(lambda: not repairs.count("", "Queued", "Running"))

            assert [*await listed(client, FAULTS)] == ["loud"], "nothing shows a repair any more"
            await are_as(client, before)
            check_once(repairs)
            watching.cancel()
            following.cancel()

    try:
        ask(storage, story)
    finally:
        controllers.kill()


async def kill_in_turn(controllers: Controllers, repairs: RepairHistory) -> None:
    """Kill both controllers, one after the other, while as many repairs go on as may: one of them carries them out."""
    for number in range(2):
        least = 1 + 4 * number
        await eventually(
            lambda least=least: (  # type: ignore[misc]  # a number
                repairs.count("Succeeded", "Failed") >= least and repairs.count("Running") == SLOTS
            )
        )
        controllers.end(number, signal.SIGKILL)
        await controllers.start()


def check_once(repairs: RepairHistory) -> None:
    """Check that each repair began, decided and ended once, on one machine, with as many at a time as there are slots."""
    followed = {name for name in repairs.statuses if name.endswith(".power-cycle")}
    assert len(repairs.statuses) == len(REPAIRED) + len(followed)
    assert 0 < len(followed) < sum(action == "reboot" for action in REPAIRED.values())
    assert max(repairs.running) == SLOTS
    for name, statuses in repairs.statuses.items():
        end = "Failed" if f"{name}.power-cycle" in followed else "Succeeded"
        assert repairs.phases(name)[-3:] == ["Queued", "Running", end], name
        assert {*repairs.phases(name)[:-3]} <= {""}, name
        for field in ("accepted_at", "started_at", "clock", "takes", "decided", "ended_at"):
            said = {getattr(each, field) for each in statuses} - {"", None}
            assert len(said) == 1, (name, field)
    for name, action in REPAIRED.items():
        reboots = 1 + (f"of-{name}.power-cycle" in followed)
        assert len(repairs.uids[name]) == (2 if action == "replace" else 1), name
        assert len(repairs.boots[name]) == 1 + reboots, name
