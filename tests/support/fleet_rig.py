"""The whole controller on a cluster in memory, with the shipped stages."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import msgspec

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.decoded import DecodedNode, DecodedObject, DecodedPod
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.controller.wiring import Controller
from kwokctl.dataplane.leases.encode import micro_time
from kwokctl.dataplane.port import KubeletWriter
from kwokctl.embedded.selection import Selection, select
from kwokctl.kube.resource import LEASES, NODE_LEASES, NODES, PODS
from tests.support.controller_settings import controller_settings
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
        shares: bool = False,
        selection: Selection | None = None,
        stages: tuple[Stage, ...] | None = None,
        has_kubelet_pods: bool = False,
        shows_devices: bool = True,
        plane_of: Callable[[FakeCluster], KubeletWriter] = lambda cluster: cluster,
    ) -> None:
        self.cluster = cluster or FakeCluster(NODES, PODS, LEASES)
        settings = controller_settings(
            shipped(lease_seconds=lease_seconds) if stages is None else stages,
            selection=selection or select(all_nodes=True),
            has_kubelet_pods=has_kubelet_pods,
            shows_devices=shows_devices,
            kubelet=Kubelet(ip="192.0.2.200", name="localhost", port=10250, address="127.0.0.1"),
            lease_seconds=lease_seconds,
            shares=shares,
        )
        loop = asyncio.get_running_loop()
        self.ahead = 0.0
        """Seconds by which the time of day of this controller is ahead."""

        def wall() -> float:
            return START + loop.time() + self.ahead

        context = ControllerContext(
            plane=plane_of(self.cluster),
            reader=self.cluster,
            random=Random(holder),
            wall=wall,
            faults=OpenFaults(FaultClock(wall)),
        )
        self.controller = Controller(settings, holder, context)
        self.controller.pods_listed.set()
        self.pods_deaf = False
        self.follow()

    def follow(self) -> None:
        self.cluster.watch(NODES, self.tell_node)
        self.cluster.watch(PODS, self.tell_pod)

    def tell_node(self, change: str, raw: bytes) -> None:
        self._tell(self.controller.nodes, DecodedNode, change, raw)

    def tell_pod(self, change: str, raw: bytes) -> None:
        if not self.pods_deaf:
            self._tell(self.controller.pods, DecodedPod, change, raw)

    def _tell(self, engine: Any, shape: type[Any], change: str, raw: bytes) -> None:
        if change == "DELETED":
            engine.drop(msgspec.json.decode(raw, type=DecodedObject))
        else:
            engine.note(msgspec.json.decode(raw, type=shape), raw)

    def node(self, name: str = "n") -> dict[str, Any]:
        return self.cluster.object(NODES, name)

    def pod(self, name: str = "p") -> dict[str, Any]:
        return self.cluster.object(PODS, name, "ns")

    def foreign(
        self, name: str = "n", *, age: float = 0.0, holder: str = "other_2", seconds: int = 40
    ) -> None:
        spec = {
            "holderIdentity": holder,
            "leaseDurationSeconds": seconds,
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
