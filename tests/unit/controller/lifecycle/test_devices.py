"""The devices of pods that live as on a kubelet, with the whole controller on a cluster in memory."""

import asyncio
from typing import Any

import pytest

from kwokctl.dataplane.port import ObjectKey
from kwokctl.expr.duration import format_time
from kwokctl.fleet.allocations import allocations_of
from kwokctl.fleet.devices import device_ids
from kwokctl.kube.resource import NODES, PODS
from tests.support.fleet_rig import START, Rig, node, pod, story

GPU = "nvidia.com/gpu"
HEALTH = "kwokctl.dev/device-health"
MESSAGE = (
    "Pod was rejected: Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. "
    "Requested: {}, Available: {}, which is unexpected"
)


def machine(gpus: int = 8, **more: Any) -> dict[str, Any]:
    body = node(**more)
    body["status"] |= {
        part: {GPU: str(gpus), "pods": "110"} for part in ("capacity", "allocatable")
    }
    return body


def asking(container: str = "c", gpus: int = 1, **more: Any) -> dict[str, Any]:
    limits = {GPU: str(gpus)}
    return {
        "name": container,
        "image": "i",
        "resources": {"limits": limits, "requests": limits},
        **more,
    }


def gpu_pod(name: str = "p", gpus: int = 1, **spec: Any) -> dict[str, Any]:
    return pod(name, **{"containers": [asking(gpus=gpus)], **spec})


def ids(gpus: int = 8) -> list[str]:
    return list(device_ids("n", {}, {GPU: gpus}, GPU))


def held(rig: Rig, name: str = "p") -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in allocations_of(rig.pod(name)):
        found.setdefault(each.container, []).append(each.device_id)
    return found


def healths(rig: Rig, name: str = "p") -> list[str]:
    return [each.health for each in allocations_of(rig.pod(name))]


def annotated(rig: Rig, text: str | None) -> None:
    rig.cluster.change(NODES, "n", metadata={"annotations": {HEALTH: text}})


def numbers(rig: Rig) -> str:
    status = rig.node()["status"]
    return f"{status['capacity'][GPU]}/{status['allocatable'][GPU]}"


def test_pods_get_the_lowest_free_devices_and_the_status_says_which() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        for body in (gpu_pod("a", 2), gpu_pod("b"), pod("none")):
            rig.cluster.put(PODS, body)
            await asyncio.sleep(5)
        assert held(rig, "a") == {"c": ids()[:2]}
        assert held(rig, "b") == {"c": ids()[2:3]}
        assert held(rig, "none") == {}
        [status] = rig.pod("b")["status"]["containerStatuses"]
        assert status["allocatedResourcesStatus"] == [
            {"name": GPU, "resources": [{"resourceID": ids()[2], "health": "Healthy"}]}
        ]
        assert "kwokctl.dev/devices" not in rig.pod("b")["metadata"].get("annotations", {})

        rig.cluster.remove(PODS, "a", "ns")
        rig.cluster.put(PODS, gpu_pod("d", 3))
        await asyncio.sleep(5)
        assert held(rig, "d") == {"c": [ids()[0], ids()[1], ids()[3]]}


def test_a_pod_for_which_there_are_too_few_fails_in_the_words_of_a_kubelet() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(PODS, gpu_pod("a", 7))
        await asyncio.sleep(5)
        rig.cluster.put(PODS, gpu_pod("b", 2))
        await asyncio.sleep(5)

        status = rig.pod("b")["status"]
        assert (status["phase"], status["reason"]) == ("Failed", "UnexpectedAdmissionError")
        assert status["message"] == MESSAGE.format(2, 1)
        rig.cluster.put(PODS, gpu_pod("c", 1))
        await asyncio.sleep(5)
        assert held(rig, "c") == {"c": ids()[7:]}


def test_devices_of_a_pod_that_has_ended_are_free() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine(1))
        body = gpu_pod("a", restartPolicy="Never")
        body["metadata"]["annotations"] = {"kwokctl.dev/program": "run=3s"}
        rig.cluster.put(PODS, body)
        await asyncio.sleep(10)
        assert rig.pod("a")["status"]["phase"] == "Succeeded"
        rig.cluster.put(PODS, gpu_pod("b"))
        await asyncio.sleep(5)
        assert held(rig, "b") == held(rig, "a") == {"c": ids(1)}


def test_devices_are_free_as_soon_as_it_is_written_that_a_pod_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        patch = rig.cluster.patch

        async def slowly(target: ObjectKey, *words: Any, **more: Any) -> Any:
            answer = await patch(target, *words, **more)
            if target.name == "a" and answer["status"]["phase"] in {"Failed", "Succeeded"}:
                # The scheduler sees that, and binds another pod, before the answer is here.
                rig.cluster.put(PODS, gpu_pod("b"))
                await asyncio.sleep(5)
            return answer

        monkeypatch.setattr(rig.cluster, "patch", slowly)
        rig.cluster.put(NODES, machine(1))
        rig.cluster.put(PODS, gpu_pod("a"))
        await asyncio.sleep(5)
        going = {"deletionTimestamp": format_time(START), "deletionGracePeriodSeconds": 1}
        rig.cluster.change(PODS, "a", "ns", metadata=going)
        await asyncio.sleep(20)
        assert rig.pod("b")["status"]["phase"] == "Running"
        assert held(rig, "b") == {"c": ids(1)}


def test_containers_use_the_devices_of_init_containers_again_and_sidecars_keep_theirs() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        first = [asking("first", 2), asking("beside", 1, restartPolicy="Always")]
        rig.cluster.put(
            PODS, gpu_pod(initContainers=first, containers=[asking("x"), asking("y", 2)])
        )
        await asyncio.sleep(10)
        one, two, three, four = ids()[:4]
        assert held(rig) == {
            "first": [one, two], "beside": [one], "x": [two], "y": [three, four],
        }  # fmt: skip


def test_a_resource_that_no_plugin_advertises_gives_no_devices() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        body = machine()
        for part in ("capacity", "allocatable"):
            body["status"][part]["example.com/licence"] = "5000"
        rig.cluster.put(NODES, body)
        limits = {"example.com/licence": "3", "example.com/none": "1", "cpu": "1"}
        container = {"name": "c", "image": "i", "resources": {"limits": limits}}
        rig.cluster.put(PODS, pod(containers=[container]))
        await asyncio.sleep(5)
        assert rig.pod()["status"]["phase"] == "Running"
        assert held(rig) == {}


def started(name: str, id_: str, at: float = 0.0) -> dict[str, Any]:
    body = gpu_pod(name)
    moment = format_time(START + at)
    body["status"] = {
        "phase": "Running",
        "startTime": moment,
        "containerStatuses": [
            {
                "name": "c", "image": "i", "imageID": "i", "ready": True, "started": True,
                "restartCount": 0, "lastState": {}, "state": {"running": {"startedAt": moment}},
                "containerID": "kwok://1",
                "allocatedResourcesStatus": [
                    {"name": GPU, "resources": [{"resourceID": id_, "health": "Healthy"}]}
                ],
            }
        ],
    }  # fmt: skip
    return body


def test_a_controller_that_takes_over_gives_no_device_that_a_pod_has_whatever_it_sees_first() -> (
    None
):
    for new_first in (True, False):

        @story(has_kubelet_pods=True)
        async def _(rig: Rig, new_first: bool = new_first) -> None:
            bodies = [gpu_pod("new"), started("old", ids()[0])]
            for body in bodies if new_first else bodies[::-1]:
                rig.cluster.put(PODS, body)
            rig.cluster.put(NODES, machine())
            await asyncio.sleep(5)
            assert held(rig, "old") == {"c": ids()[:1]}
            assert held(rig, "new") == {"c": ids()[1:2]}


def test_of_two_pods_that_claim_a_device_the_younger_fails_whichever_is_seen_first() -> None:
    for order in ((0, 1), (1, 0)):

        @story(has_kubelet_pods=True)
        async def _(rig: Rig, order: tuple[int, int] = order) -> None:
            rig.cluster.put(NODES, machine())
            await asyncio.sleep(5)
            bodies = started("old", ids()[0], 0), started("young", ids()[0], 3)
            for number in order:
                rig.cluster.put(PODS, bodies[number])
            await asyncio.sleep(10)
            assert rig.pod("old")["status"]["phase"] == "Running"
            status = rig.pod("young")["status"]
            assert (status["phase"], status["reason"]) == ("Failed", "UnexpectedAdmissionError")
            assert status["message"] == MESSAGE.format(1, 0)
            assert status["containerStatuses"][0]["state"]["terminated"]


def test_a_pod_that_runs_without_saying_its_devices_gets_some() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        bare = started("bare", "")
        del bare["status"]["containerStatuses"][0]["allocatedResourcesStatus"]
        rig.cluster.put(PODS, bare)
        rig.cluster.put(PODS, started("old", ids(2)[0]))
        rig.cluster.put(PODS, started("more", ids(2)[1]))
        rig.cluster.put(NODES, machine(2))
        await asyncio.sleep(5)
        assert held(rig, "bare") == {}
        assert rig.pod("bare")["status"]["phase"] == "Running"

    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        bare = started("bare", "")
        del bare["status"]["containerStatuses"][0]["allocatedResourcesStatus"]
        rig.cluster.put(PODS, bare)
        rig.cluster.put(PODS, started("old", ids(2)[0]))
        rig.cluster.put(NODES, machine(2))
        await asyncio.sleep(5)
        assert held(rig, "bare") == {"c": ids(2)[1:]}


def test_a_state_that_a_client_has_wiped_comes_back_as_it_was_with_the_devices() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(PODS, gpu_pod())
        await asyncio.sleep(20)
        before = rig.pod()["status"]["containerStatuses"]
        events = [each["reason"] for each in rig.cluster.objects.values() if "reason" in each]

        wiped = {
            "name": "c", "ready": False, "restartCount": 0, "image": "", "imageID": "",
            "state": {}, "lastState": {},
        }  # fmt: skip
        rig.cluster.change(PODS, "p", "ns", status={"containerStatuses": [wiped]})
        await asyncio.sleep(20)

        assert rig.pod()["status"]["containerStatuses"] == before
        assert rig.pod()["status"]["phase"] == "Running"
        after = [each["reason"] for each in rig.cluster.objects.values() if "reason" in each]
        assert after == events


def test_where_the_api_server_drops_the_field_an_annotation_says_it() -> None:
    @story(has_kubelet_pods=True, shows_devices=False)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(PODS, gpu_pod(gpus=2))
        await asyncio.sleep(5)
        first, second = ids()[:2]
        text = rig.pod()["metadata"]["annotations"]["kwokctl.dev/devices"]
        assert text == f'{{"c":{{"nvidia.com/gpu":["{first}","{second}"]}}}}'
        assert "allocatedResourcesStatus" not in rig.pod()["status"]["containerStatuses"][0]
        assert rig.pod()["status"]["phase"] == "Running"

        rig.cluster.change(PODS, "p", "ns", metadata={"annotations": {"kwokctl.dev/devices": None}})
        await asyncio.sleep(5)
        assert rig.pod()["metadata"]["annotations"]["kwokctl.dev/devices"] == text
