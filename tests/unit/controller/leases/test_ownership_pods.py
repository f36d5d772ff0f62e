"""How pods come to run on nodes, and with which addresses."""

import asyncio

import msgspec
import orjson
import pytest

from kwokctl.config.config_documents import Document
from kwokctl.controller.engine.decoded import DecodedPod
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.dataplane.port import ObjectKey
from kwokctl.expr import yaml
from kwokctl.kube.resource import JOBS, NODES, PODS
from tests.support.fleet_rig import Rig, conditions, node, pod, story
from tests.support.shipped_stages import shipped


def test_a_pod_on_a_managed_node_runs_with_one_patch() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(0.5)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(0.5)

        assert rig.cluster.verbs("patch") == ["p"]
        status = rig.pod()["status"]
        assert status["phase"] == "Running"
        assert status["hostIP"] == "192.0.2.1"
        assert status["podIP"] == "10.1.0.1"
        assert status["podIPs"] == [{"ip": "10.1.0.1"}, {"ip": "fd00:1::1"}]
        assert {c["type"] for c in status["conditions"]} == {
            "PodScheduled",
            "Initialized",
            "Ready",
            "ContainersReady",
        }


def test_a_pod_on_the_host_network_has_the_addresses_of_its_node() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        rig.cluster.put(PODS, pod(hostNetwork=True))
        await asyncio.sleep(1)

        status = rig.pod()["status"]
        assert status["podIP"] == status["hostIP"] == "192.0.2.1"
        assert status["podIPs"] == status["hostIPs"] == [{"ip": "192.0.2.1"}]


def test_a_pod_on_a_node_without_cidr_and_address_gets_the_defaults() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, {"metadata": {"name": "n"}, "spec": {}, "status": {}})
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert rig.pod()["status"]["podIP"] == "10.0.0.1"
        assert rig.node()["status"]["addresses"][0]["address"] == "192.0.2.200"


def ready(rig: Rig) -> tuple[str, str]:
    found = conditions(rig.pod())["Ready"]
    return found["status"], found.get("reason", "")


async def turn(rig: Rig, gate: str, status: str) -> None:
    others = [each for each in rig.pod()["status"]["conditions"] if each["type"] != gate]
    rig.cluster.change(
        PODS, "p", "ns", status={"conditions": [*others, {"type": gate, "status": status}]}
    )
    await asyncio.sleep(1)


@pytest.mark.parametrize("pods", ["pod-fast", "pod-general"])
def test_a_pod_is_ready_while_its_readiness_gates_are_open(pods: str) -> None:
    @story(stages=shipped(pods))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        gates = [{"conditionType": "example.com/a"}, {"conditionType": "example.com/b"}]
        rig.cluster.put(PODS, pod(readinessGates=gates))
        await asyncio.sleep(60)
        assert ready(rig) == ("False", "ReadinessGatesNotReady")
        assert conditions(rig.pod())["ContainersReady"]["status"] == "True"
        assert rig.pod()["status"]["containerStatuses"][0]["ready"] is True

        await turn(rig, "example.com/a", "True")
        assert ready(rig) == ("False", "ReadinessGatesNotReady")
        await turn(rig, "example.com/b", "True")
        assert ready(rig) == ("True", "")
        await turn(rig, "example.com/a", "False")
        assert ready(rig) == ("False", "ReadinessGatesNotReady")
        said = conditions(rig.pod())["Ready"]["message"]
        assert said == 'the status of pod readiness gate "example.com/a" is not "True", but False'


def test_a_gate_that_opens_does_not_end_what_another_has_begun() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        rig.cluster.put(PODS, pod(readinessGates=[{"conditionType": "example.com/a"}]))
        await asyncio.sleep(1)
        await turn(rig, "example.com/a", "True")
        drill = {"type": "Ready", "status": "False", "reason": "Drill"}
        others = [each for each in rig.pod()["status"]["conditions"] if each["type"] != "Ready"]
        rig.cluster.change(PODS, "p", "ns", status={"conditions": [*others, drill]})
        await asyncio.sleep(60)

        assert ready(rig) == ("False", "Drill")


@pytest.mark.parametrize("probe", ["readinessProbe", "startupProbe"])
def test_a_pod_is_ready_when_the_longest_delay_of_its_probes_is_over(probe: str) -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        containers = [
            {"name": "c", "image": "i", probe: {"initialDelaySeconds": 20}},
            {"name": "d", "image": "i", probe: {"initialDelaySeconds": 5}},
            {"name": "e", "image": "i", probe: {"periodSeconds": 5}},
        ]
        rig.cluster.put(PODS, pod(containers=containers))
        await asyncio.sleep(15)
        assert ready(rig) == ("False", "ContainersNotReady")
        assert conditions(rig.pod())["ContainersReady"]["status"] == "False"
        found = rig.pod()["status"]["containerStatuses"]
        assert [each["ready"] for each in found] == [False, False, True]
        assert [each["started"] for each in found] == [probe == "readinessProbe"] * 2 + [True]

        await asyncio.sleep(10)
        assert ready(rig) == ("True", "")
        assert conditions(rig.pod())["ContainersReady"]["status"] == "True"
        found = rig.pod()["status"]["containerStatuses"]
        assert all(each["ready"] and each["started"] for each in found)


def test_a_pod_whose_probes_are_late_waits_for_its_gates_then() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        late = {"name": "c", "image": "i", "readinessProbe": {"initialDelaySeconds": 20}}
        gates = [{"conditionType": "example.com/a"}]
        rig.cluster.put(PODS, pod(containers=[late], readinessGates=gates))
        await asyncio.sleep(30)
        assert conditions(rig.pod())["ContainersReady"]["status"] == "True"
        assert ready(rig) == ("False", "ReadinessGatesNotReady")
        await turn(rig, "example.com/a", "True")
        assert ready(rig) == ("True", "")


def test_sidecars_are_served() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        init = [
            {"name": "setup", "image": "i"},
            {"name": "sidecar", "image": "i", "restartPolicy": "Always"},
        ]
        rig.cluster.put(PODS, pod(initContainers=init))
        await asyncio.sleep(1)

        status = rig.pod()["status"]
        setup, sidecar = status["initContainerStatuses"]
        assert setup["state"]["terminated"]["reason"] == "Completed"
        assert setup["state"]["terminated"]["exitCode"] == 0
        assert sidecar["started"] is True
        assert "running" in sidecar["state"]


def test_a_pod_of_a_job_completes() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        body = pod()
        body["metadata"]["ownerReferences"] = [{"kind": JOBS.kind, "name": "j"}]
        rig.cluster.put(PODS, body)
        await asyncio.sleep(1)

        assert rig.pod()["status"]["phase"] == "Succeeded"
        (container,) = rig.pod()["status"]["containerStatuses"]
        assert container["state"]["terminated"]["exitCode"] == 0
        assert len(rig.cluster.verbs("patch")) == 2


def test_a_pod_that_is_deleted_gives_its_addresses_back() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        rig.cluster.put(PODS, pod("a"))
        await asyncio.sleep(0.5)
        rig.cluster.change(PODS, "a", "ns", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
        await asyncio.sleep(0.5)
        assert rig.cluster.verbs("delete") == ["a"]

        rig.cluster.put(PODS, pod("b"))
        await asyncio.sleep(0.5)
        assert rig.pod("b")["status"]["podIP"] == "10.1.0.1"


def test_addresses_that_pods_have_are_known_after_a_restart() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        old = pod("old")
        old["status"] = {"phase": "Running", "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}]}
        rig.cluster.put(PODS, old)
        rig.cluster.put(PODS, pod("new"))
        await asyncio.sleep(1)

        assert rig.pod("new")["status"]["podIP"] == "10.1.0.2"


def test_no_pod_gets_an_address_before_all_pods_are_known() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.controller.pods_listed.clear()
        rig.cluster.put(NODES, node(ready=True))
        rig.cluster.put(PODS, pod("new"))
        await asyncio.sleep(5)
        assert rig.pod("new")["status"]["phase"] == "Pending"

        old = pod("old")
        old["status"] = {"phase": "Running", "podIPs": [{"ip": "10.1.0.1"}, {"ip": "fd00:1::1"}]}
        rig.cluster.put(PODS, old)
        rig.controller.pods_listed.set()
        await asyncio.sleep(5)
        assert rig.pod("new")["status"]["podIPs"] == [{"ip": "10.1.0.2"}, {"ip": "fd00:1::2"}]


def test_a_template_can_use_the_address_of_its_pod() -> None:
    body = yaml.load(
        """
        kind: Stage
        metadata: {name: own}
        spec:
          resourceRef: {kind: Pod}
          selector: {matchExpressions: [{key: .status.podIP, operator: DoesNotExist}]}
          steps:
          - patch: {subresource: status, root: status, template: "podIP: {{ Quote PodIP }}"}
        """
    )
    document = Document(kind="Stage", api_version="", name="own", body=body, source="own")

    @story(stages=read_stages([document]))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)

        assert rig.pod()["status"]["podIP"] == "10.1.0.1"


def test_a_pod_whose_uid_changes_unseen_leaks_no_address() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.pods_deaf = True
        rig.cluster.remove(PODS, "p", "ns")
        rig.pods_deaf = False
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)

        assert "kwok_controller_pod_addresses 2\n" in rig.controller.metrics.text()


def test_an_object_from_a_list_counts_even_if_it_is_older() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        old = orjson.dumps(rig.cluster.put(PODS, pod()))
        await asyncio.sleep(1)
        patched = len(rig.cluster.writes)
        seen = msgspec.json.decode(old, type=DecodedPod)
        rig.controller.pods.note(seen, old)
        await asyncio.sleep(1)
        assert len(rig.cluster.writes) == patched

        rig.controller.pods.note(seen, old, listed=True)
        await asyncio.sleep(1)
        assert len(rig.cluster.writes) > patched


def test_a_deletion_during_play_cannot_resurrect_a_pod() -> None:
    @story()
    async def _(rig: Rig) -> None:
        def delete(target: ObjectKey) -> None:
            if target.name == "p":
                rig.cluster.before_write = None
                rig.cluster.remove(PODS, "p", "ns")

        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(1)
        rig.cluster.before_write = delete
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(30)

        assert rig.cluster.verbs("patch") == ["p"]
        assert len(rig.controller.pods) == 0
        assert "kwok_controller_pod_addresses 0" in rig.controller.metrics.text()
