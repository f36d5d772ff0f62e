import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import msgspec
import orjson
import pytest

from kwokctl.config.documents import Document
from kwokctl.controller.assembly import Controller, Surroundings
from kwokctl.controller.functions import Kubelet
from kwokctl.controller.lease_book import read_lease
from kwokctl.controller.objects import Seen, SeenNode, SeenPod
from kwokctl.controller.selection import Selection, select
from kwokctl.controller.settings import Settings
from kwokctl.controller.stage_reader import read_stages
from kwokctl.controller.stages import Stage
from kwokctl.dataplane.lease import micro_time
from kwokctl.dataplane.port import Target
from kwokctl.errors import ApiError
from kwokctl.expr import yaml
from kwokctl.kube.resource import JOBS, LEASES, NODE_LEASES, NODES, PODS
from tests.support.fake_cluster import FakeCluster
from tests.support.shipped_stages import shipped
from tests.support.virtual_time import run

START = 1_767_268_800.0


def node(name: str = "n", *, ready: bool = False, **more: Any) -> dict[str, Any]:
    status: dict[str, Any] = {"addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]}
    if ready:
        status |= {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return {
        "metadata": {"name": name, **more},
        "spec": {"podCIDR": "10.1.0.0/24", "podCIDRs": ["10.1.0.0/24", "fd00:1::/64"]},
        "status": status,
    }


def pod(name: str = "p", on: str = "n", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": "i"}], **spec},
        "status": {"phase": "Pending"},
    }


class Rig:
    """The whole controller on a cluster in memory, with the shipped stages."""

    def __init__(
        self,
        *,
        cluster: FakeCluster | None = None,
        holder: str = "me_1",
        lease_seconds: int = 40,
        selection: Selection | None = None,
        stages: tuple[Stage, ...] | None = None,
    ) -> None:
        self.cluster = cluster or FakeCluster(NODES, PODS, LEASES)
        settings = Settings(
            kubeconfig=None,
            master="",
            selection=selection or select(all_nodes=True),
            stages=shipped(lease_seconds=lease_seconds) if stages is None else stages,
            cidr="10.0.0.0/24",
            kubelet=Kubelet(ip="192.0.2.200", name="localhost", port=10247),
            server=None,
            lease_seconds=lease_seconds,
            holder_identity="",
            verbosity=0,
        )
        loop = asyncio.get_running_loop()
        around = Surroundings(
            plane=self.cluster,
            reader=self.cluster,
            random=Random(1),
            wall=lambda: START + loop.time(),
        )
        self.controller = Controller(settings, holder, around)
        self.controller.pods_listed.set()
        self.pods_deaf = False
        self.cluster.watch(NODES, self.tell_node)
        self.cluster.watch(PODS, self.tell_pod)

    def tell_node(self, change: str, raw: bytes) -> None:
        self._tell(self.controller.nodes, SeenNode, change, raw)

    def tell_pod(self, change: str, raw: bytes) -> None:
        if not self.pods_deaf:
            self._tell(self.controller.pods, SeenPod, change, raw)

    def _tell(self, engine: Any, shape: type[Any], change: str, raw: bytes) -> None:
        if change == "DELETED":
            engine.drop(msgspec.json.decode(raw, type=Seen))
        else:
            engine.note(msgspec.json.decode(raw, type=shape), raw)

    def node(self, name: str = "n") -> dict[str, Any]:
        return self.cluster.object(NODES, name)

    def pod(self, name: str = "p") -> dict[str, Any]:
        return self.cluster.object(PODS, name, "ns")

    def foreign(self, name: str = "n", *, age: float = 0.0, holder: str = "other_2") -> None:
        spec = {
            "holderIdentity": holder,
            "leaseDurationSeconds": 40,
            "renewTime": micro_time(START + asyncio.get_running_loop().time() - age),
        }
        self.cluster.put(
            LEASES, {"metadata": {"name": name, "namespace": NODE_LEASES}, "spec": spec}
        )

    @asynccontextmanager
    async def running(self) -> Any:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.controller.run())
            try:
                yield
            finally:
                task.cancel()


Test = Callable[[Rig], Coroutine[Any, Any, None]]


def story(**more: Any) -> Callable[[Test], None]:
    """Run a test on a controller, on a clock that costs no time."""

    def tell(test: Test) -> None:
        async def whole() -> None:
            rig = Rig(**more)
            async with rig.running():
                await test(rig)

        run(whole())

    return tell


def conditions(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {condition["type"]: condition for condition in body["status"]["conditions"]}


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
        ]
        assert status["allocatable"] == {"cpu": "1k", "memory": "1Ti", "pods": "1M"}


def test_a_node_that_comes_ready_is_not_patched_only_held() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(5)

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


def test_a_condition_that_somebody_set_survives_heartbeats() -> None:
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


def test_readiness_gates_and_sidecars_are_served() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        init = [
            {"name": "setup", "image": "i"},
            {"name": "sidecar", "image": "i", "restartPolicy": "Always"},
        ]
        gates = [{"conditionType": "example.com/gate"}]
        rig.cluster.put(PODS, pod(initContainers=init, readinessGates=gates))
        await asyncio.sleep(1)

        status = rig.pod()["status"]
        assert conditions(rig.pod())["example.com/gate"]["status"] == "True"
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


def test_pods_of_a_node_that_is_not_managed_are_left_alone() -> None:
    @story(selection=select(annotation_selector="kwok.x-k8s.io/node=fake"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node("real"))
        rig.cluster.put(NODES, node("fake", annotations={"kwok.x-k8s.io/node": "fake"}))
        rig.cluster.put(PODS, pod("a", on="real"))
        rig.cluster.put(PODS, pod("b", on="fake"))
        rig.cluster.put(PODS, pod("c", on="nowhere"))
        await asyncio.sleep(5)

        assert {name for verb, name in rig.cluster.writes if verb == "patch"} == {"fake", "b"}


def test_a_node_that_becomes_managed_brings_its_pods() -> None:
    @story(selection=select(annotation_selector="kwok.x-k8s.io/node=fake"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        assert rig.cluster.writes == []

        rig.cluster.change(NODES, "n", metadata={"annotations": {"kwok.x-k8s.io/node": "fake"}})
        await asyncio.sleep(1)
        assert rig.pod()["status"]["phase"] == "Running"
        assert conditions(rig.node())["Ready"]["status"] == "True"

        rig.cluster.change(NODES, "n", metadata={"annotations": {"kwok.x-k8s.io/node": "no"}})
        rig.cluster.put(PODS, pod("later"))
        await asyncio.sleep(60)
        assert rig.pod("later")["status"]["phase"] == "Pending"


def test_pods_that_came_before_their_node_are_read_again() -> None:
    @story()
    async def _(rig: Rig) -> None:
        for number in range(3):
            rig.cluster.put(PODS, pod(f"p{number}"))
        await asyncio.sleep(1)
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(1)

        assert [rig.pod(f"p{n}")["status"]["phase"] for n in range(3)] == ["Running"] * 3
        assert rig.cluster.verbs("list") == ["spec.nodeName=n"]


def test_reading_a_nodes_pods_again_is_repeated_until_it_succeeds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.cluster.refuse_reads.extend([ApiError("busy", status=503)] * 3)
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(20)

        assert rig.pod()["status"]["phase"] == "Running"
        assert len(rig.cluster.verbs("list")) == 4

    assert len([record for record in caplog.records if "pods of node 'n'" in record.message]) == 1


def test_a_node_that_is_gone_before_it_could_be_read_again_is_no_trouble() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.cluster.refuse_reads.append(ApiError("not found", status=404, reason="NotFound"))
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(20)

        assert len(rig.cluster.verbs("list")) == 1


def test_pods_that_are_to_be_disregarded_are_left_alone() -> None:
    @story(selection=select(all_nodes=True, disregard_label_selector="hands=off"))
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        body = pod("left")
        body["metadata"]["labels"] = {"hands": "off"}
        rig.cluster.put(PODS, body)
        rig.cluster.put(PODS, pod("run"))
        await asyncio.sleep(5)

        assert rig.cluster.verbs("patch") == ["run"]


def test_a_template_may_ask_for_the_address_of_its_own_pod() -> None:
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


def test_nothing_is_written_to_a_node_that_another_controller_holds() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.foreign()
        keeper = rig.controller.keeper
        assert keeper is not None
        keeper.seed([read_lease(orjson.dumps(rig.cluster.object(LEASES, "n", NODE_LEASES)))])
        rig.cluster.put(NODES, node())
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(30)

        assert rig.cluster.writes == []
        entry = rig.controller.pods.get("ns/p")
        assert entry is not None
        assert entry.raw is None


def test_a_node_that_is_taken_over_brings_its_pods() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.foreign()
        rig.cluster.put(NODES, node())
        await asyncio.sleep(1)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(10)
        assert rig.pod()["status"]["phase"] == "Pending"

        await asyncio.sleep(35)
        assert rig.pod()["status"]["phase"] == "Running"
        assert conditions(rig.node())["Ready"]["status"] == "True"
        assert rig.cluster.object(LEASES, "n", NODE_LEASES)["spec"]["leaseTransitions"] == 1


def test_two_controllers_share_the_nodes_and_one_takes_over_from_the_other() -> None:
    async def whole() -> None:
        cluster = FakeCluster(NODES, PODS, LEASES)
        first, second = Rig(cluster=cluster, holder="a_1"), Rig(cluster=cluster, holder="b_2")
        async with second.running():
            async with first.running():
                for number in range(20):
                    cluster.put(NODES, node(f"n{number}"))
                    cluster.put(PODS, pod(f"p{number}", on=f"n{number}"))
                await asyncio.sleep(60)
                creates = Counter(name for verb, name in cluster.writes if verb == "patch")
                assert set(creates.values()) == {1}
            first.tell_node = first.tell_pod = lambda *_: None  # type: ignore[method-assign]  # it is dead
            await asyncio.sleep(60)

        leases = [body for key, body in cluster.objects.items() if key[0] == LEASES.plural]
        assert {lease["spec"]["holderIdentity"] for lease in leases} == {"b_2"}
        assert max(lease["spec"]["leaseTransitions"] for lease in leases) == 1
        assert {
            body["status"]["phase"] for k, body in cluster.objects.items() if k[0] == "pods"
        } == {"Running"}

    run(whole())


def test_a_lost_node_and_its_pods_are_left_alone() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        await asyncio.sleep(1)
        rig.foreign()
        await asyncio.sleep(12)
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(5)

        assert rig.pod()["status"]["phase"] == "Pending"


def test_a_deleted_node_is_forgotten_with_its_lease_and_its_pods_are_left() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        rig.cluster.put(PODS, pod())
        await asyncio.sleep(1)
        rig.cluster.remove(NODES, "n")
        rig.cluster.writes.clear()
        rig.cluster.change(PODS, "p", "ns", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
        await asyncio.sleep(100)

        assert rig.cluster.writes == []
        assert "kwok_controller_leases" in rig.controller.metrics.text()
        assert 'kwok_controller_objects{kind="Node"} 0' in rig.controller.metrics.text()


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


def test_what_a_list_tells_counts_though_it_be_older() -> None:
    @story()
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node(ready=True))
        old = orjson.dumps(rig.cluster.put(PODS, pod()))
        await asyncio.sleep(1)
        patched = len(rig.cluster.writes)
        seen = msgspec.json.decode(old, type=SeenPod)
        rig.controller.pods.note(seen, old)
        await asyncio.sleep(1)
        assert len(rig.cluster.writes) == patched

        rig.controller.pods.note(seen, old, listed=True)
        await asyncio.sleep(1)
        assert len(rig.cluster.writes) > patched


def test_a_deletion_during_play_cannot_resurrect_a_pod() -> None:
    @story()
    async def _(rig: Rig) -> None:
        def delete(target: Target) -> None:
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
