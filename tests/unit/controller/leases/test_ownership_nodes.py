"""How nodes become Ready and stay so."""

import asyncio
from collections import Counter

import pytest

from kwokctl.kube.resource import NODES
from tests.support.fleet_rig import Rig, conditions, node, story


def test_a_bare_node_becomes_ready_with_one_patch_and_one_lease() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(1)

        assert sorted(rig.cluster.writes[:2]) == [("create", "n"), ("patch", "n")]
        assert len(rig.cluster.writes) == 2
        status = rig.node()["status"]
        assert conditions(rig.node())["Ready"]["status"] == "True"
        assert conditions(rig.node())["MemoryPressure"]["status"] == "False"
        assert status["phase"] == "Running"
        assert status["addresses"] == [
            {"type": "InternalIP", "address": "192.0.2.1"},
            {"type": "Hostname", "address": "localhost"},
            {"type": "kwokctl.dev/Kubelet", "address": "127.0.0.1"},
        ]
        assert status["allocatable"] == {"cpu": "1k", "memory": "1Ti", "pods": "1M"}


def test_a_node_that_comes_ready_is_not_patched_only_held() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(13)

        assert [w for w in rig.cluster.writes if w[0] != "replace"] == [("create", "n")]


def test_a_nodes_status_is_refreshed_every_five_to_ten_minutes_only() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(1500)

        assert 2 <= len(rig.cluster.verbs("patch")) <= 5


def test_without_leases_the_status_is_the_heartbeat() -> None:
    @story(lease_seconds=0)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(101)
        patched = len(rig.cluster.verbs("patch"))
        assert 5 <= patched <= 6
        assert rig.cluster.verbs("create") == []


def test_a_condition_that_another_program_set_survives_heartbeats() -> None:
    @story(lease_seconds=0)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(1)
        before = conditions(rig.node())
        full = {**before["DiskPressure"], "status": "True", "reason": "Full"}
        rig.cluster.change(
            NODES, "n", status={"conditions": [full, {"type": "Own", "status": "True"}]}
        )
        await asyncio.sleep(100)

        after = conditions(rig.node())
        assert after["DiskPressure"]["status"] == "True"
        assert after["DiskPressure"]["reason"] == "Full"
        assert after["Own"] == {"type": "Own", "status": "True"}
        assert after["Ready"]["lastTransitionTime"] == before["Ready"]["lastTransitionTime"]
        assert after["Ready"]["lastHeartbeatTime"] > before["Ready"]["lastHeartbeatTime"]


def test_a_node_that_was_not_ready_becomes_ready_with_a_new_transition_time() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(creationTimestamp="2020-01-01T00:00:00Z"))
        await asyncio.sleep(10)
        born = conditions(rig.node())["Ready"]["lastTransitionTime"]
        assert born.startswith("2026-01-01T12:00:00")

        unknown = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
        rig.cluster.change(NODES, "n", status={"conditions": [unknown]})
        await asyncio.sleep(1)

        ready = conditions(rig.node())["Ready"]
        assert (ready["status"], ready["reason"]) == ("True", "KubeletReady")
        assert ready["lastTransitionTime"].startswith("2026-01-01T12:00:10")
        disk = conditions(rig.node())["DiskPressure"]
        assert disk["lastTransitionTime"] == born


@pytest.mark.parametrize("nodes", [2_000])
def test_thousands_of_nodes_live_through_four_renewals(nodes: int) -> None:
    @story()
    async def _(rig: Rig) -> None:
        for number in range(nodes):
            rig.cluster.put(NODES, node(f"n{number}", ready=True))
        await asyncio.sleep(45)

        renewed = Counter(rig.cluster.verbs("replace"))
        assert len(renewed) == nodes
        assert min(renewed.values()) >= 3
        assert rig.cluster.verbs("patch") == []
