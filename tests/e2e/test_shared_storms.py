"""Schedules of faults where several controllers share the nodes, and are killed."""

import asyncio
import signal
from pathlib import Path

import msgspec
import pytest

from kwokctl.faults.storms.plan_pages import in_pages, plan_page, plan_rows
from kwokctl.faults.storms.stored_schedule import StoredSchedule
from kwokctl.faults.storms.storm_faults import page_body
from kwokctl.faults.storms.storm_plan import PlannedFault
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.resource import (
    FAULT_PAGES,
    FAULT_SCHEDULES,
    FAULTS,
)
from tests.support.direct import ask, encoded
from tests.support.installed import Installed
from tests.support.lease_history import LeaseHistory
from tests.support.shared_faults import (
    COUNT,
    NAMES,
    PREFIX,
    are_as,
    are_ready,
    controllers_of,
    eventually,
    fleet,
    listed,
    nodes_of,
)

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(300, func_only=True),
]

STORM = [
    PlannedFault(
        at=1.0 + number,
        process="p",
        class_name="all-surfaces",
        unit=NAMES[number % COUNT],
        level=None,
        nodes=(NAMES[number % COUNT],),
        gpu=None,
        lasts=2.0,
        seed=number,
    )
    for number in range(COUNT + 8)
]


async def run_storm(client: Client) -> None:
    """Make a schedule with its plan, as the command does."""
    spec = {"horizon": "28s", "processes": [{"class": "all-surfaces", "every": {"trace": []}}]}
    body = {
        "apiVersion": FAULT_SCHEDULES.api_version,
        "kind": FAULT_SCHEDULES.kind,
        "metadata": {"name": "s"},
        "spec": spec,
    }
    made = msgspec.json.decode(
        await client.create(FAULT_SCHEDULES, None, encoded(body)), type=StoredSchedule
    )
    meta, first, pages = made.metadata, 0, [*in_pages(plan_rows(STORM))]
    for number, rows in enumerate(pages):
        name = plan_page(meta.name, meta.uid, number)
        await client.create(FAULT_PAGES, None, page_body(name, meta, first, rows))
        first += len(rows)
    status = {"planned": len(STORM), "pages": len(pages), "nodes": COUNT}
    path = FAULT_SCHEDULES.path(None, "s", "status")
    patch = encoded({"status": status})
    await client.call("PATCH", path, patch, content_type=PatchType.MERGE)


async def storm_status(client: Client) -> Json:
    return (await client.get(FAULT_SCHEDULES, None, "s"))["status"]


async def have_come(client: Client, number: int) -> bool:
    return len(await listed(client, FAULTS)) >= number


async def is_over(client: Client) -> bool:
    return bool((await storm_status(client)).get("phase") == "Completed")


async def nothing_is_left(client: Client) -> bool:
    pages = (await listed(client, FAULT_PAGES)).values()
    of_storm = [each for each in pages if each["spec"].get("schedule")]
    return not of_storm and not await listed(client, FAULTS)


def test_one_controller_plays_a_schedule_and_another_goes_on_where_it_is_killed(
    storage: Installed, tmp_path: Path
) -> None:
    controllers = controllers_of(storage, tmp_path)
    history = LeaseHistory(PREFIX)

    async def story(client: Client) -> None:
        async with fleet(client), asyncio.TaskGroup() as tasks:
            following = tasks.create_task(history.follow(client))
            for _ in range(2):
                await controllers.start()
            await history.until_shared(COUNT, among=2)
            await eventually(lambda: are_ready(client))
            before = await nodes_of(client)
            await run_storm(client)
            for number in range(2):
                least = 4 + 8 * number
                await eventually(lambda least=least: have_come(client, least))  # type: ignore[misc]  # a number
                controllers.end(number, signal.SIGKILL)
                await controllers.start()
            await eventually(lambda: is_over(client))

            status, faults = await storm_status(client), await listed(client, FAULTS)
            assert status["next"] == len(STORM) == status["injected"] + status.get("suppressed", 0)
            assert status["injected"] == len(faults)
            for name, fault in faults.items():
                planned = STORM[int(name.rpartition("-")[2])]
                assert fault["spec"]["target"]["nodes"] == [*planned.nodes]

            # There is no controller-manager: the controllers remove what belonged to the schedule.
            await client.call("DELETE", FAULT_SCHEDULES.path(None, "s"))
            await eventually(lambda: nothing_is_left(client))
            await are_as(client, before)
            following.cancel()

    try:
        ask(storage, story)
    finally:
        controllers.kill()
