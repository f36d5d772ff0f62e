""""""

import asyncio
from typing import Any

import pytest

from kwokctl.clusters.scaling.changes import Serials
from kwokctl.clusters.scaling.context import ScaleContext, Supervision
from kwokctl.clusters.scaling.create_objects import TTL, SetCreation, ttl_for
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.placement import Placing
from kwokctl.clusters.scaling.rate import FLOOR, Pace
from kwokctl.clusters.scaling.scale_request import LABEL, ScaleRequest
from kwokctl.clusters.state.resource_templates import load_templates
from kwokctl.config.data_path import Choice
from kwokctl.dataplane.bulk.api_bulk import PARALLEL_REQUESTS
from kwokctl.dataplane.port import NewObjects
from kwokctl.errors import ApiError, ConflictError, NotFoundError
from kwokctl.kube.collections.server_metrics import EndedWatches
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.progress import Progress, Silent
from tests.support import virtual_time
from tests.support.listener import Listener
from tests.support.memory_cluster import MemoryCluster, refused
from tests.support.never_direct import NeverDirect


def creation(
    cluster: MemoryCluster,
    resource: Resource = PODS,
    *,
    progress: Progress | None = None,
    supervision: Supervision | None = None,
) -> SetCreation:
    request = ScaleRequest(kind="thing", serial_length=3, namespace="default")

    def stamp(serial: int) -> dict[str, Any]:
        return {
            "kind": resource.kind,
            "metadata": {
                "name": request.object_name(serial),
                "labels": {LABEL: request.set_name},
                "annotations": {TTL: "0"},
            },
        }

    context = ScaleContext(
        reader=cluster,
        plane=cluster,
        progress=progress or Silent(),
        wall=lambda: 0.0,
        choice=Choice(path="api", why="asked for"),
        supervision=supervision,
    )
    renderer = Renderer(load_templates([])["pod"], request, lambda: 0.0)
    return SetCreation(request, resource, context, renderer, Placing(stamp, None))


async def make(
    cluster: MemoryCluster, *serials: int, resource: Resource = PODS, pace: Pace | None = None
) -> int:
    """Create objects and return how many were reported."""
    making = creation(cluster, resource)
    await making.make(Serials([range(each, each + 1) for each in serials]), 0, pace)
    return making.made


async def test_every_object_is_created_and_reported() -> None:
    cluster = MemoryCluster()

    assert await make(cluster, 0, 2, 5) == 3
    assert cluster.names("Pod") == ["thing-000", "thing-002", "thing-005"]


class Waiting(MemoryCluster):
    """A data plane that waits for a sample before it makes copies."""

    async def create_copies(self, new: NewObjects) -> None:
        for phase in ("Failed", "Running"):
            new.lacks(b'{"metadata":{"name":"thing-000"},"status":{"phase":"%s"}}' % phase.encode())
            await asyncio.sleep(2)
        await super().create_copies(new)


async def no_names(namespace: str | None, prefix: str) -> set[str]:
    return set()


def test_what_copies_wait_for_is_said_while_they_do() -> None:
    listener, pool = Listener(), Pool(Access(server="http://127.0.0.1:1"))

    async def main() -> None:
        ended = EndedWatches(pool, every=0, clock=lambda: 0.0)
        supervision = Supervision(direct=NeverDirect(), pool=pool, ended=ended, pod_names=no_names)
        making = creation(Waiting(), progress=listener, supervision=supervision)
        await making.make(Serials([range(3)]), 0, None)

    virtual_time.run(main())

    [step] = listener.steps
    assert step.said[0] == "thing-000 is Failed"
    assert step.said[-1] == ""


async def test_many_are_made_at_once() -> None:
    cluster = MemoryCluster()

    await make(cluster, *range(200))

    assert cluster.most_under_way == PARALLEL_REQUESTS
    assert len(cluster.names("Pod")) == 200


def test_objects_are_made_at_their_pace() -> None:
    cluster = MemoryCluster()

    async def timed() -> float:
        loop = asyncio.get_running_loop()
        start = loop.time()
        await make(cluster, *range(20), pace=Pace(window=4))
        return loop.time() - start

    assert virtual_time.run(timed()) == pytest.approx(15 / FLOOR)


@pytest.mark.parametrize("owner", [{}, {"labels": {LABEL: "other"}}])
async def test_a_taken_name_is_found_before_anything_is_created(owner: Any) -> None:
    cluster = MemoryCluster()
    theirs = cluster.put("Pod", "thing-007", namespace="default", **owner)

    with pytest.raises(ConflictError, match="pod 'thing-007' exists already") as caught:
        await make(cluster, *range(10))

    assert cluster.writes == []
    assert cluster.objects["Pod", "default", "thing-007"] is theirs
    assert caught.value.hint is not None


async def test_a_name_taken_in_the_meantime_is_never_overwritten() -> None:
    cluster = MemoryCluster()

    def race(body: dict[str, Any]) -> None:
        if body["metadata"]["name"] == "thing-001":
            cluster.put("Pod", "thing-001", namespace="default")

    cluster.before_create = race

    with pytest.raises(ConflictError, match="thing-001"):
        await make(cluster, 0, 1, 2)

    assert "labels" not in cluster.objects["Pod", "default", "thing-001"]["metadata"]


async def test_what_an_unanswered_request_has_made_counts_as_made() -> None:
    cluster = MemoryCluster()

    def sent_twice(body: dict[str, Any]) -> None:
        if not cluster.objects:
            cluster.put("Pod", "thing-000", namespace="default", labels={LABEL: "thing"})

    cluster.before_create = sent_twice

    assert await make(cluster, 0) == 1


async def test_a_bare_name_that_is_still_being_deleted_says_so() -> None:
    cluster = MemoryCluster()
    cluster.put(
        "Pod",
        "thing-000",
        namespace="default",
        labels={LABEL: "thing"},
        deletionTimestamp="2026-01-01T00:00:00Z",
    )

    with pytest.raises(ConflictError, match="'thing-000' is still being deleted"):
        await make(cluster, 0)


async def test_a_namespace_that_does_not_exist_is_named_with_what_makes_it() -> None:
    cluster = MemoryCluster(namespaces=set())

    with pytest.raises(NotFoundError, match="no namespace 'default'") as caught:
        await make(cluster, *range(100))

    assert caught.value.hint is not None
    assert "kubectl create namespace default" in caught.value.hint
    assert cluster.writes == []


def test_a_service_account_that_is_not_there_yet_is_waited_for() -> None:
    cluster = MemoryCluster()
    refusals = 5

    def no_account(body: dict[str, Any]) -> None:
        nonlocal refusals
        refusals -= 1
        if refusals >= 0:
            raise refused(
                403,
                "Forbidden",
                'error looking up service account default/default: serviceaccount "default" '
                "not found",
            )

    cluster.before_create = no_account

    assert virtual_time.run(make(cluster, 0, 1)) == 2


def test_a_service_account_that_never_comes_is_reported() -> None:
    cluster = MemoryCluster()

    def no_account(body: dict[str, Any]) -> None:
        raise refused(403, "Forbidden", 'serviceaccount "default" not found')

    cluster.before_create = no_account

    with pytest.raises(ApiError, match="serviceaccount"):
        virtual_time.run(make(cluster, 0, 1))


def test_a_request_without_answer_is_sent_again() -> None:
    cluster = MemoryCluster()
    troubles = [refused(0, "ConnectionLost", "gone"), refused(503, "ServiceUnavailable", "busy")]

    def trouble(body: dict[str, Any]) -> None:
        if troubles:
            raise troubles.pop()

    cluster.before_create = trouble

    assert virtual_time.run(make(cluster, 0)) == 1
    assert cluster.names("Pod") == ["thing-000"]


def test_a_cluster_that_stays_away_is_given_up() -> None:
    cluster = MemoryCluster()

    def trouble(body: dict[str, Any]) -> None:
        raise refused(0, "ConnectionLost", "gone")

    cluster.before_create = trouble

    with pytest.raises(ApiError, match="gone"):
        virtual_time.run(make(cluster, 0))


async def test_a_refusal_of_the_first_object_leaves_nothing() -> None:
    cluster = MemoryCluster()
    asked = 0

    def invalid(body: dict[str, Any]) -> None:
        nonlocal asked
        asked += 1
        raise refused(422, "Invalid", "spec.containers: Required value")

    cluster.before_create = invalid

    with pytest.raises(ApiError, match="Required value"):
        await make(cluster, *range(100))

    assert asked == 1


async def test_nodes_get_the_annotation_that_the_size_of_the_cluster_asks_for() -> None:
    cluster = MemoryCluster()
    for number in range(99):
        cluster.put("Node", f"real-{number}")

    await make(cluster, 0, 1, 2, resource=NODES)

    stamped = [
        cluster.objects["Node", None, f"thing-00{serial}"]["metadata"]["annotations"][TTL]
        for serial in range(3)
    ]
    assert stamped == ["0", "15", "15"]


async def test_pods_keep_their_annotations() -> None:
    cluster = MemoryCluster()
    for number in range(200):
        cluster.put("Pod", f"real-{number}", namespace="default")

    await make(cluster, 0)

    stored = cluster.objects["Pod", "default", "thing-000"]
    assert stored["metadata"]["annotations"][TTL] == "0"


@pytest.mark.parametrize(
    ("nodes", "seconds"),
    [
        (1, "0"),
        (100, "0"),
        (101, "15"),
        (500, "15"),
        (501, "30"),
        (1000, "30"),
        (1001, "60"),
        (2000, "60"),
        (2001, "300"),
        (10000, "300"),
        (10001, "600"),
    ],
)
def test_a_node_gets_what_the_size_of_the_cluster_asks_for(nodes: int, seconds: str) -> None:
    assert ttl_for(nodes) == seconds


def test_a_copy_of_an_annotated_node_has_the_annotation_for_its_turn() -> None:
    new = creation(MemoryCluster(), NODES).objects(Serials([range(5)]), 98, lambda: None)
    path = ("metadata", "annotations", TTL)

    varying = new.varying({0: {"metadata": {"annotations": {TTL: "7"}}}, 1: {"metadata": {}}})

    assert [varying[path](serial) for serial in range(5)] == ["7", "0", "15", "15", "15"]
    assert path not in new.varying({0: {"metadata": {}}, 1: {"metadata": {}}})
