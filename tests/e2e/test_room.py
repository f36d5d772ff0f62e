"""An etcd with little room, and fleets that are too large for it."""

import asyncio
import itertools
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from kwokctl.etcd.kv.kv import Kv, Put, Txn
from kwokctl.etcd.kv.maintenance import status
from tests.support.installed import Installed, condition, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

_MEBIBYTE = 1 << 20
_NEARLY_FULL = 41 * _MEBIBYTE
"""More than what `scale` stops at, 80% of the quota of 48 MiB."""
_COMMIT = 1.0
"""Ten times the interval between two commits of etcd, in seconds."""


@pytest.fixture(scope="module")
def small(installed: Installed) -> Installed:
    """A cluster whose etcd holds 48 MiB."""
    few = ("--components", "etcd,kube-apiserver,kwok-controller")
    # Nodes keep their first taint without a controller-manager: no use in waiting until it goes.
    words = ("--etcd-quota-backend-size", "48Mi", "--data-path", "api")
    # Leases that are renewed fill what is left of the quota on a machine that takes its time.
    installed.ok("create", "cluster", "--wait", *few, *words, "--node-heartbeat", "off")
    return installed


async def _fill(socket: Path, *, until_done: Callable[[], bool]) -> None:
    """Keep etcd nearly full, but not full: what is given back is written to again."""
    async with Kv(f"unix:{socket}") as kv:
        for number in itertools.count():
            while not until_done() and (await status(kv)).db_size >= _NEARLY_FULL:
                await asyncio.sleep(0.05)
            if until_done():
                return
            value = bytes([number % 256]) * _MEBIBYTE
            await kv.txn(Txn((), (Put(f"/elsewhere/{number}".encode(), value),)))
            await _committed(kv)


async def _committed(kv: Kv) -> None:
    """Wait until the size that etcd tells has what was written: it is that of the last commit.

    A commit that comes now has all that was acknowledged before. It does not change the size if all fits into free
    pages.
    """
    before, deadline = (await status(kv)).db_size, monotonic() + _COMMIT
    while (await status(kv)).db_size == before and monotonic() < deadline:
        await asyncio.sleep(0.02)


def test_a_fleet_that_cannot_fit_is_refused_before_anything_is_made(small: Installed) -> None:
    refused = small.run("scale", "node", "--replicas", "50000")

    assert refused.code == 1
    assert "more than 80% of its quota of 48Mi" in refused.err
    assert "--etcd-quota-backend-size" in refused.err
    assert small.objects("nodes") == []


def test_plan_warns_about_the_same_quota_as_create(small: Installed) -> None:
    planned = small.run("plan", "--nodes", "50000", "--pods", "0", "-o", "json")

    assert planned.code == 1
    assert json.loads(planned.out)["fits"] is False


def test_scaling_stops_with_whole_objects_when_etcd_fills_meanwhile(small: Installed) -> None:
    socket = small.workdir / "clusters" / small.name / "run" / "etcd.sock"

    with ThreadPoolExecutor() as threads:
        scaling = threads.submit(small.run, "scale", "node", "--replicas", "8000")
        until("a hundred nodes", lambda: len(small.objects("nodes")) > 100)
        asyncio.run(_fill(socket, until_done=scaling.done))
        stopped = scaling.result()

    assert stopped.code == 1
    assert "stopped: etcd holds" in stopped.err
    assert "the objects created so far are complete" in stopped.err
    nodes = small.objects("nodes")
    assert 100 < len(nodes) < 8000
    # The last ones may have gone through the API: the controller cannot write their status now.
    ready = [node for node in nodes if condition(node, "Ready") == "True"]
    assert len(ready) > 100
    assert all(node["status"].get("conditions") is None for node in nodes if node not in ready)

    again = small.run("scale", "node", "--replicas", "8000")
    assert again.code == 1
    fewer = small.run("scale", "node", "--replicas", "50")
    assert fewer.code == 0, fewer.err
    assert len(small.objects("nodes")) == 50
