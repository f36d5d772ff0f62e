"""Pods on nodes whose kubelets are taken to be down: they stand still, and go on when the kubelet is back."""

import asyncio
from typing import Any

import pytest

from kwokctl.controller.nodes.facts import DOWN
from kwokctl.expr.duration import format_time, parse_time
from kwokctl.kube.resource import JOBS, LEASES, NODE_LEASES, NODES, PODS
from tests.support.fleet_rig import START, Rig, conditions, node, pod, story
from tests.support.shipped_stages import shipped

CHAOS = shipped("node-chaos")
GENERAL = shipped("node-chaos", "pod-general")
KUBELET = shipped("node-chaos", "pod-kubelet")
LIVES = pytest.mark.parametrize("life", ["stages", "kubelet"])


def of_a_job(program: str = "", **more: Any) -> dict[str, Any]:
    """Return a pod that ends, also by the Stages of `pod-general`."""
    body = pod(restartPolicy="Never", **more)
    body["metadata"]["ownerReferences"] = [{"kind": JOBS.kind, "name": "j"}]
    body["metadata"]["annotations"] = {
        "kwokctl.dev/program": program,
        "pod-complete.stage.kwok.x-k8s.io/delay": "25s",
        "pod-complete.stage.kwok.x-k8s.io/jitter-delay": "25s",
    }
    return body


def stages_of(life: str) -> dict[str, Any]:
    return {
        "stages": GENERAL if life == "stages" else KUBELET,
        "has_kubelet_pods": life == "kubelet",
    }


async def take_down(rig: Rig) -> None:
    rig.cluster.change(NODES, "n", metadata={"labels": {DOWN: "true"}})
    await asyncio.sleep(5)
    assert conditions(rig.node())["Ready"]["status"] == "False"


async def bring_back(rig: Rig) -> None:
    rig.cluster.change(NODES, "n", metadata={"labels": {DOWN: None}})
    await asyncio.sleep(5)
    assert conditions(rig.node())["Ready"]["status"] == "True"


def now() -> float:
    return START + asyncio.get_running_loop().time()


def moment(text: str) -> float:
    return parse_time(text)


@LIVES
def test_a_pod_does_not_complete_while_its_kubelet_is_down_but_when_it_is_back(life: str) -> None:
    @story(**stages_of(life))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, of_a_job("run=25s"))
        await asyncio.sleep(15)
        assert rig.pod()["status"]["phase"] == "Running"
        await take_down(rig)
        before = rig.pod()["status"]

        await asyncio.sleep(100)
        assert rig.pod()["status"] == before

        await bring_back(rig)
        assert rig.pod()["status"]["phase"] == "Succeeded"


@LIVES
def test_what_is_not_over_yet_goes_on_until_its_own_time(life: str) -> None:
    @story(**stages_of(life))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        body = of_a_job("run=100s")
        body["metadata"]["annotations"] |= {
            f"pod-complete.stage.kwok.x-k8s.io/{name}": "100s" for name in ("delay", "jitter-delay")
        }
        rig.cluster.put(PODS, body)
        await asyncio.sleep(15)
        await take_down(rig)
        await asyncio.sleep(30)
        await bring_back(rig)
        assert rig.pod()["status"]["phase"] == "Running"

        await asyncio.sleep(60)
        assert rig.pod()["status"]["phase"] == "Succeeded"


@LIVES
def test_no_pod_starts_on_a_node_whose_kubelet_is_down(life: str) -> None:
    @story(**stages_of(life))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        await take_down(rig)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)
        assert rig.pod()["status"] == {"phase": "Pending"}

        back = now()
        await bring_back(rig)
        await asyncio.sleep(15)
        status = rig.pod()["status"]
        assert status["phase"] == "Running"
        [container] = status["containerStatuses"]
        assert moment(container["state"]["running"]["startedAt"]) >= int(back)


@LIVES
def test_a_deleted_pod_waits_for_its_kubelet(life: str) -> None:
    @story(**stages_of(life))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(15)
        await take_down(rig)
        deleted = {
            "deletionTimestamp": format_time(int(now()) + 30),
            "deletionGracePeriodSeconds": 30,
        }
        rig.cluster.change(PODS, "p", "ns", metadata=deleted)
        await asyncio.sleep(120)
        assert rig.cluster.verbs("delete") == []

        await bring_back(rig)
        await asyncio.sleep(10)
        assert rig.cluster.verbs("delete") == ["p"]


def test_a_container_gets_its_signal_and_its_time_to_stop_when_the_kubelet_is_back() -> None:
    @story(**stages_of("kubelet"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, of_a_job("run=forever stop=20s"))
        await asyncio.sleep(15)
        await take_down(rig)
        deleted = {
            "deletionTimestamp": format_time(int(now()) + 30),
            "deletionGracePeriodSeconds": 30,
        }
        rig.cluster.change(PODS, "p", "ns", metadata=deleted)
        await asyncio.sleep(100)

        await bring_back(rig)
        await asyncio.sleep(14)
        assert "running" in rig.pod()["status"]["containerStatuses"][0]["state"]
        await asyncio.sleep(5)
        assert rig.cluster.verbs("delete") == ["p"]


def test_a_container_that_has_ended_meanwhile_is_started_again_only_then() -> None:
    @story(**stages_of("kubelet"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        body = pod()
        body["metadata"]["annotations"] = {"kwokctl.dev/program": "run=40s exit=1"}
        rig.cluster.put(PODS, body)
        await asyncio.sleep(15)
        began = moment(rig.pod()["status"]["containerStatuses"][0]["state"]["running"]["startedAt"])
        await take_down(rig)
        await asyncio.sleep(200)
        back = now()
        await bring_back(rig)

        [container] = rig.pod()["status"]["containerStatuses"]
        assert container["restartCount"] == 1
        assert moment(container["lastState"]["terminated"]["finishedAt"]) == began + 40
        assert int(back) <= moment(container["state"]["running"]["startedAt"]) <= back + 5


def test_an_init_container_that_has_ended_meanwhile_is_followed_only_then() -> None:
    @story(**stages_of("kubelet"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        body = pod(initContainers=[{"name": "first", "image": "i"}])
        body["metadata"]["annotations"] = {
            "program.kwokctl.dev/first": "run=30s",
            "program.kwokctl.dev/c": "start=3s",
        }
        rig.cluster.put(PODS, body)
        await asyncio.sleep(15)
        assert "running" in rig.pod()["status"]["initContainerStatuses"][0]["state"]
        await take_down(rig)
        await asyncio.sleep(100)
        back = now()
        await bring_back(rig)
        await asyncio.sleep(5)

        [container] = rig.pod()["status"]["containerStatuses"]
        assert moment(container["state"]["running"]["startedAt"]) >= int(back) + 3


def test_a_node_under_pressure_evicts_nothing_while_its_kubelet_is_down() -> None:
    @story(**stages_of("kubelet"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(15)
        await take_down(rig)
        rig.cluster.change(NODES, "n", metadata={"annotations": {"kwokctl.dev/pressure": "memory"}})
        await asyncio.sleep(60)
        assert rig.pod()["status"]["phase"] == "Running"
        assert conditions(rig.node())["MemoryPressure"]["status"] == "False"

        await bring_back(rig)
        await asyncio.sleep(20)
        assert conditions(rig.pod())["DisruptionTarget"]["reason"] == "TerminationByKubelet"


def test_a_condition_alone_is_of_a_kubelet_that_runs_its_pods() -> None:
    unready = tuple(each for each in KUBELET if each.name != "node-initialize")

    @story(stages=unready, has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, of_a_job("run=25s"))
        await asyncio.sleep(40)

        assert "conditions" not in rig.node()["status"]
        assert rig.pod()["status"]["phase"] == "Succeeded"


def test_a_label_without_the_stage_changes_nothing() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(labels={DOWN: "true"}))
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)

        assert rig.pod()["status"]["phase"] == "Running"


def test_a_node_is_down_from_the_beginning() -> None:
    down = node(labels={DOWN: "true"})
    down["status"] |= {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}

    @story(stages=CHAOS)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, down)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(60)
        assert rig.pod()["status"] == {"phase": "Pending"}

        await bring_back(rig)
        assert rig.pod()["status"]["phase"] == "Running"


@LIVES
def test_a_silent_node_goes_on_when_its_lease_is_given_back(life: str) -> None:
    @story(**stages_of(life))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, of_a_job("run=25s"))
        await asyncio.sleep(15)
        rig.foreign(seconds=3600)
        await asyncio.sleep(100)
        assert rig.pod()["status"]["phase"] == "Running"

        rig.cluster.remove(LEASES, "n", NODE_LEASES)
        await asyncio.sleep(20)
        assert rig.pod()["status"]["phase"] == "Succeeded"


def test_addresses_for_pods_on_a_node_whose_kubelet_is_down_are_not_for_pods_that_run() -> None:
    @story(stages=CHAOS)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        assert b'"is_held":true' in rig.controller.scale_api.reserve(b'{"nodes":{"n":1}}')
        await take_down(rig)
        assert b'"is_held":false' in rig.controller.scale_api.reserve(b'{"nodes":{"n":1}}')
