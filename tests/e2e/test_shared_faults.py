"""Faults where several controllers share the nodes, and are killed."""

import asyncio
import random
import signal
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from kwokctl.kube.client import Client
from kwokctl.kube.resource import (
    FAULTS,
    NODES,
)
from tests.support.direct import ask, encoded
from tests.support.installed import Installed
from tests.support.lease_history import LeaseHistory
from tests.support.shared_faults import (
    COUNT,
    LEASE,
    NAMES,
    PREFIX,
    TAINT,
    are_as,
    are_ready,
    controllers_of,
    eventually,
    fleet,
    has_landed,
    inject,
    nodes_of,
    shown,
)

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(300, func_only=True),
]


def test_no_replica_renews_the_lease_of_a_node_that_a_fault_has_silenced(
    storage: Installed, tmp_path: Path
) -> None:
    controllers = controllers_of(storage, tmp_path)
    history = LeaseHistory(PREFIX)
    silent, broken = NAMES[:4], NAMES[4:12]

    def renewals() -> dict[str, float]:
        return {name: history.versions[name][-1].renewed for name in silent}

    async def story(client: Client) -> None:
        async with fleet(client), asyncio.TaskGroup() as tasks:
            following = tasks.create_task(history.follow(client))
            for _ in range(3):
                await controllers.start()
            await history.until_shared(COUNT, among=3)
            await eventually(lambda: are_ready(client))
            before = await nodes_of(client)

            await both_land(client, silent, broken)
            last, during = renewals(), await nodes_of(client)
            controllers.end(0, signal.SIGKILL)
            await controllers.start()
            await much_later(history)
            assert renewals() == last
            await are_as(client, during)

            for name in ("quiet", "loud"):
                await client.call("DELETE", FAULTS.path(None, name))
            await eventually(lambda: all(renewals()[name] > last[name] for name in silent))
            await are_as(client, before)
            following.cancel()

    try:
        ask(storage, story)
    finally:
        controllers.kill()


def test_late_kubelets_renew_their_leases_as_rarely_as_the_fault_says(
    storage: Installed, tmp_path: Path
) -> None:
    controllers = controllers_of(storage, tmp_path)
    history = LeaseHistory(PREFIX)
    late = NAMES[:4]

    def silences() -> dict[str, int]:
        """Count the times of each node in which a lease of that length has ended."""
        return {
            name: sum(
                after.renewed - before.renewed > LEASE
                for before, after in pairwise(history.versions[name])
            )
            for name in late
        }

    async def story(client: Client) -> None:
        async with fleet(client), asyncio.TaskGroup() as tasks:
            following = tasks.create_task(history.follow(client))
            for _ in range(2):
                await controllers.start()
            await history.until_shared(COUNT, among=2)
            await eventually(lambda: are_ready(client))
            before = await nodes_of(client)

            await inject(client, "late", "heartbeat-late", late, {"every": "20s"})
            await eventually(lambda: min(silences().values()) >= 2)
            assert await has_landed(client, "late", len(late))
            controllers.end(0, signal.SIGKILL)
            await controllers.start()
            again = {name: number + 2 for name, number in silences().items()}
            await eventually(lambda: all(silences()[name] >= again[name] for name in late))

            await client.call("DELETE", FAULTS.path(None, "late"))
            await are_as(client, before)
            following.cancel()

    try:
        ask(storage, story)
    finally:
        controllers.kill()


async def have_taint(client: Client, names: Sequence[str]) -> bool:
    """Return whether nodes have the taint of the fault, which is a write of its own after the others."""
    found = await nodes_of(client)
    return all(TAINT in found[name]["taints"] for name in names)


async def much_later(history: LeaseHistory) -> None:
    """Wait until three leases could have ended."""
    late = history.versions[NAMES[-1]][-1].renewed + 3 * LEASE
    await eventually(lambda: history.versions[NAMES[-1]][-1].renewed > late)


async def both_land(client: Client, silent: Sequence[str], broken: Sequence[str]) -> None:
    await inject(client, "quiet", "unreachable", silent)
    await inject(client, "loud", "all-surfaces", broken)
    await eventually(lambda: has_landed(client, "quiet", len(silent)))
    await eventually(lambda: has_landed(client, "loud", len(broken)))
    await eventually(lambda: have_taint(client, broken))


@pytest.mark.parametrize("seed", range(2))
def test_controllers_that_are_killed_at_any_moment_leave_nothing_half_done(
    storage: Installed, tmp_path: Path, seed: int
) -> None:
    controllers = controllers_of(storage, tmp_path)
    chance = random.Random(seed)

    async def killed_meanwhile(count: int) -> None:
        for _ in range(count):
            await controllers.start()
            await asyncio.sleep(chance.uniform(0.8, 2.5))
            controllers.end(-1, signal.SIGKILL)
        await controllers.start()

    async def story(client: Client) -> None:
        async with fleet(client):
            await controllers.start()
            await eventually(lambda: are_ready(client))
            before = await nodes_of(client)
            controllers.end(-1, signal.SIGKILL)

            await inject(client, "loud", "all-surfaces", NAMES)
            await killed_meanwhile(3)
            await eventually(lambda: has_landed(client, "loud", COUNT))
            await eventually(lambda: have_taint(client, NAMES))
            for found in (await nodes_of(client)).values():
                assert found["conditions"]["Ready"] == ("False", "Broken")
                assert found["labels"]["broken"] == found["annotations"]["broken"] == "yes"

            await client.call("DELETE", FAULTS.path(None, "loud"))
            controllers.end(-1, signal.SIGKILL)
            await killed_meanwhile(3)
            await are_as(client, before)

    try:
        ask(storage, story)
    finally:
        controllers.kill()


def test_nodes_that_nobody_of_ours_plays_are_hit_only_where_that_is_said(
    storage: Installed, tmp_path: Path
) -> None:
    controllers = controllers_of(storage, tmp_path)
    alien = {"metadata": {"name": "alien", "labels": {"of": "others"}}}

    async def story(client: Client) -> None:
        async with fleet(client):
            await client.call("POST", NODES.path(), encoded(alien))
            before = await client.get(NODES, None, "alien")
            await controllers.start()
            await eventually(lambda: are_ready(client))

            await inject(client, "refused", "all-surfaces", ["alien"])
            await eventually(lambda: is_refused(client, "refused"))
            await inject(client, "said", "all-surfaces", ["alien"], foreign=True)
            await eventually(lambda: has_landed(client, "said", 1))
            await eventually(lambda: says(client, "alien", broken=True))
            await client.call("DELETE", FAULTS.path(None, "said"))
            await eventually(lambda: says(client, "alien", broken=False))
            after = await client.get(NODES, None, "alien")
            assert after["spec"] == before["spec"]
            assert after["metadata"]["labels"] == before["metadata"]["labels"]
            assert after["metadata"].get("annotations") == before["metadata"].get("annotations")
            await client.call("DELETE", NODES.path(None, "alien"))

    try:
        ask(storage, story)
    finally:
        controllers.kill()


async def is_refused(client: Client, name: str) -> bool:
    status = (await client.get(FAULTS, None, name)).get("status") or {}
    return status.get("phase") == "Refused" and status.get("foreign") == 1


async def says(client: Client, name: str, *, broken: bool) -> bool:
    """Return whether a node has the label, the taint and the journal of the fault, or none of them."""
    found = shown(await client.get(NODES, None, name))
    signs = (
        "broken" in found["labels"],
        TAINT in found["taints"],
        "kwokctl.dev/faults" in found["annotations"],
    )
    return all(signs) if broken else not any(signs)
