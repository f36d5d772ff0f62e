"""The port, shown with an adapter that its callers have never heard of."""

import asyncio
from typing import Any

from kwokctl.clusters.scaling.context import ScaleContext
from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.set_size import scale_set
from kwokctl.clusters.state.resource_templates import load_templates
from kwokctl.config.data_path import Choice
from kwokctl.kube.resource import NODES
from kwokctl.progress import Silent
from tests.support import virtual_time
from tests.support.fleet_rig import Rig, node
from tests.support.memory_cluster import MemoryCluster
from tests.support.recording_plane import RecordingPlane


def scale(cluster: MemoryCluster, plane: RecordingPlane, **request: Any) -> ScaleResult:
    context = ScaleContext(
        reader=cluster,
        plane=plane,
        progress=Silent(),
        wall=lambda: 0.0,
        choice=Choice(path="api", why="asked for"),
    )
    return virtual_time.run(scale_set(ScaleRequest(**request), load_templates([]), context))


def test_scale_writes_through_any_adapter_of_the_port() -> None:
    cluster = MemoryCluster()
    plane = RecordingPlane(cluster)

    scale(cluster, plane, kind="node", replicas=40)
    result = scale(cluster, plane, kind="node", replicas=10)

    assert (result.deleted, len(cluster.names("Node")), plane.done) == (30, 10, 70)
    assert plane.calls == [
        ("create_copies", "40 nodes"),
        ("delete_many", "30 nodes"),
    ]


def test_fake_kubelets_write_through_any_adapter_of_the_port() -> None:
    planes: list[RecordingPlane] = []

    def recording(cluster: Any) -> RecordingPlane:
        planes.append(RecordingPlane(cluster))
        return planes[-1]

    async def main() -> None:
        rig = Rig(plane_of=recording)
        async with rig.running():
            rig.cluster.put(NODES, node())
            await asyncio.sleep(5)

    virtual_time.run(main())

    calls = set(planes[0].calls)
    assert {("patch", "n"), ("renew", "n")} <= calls
