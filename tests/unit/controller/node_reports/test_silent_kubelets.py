"""Nodes whose kubelets an annotation silences: no Lease, no status and no pod of theirs moves until it is gone."""

import asyncio
from typing import Any

import orjson
import pytest

from kwokctl.dataplane.leases.decode import read_lease
from kwokctl.embedded.silence import KUBELET
from kwokctl.expr.duration import format_time
from kwokctl.kube.resource import LEASES, NODE_LEASES, NODES, PODS
from tests.support.fleet_rig import START, Rig, conditions, node, pod, story
from tests.support.sharing_rig import Sharing, leases
from tests.support.sharing_rig import story as shared
from tests.support.shipped_stages import shipped

SILENT = {KUBELET: "silent"}
LIVES = pytest.mark.parametrize("life", ["stages", "kubelet"])


def stages_of(life: str) -> dict[str, Any]:
    set_name = "pod-general" if life == "stages" else "pod-kubelet"
    return {"stages": shipped("node-chaos", set_name), "has_kubelet_pods": life == "kubelet"}


def silence(rig: Rig | Sharing, name: str = "n") -> None:
    rig.cluster.change(NODES, name, metadata={"annotations": SILENT})


def end_silence(rig: Rig | Sharing, name: str = "n") -> None:
    rig.cluster.change(NODES, name, metadata={"annotations": {KUBELET: None}})


def ending(seconds: int = 25) -> dict[str, Any]:
    """Return a pod that ends after so many seconds."""
    body = pod(restartPolicy="Never")
    body["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "j"}]
    delays = {
        f"pod-complete.stage.kwok.x-k8s.io/{name}": f"{seconds}s"
        for name in ("delay", "jitter-delay")
    }
    body["metadata"]["annotations"] = {**delays, "kwokctl.dev/program": f"run={seconds}s"}
    return body


def delete(rig: Rig) -> None:
    now = START + asyncio.get_running_loop().time()
    deleted = {"deletionTimestamp": format_time(int(now) + 30), "deletionGracePeriodSeconds": 30}
    rig.cluster.change(PODS, "p", "ns", metadata=deleted)


def lose(rig: Rig) -> None:
    """Do what the controller-manager does when it hears nothing of a node."""
    unknown = {"status": "Unknown", "reason": "NodeStatusUnknown", "message": "stopped posting"}
    lost = [
        {"type": kind, **unknown}
        for kind in ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
    ]
    rig.cluster.change(NODES, "n", status={"conditions": lost})


@LIVES
def test_nothing_is_written_of_a_silent_node_and_its_pods(life: str) -> None:
    @story(**stages_of(life))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, ending())
        await asyncio.sleep(15)
        assert rig.pod()["status"]["phase"] == "Running"
        silence(rig)
        await asyncio.sleep(5)
        rig.cluster.writes.clear()
        rig.cluster.put(PODS, pod("late"))
        delete(rig)
        await asyncio.sleep(1000)

        assert rig.cluster.writes == []


@LIVES
def test_a_node_and_its_pods_go_on_when_the_silence_ends(life: str) -> None:
    @story(**stages_of(life))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, ending())
        await asyncio.sleep(15)
        before = rig.node()
        silence(rig)
        await asyncio.sleep(60)
        lose(rig)
        await asyncio.sleep(60)
        assert conditions(rig.node())["Ready"]["status"] == "Unknown"

        end_silence(rig)
        await asyncio.sleep(2)
        assert _without_times(rig.node()) == _without_times(before)
        assert rig.pod()["status"]["phase"] == "Succeeded"
        renewed = read_lease_of(rig)
        assert (renewed.holder, renewed.transitions) == ("me_1", 0)


def _without_times(body: dict[str, Any]) -> Any:
    return body["metadata"].get("labels"), {
        kind: (each["status"], each["reason"], each["message"])
        for kind, each in conditions(body).items()
    }


def read_lease_of(rig: Rig, name: str = "n") -> Any:
    return read_lease(orjson.dumps(rig.cluster.object(LEASES, name, NODE_LEASES)))


@LIVES
def test_a_deleted_pod_is_gone_only_when_the_kubelet_is_heard_again(life: str) -> None:
    @story(**stages_of(life))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(15)
        silence(rig)
        await asyncio.sleep(5)
        delete(rig)
        await asyncio.sleep(300)
        assert rig.cluster.verbs("delete") == []

        end_silence(rig)
        await asyncio.sleep(35)
        assert rig.cluster.verbs("delete") == ["p"]


def test_a_lease_is_not_renewed_meanwhile() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(15)
        silence(rig)
        await asyncio.sleep(5)
        before = read_lease_of(rig)
        await asyncio.sleep(100)
        assert read_lease_of(rig) == before

        end_silence(rig)
        await asyncio.sleep(2)
        assert read_lease_of(rig).expires() > START + asyncio.get_running_loop().time() + 30


def test_a_node_is_silenced_where_there_are_no_leases() -> None:
    @story(lease_seconds=0)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(100)
        silence(rig)
        await asyncio.sleep(1)
        rig.cluster.writes.clear()
        await asyncio.sleep(300)
        assert rig.cluster.writes == []

        end_silence(rig)
        await asyncio.sleep(60)
        assert "n" in rig.cluster.verbs("patch")


def test_a_controller_that_starts_leaves_a_silent_node_alone() -> None:
    @story()
    async def _(rig: Rig) -> None:
        body = node(ready=True, annotations=SILENT)
        rig.foreign(age=60, holder="me_1")
        rig.controller.keeper.seed([read_lease_of(rig)])  # type: ignore[union-attr]  # it has leases
        rig.cluster.put(NODES, body)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(300)
        assert rig.cluster.writes == []

        end_silence(rig)
        await asyncio.sleep(5)
        assert rig.pod()["status"]["phase"] == "Running"
        assert conditions(rig.node())["Ready"]["status"] == "True"


def test_a_node_that_never_said_anything_begins_with_the_end_of_its_silence() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(annotations=SILENT))
        await asyncio.sleep(300)
        assert rig.cluster.writes == []

        end_silence(rig)
        await asyncio.sleep(5)
        assert conditions(rig.node())["Ready"]["status"] == "True"


def test_a_node_that_takes_the_name_of_a_silent_one_is_heard() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(annotations=SILENT))
        await asyncio.sleep(5)
        rig.cluster.remove(NODES, "n")
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)

        assert conditions(rig.node())["Ready"]["status"] == "True"


def test_a_silent_node_that_takes_the_name_of_another_is_not_heard() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        # Its own deletion may not be seen: it comes as a change to another uid.
        rig.cluster.put(NODES, node(annotations=SILENT))
        rig.cluster.writes.clear()
        await asyncio.sleep(300)

        assert rig.cluster.writes == []


def test_another_value_of_the_annotation_changes_nothing() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(annotations={KUBELET: "loud"}))
        await asyncio.sleep(5)

        assert conditions(rig.node())["Ready"]["status"] == "True"


def test_what_happens_to_a_machine_meanwhile_is_reported_afterwards() -> None:
    @story(**stages_of("kubelet"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(15)
        silence(rig)
        await asyncio.sleep(5)
        rig.cluster.change(NODES, "n", metadata={"annotations": {"kwokctl.dev/pressure": "memory"}})
        rig.cluster.change(NODES, "n", status={"nodeInfo": {"bootID": "another"}})
        await asyncio.sleep(60)
        assert conditions(rig.node())["MemoryPressure"]["status"] == "False"
        assert rig.pod()["status"]["containerStatuses"][0]["restartCount"] == 0

        end_silence(rig)
        await asyncio.sleep(5)
        assert conditions(rig.node())["MemoryPressure"]["status"] == "True"
        assert (
            rig.pod()["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"]
            == 255
        )


def test_no_address_is_promised_for_a_pod_on_a_silent_node() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        await asyncio.sleep(5)
        silence(rig)
        await asyncio.sleep(5)

        assert b'"is_held":false' in rig.controller.scale_api.reserve(b'{"nodes":{"n":1}}')


def test_no_member_takes_a_silent_node_and_one_has_it_afterwards() -> None:
    @shared
    async def _(at: Sharing) -> None:
        for name in "abc":
            await at.join(name)
        at.nodes(9)
        await asyncio.sleep(60)
        before = {each["metadata"]["name"]: each["spec"] for each in leases(at.cluster)}
        for name in before:
            silence(at, name)
        await asyncio.sleep(10)
        at.cluster.writes.clear()
        await asyncio.sleep(300)
        assert not before.keys() & {name for _, name in at.cluster.writes}

        for name in before:
            end_silence(at, name)
        await asyncio.sleep(20)
        at.cluster.writes.clear()
        await asyncio.sleep(30)
        renewed = at.cluster.verbs("replace")
        assert all(name in renewed for name in before)
        assert set(at.held()) == {"a", "b", "c"}


def test_another_member_takes_over_a_node_whose_holder_went_while_it_was_silent() -> None:
    @shared
    async def _(at: Sharing) -> None:
        member = await at.join("a")
        at.nodes(6)
        await asyncio.sleep(30)
        for number in range(6):
            silence(at, f"n{number:04}")
        await asyncio.sleep(10)
        member.kill()
        await at.join("b")
        await asyncio.sleep(120)
        assert at.held() == {"a": 6}

        for number in range(6):
            end_silence(at, f"n{number:04}")
        await asyncio.sleep(20)
        assert at.held() == {"b": 6}
