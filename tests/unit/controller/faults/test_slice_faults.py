"""When the controller reads and writes the ResourceSlices of its nodes, on a cluster in memory."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from kwokctl.controller.faults.node_overlays import NodeOverlays
from kwokctl.errors import ApiError
from kwokctl.faults.classes.class_schema import DeviceTaint
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS, OpenEntry, entries_text
from kwokctl.faults.overlays.slice_overlay import SLICE_JOURNAL
from kwokctl.fleet.claimed_devices import DRA_DRIVERS
from kwokctl.kube.resource import LEASES, NODES, PODS, RESOURCE_SLICES, Resource
from tests.support.fake_cluster import FakeCluster
from tests.support.fleet_rig import Rig, story
from tests.unit.controller.lifecycle.test_devices import machine

DRA = {DRA_DRIVERS: "gpu.nvidia.com"}
TAINT = DeviceTaint(key="gpu.nvidia.com/xid", value="79", effect="NoExecute")


def sick(*gpus: int) -> str:
    return entries_text(
        [
            OpenEntry(
                fault="f", uid="u", class_name="c", since=1.0, gpu=gpu, device_taints=(TAINT,)
            )
            for gpu in gpus
        ]
    )


def cluster() -> FakeCluster:
    return FakeCluster(NODES, PODS, LEASES, RESOURCE_SLICES)


def slice_of(name: str, *devices: str, **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, **metadata},
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": "n",
            "pool": {"name": "n", "generation": 1, "resourceSliceCount": 2},
            "devices": [{"name": each} for each in devices],
        },
    }


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nodes say what a test writes: there are no Faults to which that belongs, so it would be undone."""
    monkeypatch.setattr(NodeOverlays, "put", lambda *_: None)


def say(rig: Rig, text: str | None) -> None:
    rig.cluster.change(NODES, "n", metadata={"annotations": {OPEN_FAULTS: text}})


def generations(rig: Rig) -> list[int]:
    return [
        rig.cluster.object(RESOURCE_SLICES, each)["spec"]["pool"]["generation"]
        for each in ("a", "b")
    ]


def tainted(rig: Rig, name: str = "a") -> list[str]:
    devices = rig.cluster.object(RESOURCE_SLICES, name)["spec"]["devices"]
    return [each["name"] for each in devices if "taints" in each]


def left() -> dict[str, Any]:
    """Return a slice as another controller has left it: without one of its devices."""
    return slice_of(
        "a",
        "gpu-0",
        labels={SLICE_JOURNAL: "shown"},
        annotations={SLICE_JOURNAL: '{"missing":[{"at":1,"device":{"name":"gpu-1"}}]}'},
    )


def devices(rig: Rig) -> list[str]:
    return [each["name"] for each in rig.cluster.object(RESOURCE_SLICES, "a")["spec"]["devices"]]


def test_a_fault_comes_and_goes_and_the_pool_keeps_one_generation() -> None:
    @story(cluster=cluster())
    async def _(rig: Rig) -> None:
        rig.cluster.put(RESOURCE_SLICES, slice_of("a", "gpu-0", "gpu-1"))
        rig.cluster.put(RESOURCE_SLICES, slice_of("b", "gpu-2"))
        rig.cluster.put(NODES, machine(annotations=DRA))
        await asyncio.sleep(5)
        say(rig, sick(1))
        await asyncio.sleep(5)
        assert (tainted(rig), generations(rig)) == (["gpu-1"], [1, 1])
        say(rig, sick(1, 2))
        await asyncio.sleep(5)
        assert (tainted(rig), generations(rig)) == (["gpu-1"], [1, 1])
        say(rig, sick(0))
        await asyncio.sleep(5)
        assert (tainted(rig), generations(rig)) == (["gpu-0"], [2, 2])
        say(rig, None)
        await asyncio.sleep(5)
        assert (tainted(rig), generations(rig)) == ([], [2, 2])


def test_a_fault_shows_in_slices_that_are_made_after_it() -> None:
    @story(cluster=cluster())
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine(annotations=DRA))
        say(rig, sick(1, 2))
        await asyncio.sleep(5)
        rig.cluster.put(RESOURCE_SLICES, slice_of("b", "gpu-2"))
        await asyncio.sleep(60)
        assert tainted(rig, "b") == ["gpu-2"]
        rig.cluster.put(RESOURCE_SLICES, slice_of("a", "gpu-0", "gpu-1"))
        await asyncio.sleep(90)
        assert tainted(rig) == ["gpu-1"]
        asked = len(rig.cluster.verbs("list"))
        await asyncio.sleep(300)
        assert len(rig.cluster.verbs("list")) == asked


def test_slices_that_never_come_are_asked_for_once_a_minute() -> None:
    @story(cluster=cluster())
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine(annotations=DRA))
        say(rig, sick(1))
        await asyncio.sleep(600)
        assert len(rig.cluster.verbs("list")) <= 20
        say(rig, None)
        await asyncio.sleep(120)
        asked = len(rig.cluster.verbs("list"))
        await asyncio.sleep(300)
        assert len(rig.cluster.verbs("list")) == asked


def test_what_an_earlier_controller_has_left_is_undone() -> None:
    @story(cluster=cluster())
    async def _(rig: Rig) -> None:
        rig.cluster.put(RESOURCE_SLICES, left())
        rig.cluster.put(NODES, machine(annotations=DRA))
        await asyncio.sleep(5)
        assert devices(rig) == ["gpu-0", "gpu-1"]
        metadata = rig.cluster.object(RESOURCE_SLICES, "a")["metadata"]
        assert SLICE_JOURNAL not in metadata["labels"]


def test_what_came_back_with_a_node_is_undone() -> None:
    @story(cluster=cluster())
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine(annotations=DRA, uid="same"))
        await asyncio.sleep(5)
        rig.cluster.remove(NODES, "n")
        rig.cluster.put(RESOURCE_SLICES, left())
        rig.cluster.put(NODES, machine(annotations=DRA, uid="same"))
        await asyncio.sleep(5)
        assert devices(rig) == ["gpu-0", "gpu-1"]


def test_nodes_without_faults_cost_one_search_together_and_those_without_a_driver_nothing() -> None:
    @story(cluster=cluster())
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        say(rig, sick(1))
        await asyncio.sleep(50)
        assert rig.cluster.verbs("list").count("") == 0
        for name in ("d", "e"):
            rig.cluster.put(NODES, machine(name=name, annotations=DRA))
        await asyncio.sleep(100)
        lists = rig.cluster.verbs("list")
        assert 1 <= lists.count("") <= 2
        assert not [each for each in lists if "nodeName" in each]


def test_a_missing_right_is_logged_once_and_the_write_follows_when_it_is_granted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refusal = 'resourceslices.resource.k8s.io is forbidden: User "u" cannot list resource "resourceslices" in API group "resource.k8s.io" at the cluster scope'

    @story(cluster=cluster())
    async def _(rig: Rig) -> None:
        rig.cluster.put(RESOURCE_SLICES, slice_of("a", "gpu-0"))
        rig.cluster.put(RESOURCE_SLICES, slice_of("b", "gpu-2"))
        rig.cluster.put(NODES, machine(annotations=DRA))
        await asyncio.sleep(5)
        rig.cluster.refuse_reads = [ApiError(refusal, status=403, reason="Forbidden")] * 2
        say(rig, sick(0))
        await asyncio.sleep(3)
        assert tainted(rig) == []
        await asyncio.sleep(120)
        assert tainted(rig) == ["gpu-0"]

    told = [each for each in caplog.messages if "do not show faults" in each]
    assert len(told) == 1
    assert "resourceslices" in told[0]


class SlowCluster(FakeCluster):
    """Answers lists of slices, as they are at the request, when a test lets it."""

    def __init__(self) -> None:
        super().__init__(NODES, PODS, LEASES, RESOURCE_SLICES)
        self.answers: list[asyncio.Event] = []
        """Those that the next lists wait for, first come first served."""

    async def list(self, resource: Resource, **selectors: Any) -> Sequence[bytes]:
        found = await super().list(resource, **selectors)
        if resource is RESOURCE_SLICES and self.answers:
            await self.answers.pop(0).wait()
        return found


def test_a_change_is_shown_at_once_while_other_slices_are_waited_for() -> None:
    @story(cluster=cluster())
    async def _(rig: Rig) -> None:
        rig.cluster.put(RESOURCE_SLICES, slice_of("a", "gpu-0", "gpu-1"))
        rig.cluster.put(NODES, machine(annotations=DRA))
        say(rig, sick(1))
        await asyncio.sleep(300)
        assert tainted(rig) == ["gpu-1"]
        for gpu in (0, 1, 0):
            say(rig, sick(gpu))
            await asyncio.sleep(5)
            assert tainted(rig) == [f"gpu-{gpu}"]


def test_slices_of_a_node_that_comes_during_a_search_are_searched_once_more() -> None:
    slow = SlowCluster()

    @story(cluster=slow)
    async def _(rig: Rig) -> None:
        slow.answers = [answer := asyncio.Event()]
        rig.cluster.put(NODES, machine(name="d", annotations=DRA))
        await asyncio.sleep(5)
        assert not slow.answers
        rig.cluster.put(RESOURCE_SLICES, left())
        rig.cluster.put(NODES, machine(annotations=DRA))
        await asyncio.sleep(5)
        answer.set()
        await asyncio.sleep(5)
        assert devices(rig) == ["gpu-0", "gpu-1"]
