""""""

import asyncio
import re
from typing import Any

import pytest

from kwokctl.clusters.scaling.scale_request import LABEL, ScaleResult
from kwokctl.embedded.silence import KUBELET
from kwokctl.errors import ApiError, ConfigError, UsageError
from tests.support.listener import Listener
from tests.support.memory_cluster import MemoryCluster, refused
from tests.support.scaled_sets import Asked, ready, scale


def test_nodes_are_made_with_one_write_each() -> None:
    cluster = MemoryCluster(on_create=ready)

    result = scale(cluster, kind="node", replicas=50, wait=0)

    assert result == ScaleResult(kind="Node", name="node", created=50)
    assert cluster.names("Node") == [f"node-{number:06d}" for number in range(50)]
    assert len(cluster.writes) == 50


def test_a_set_grows_and_shrinks_and_then_there_is_nothing_to_do() -> None:
    cluster = MemoryCluster()

    assert scale(cluster, kind="pod", name="web", replicas=3).created == 3
    assert scale(cluster, kind="pod", name="web", replicas=5) == ScaleResult(
        kind="Pod", name="web", namespace="default", created=2, existing=3
    )
    assert scale(cluster, kind="pod", name="web", replicas=2) == ScaleResult(
        kind="Pod", name="web", namespace="default", deleted=3, existing=5
    )
    assert scale(cluster, kind="pod", name="web", replicas=2).is_unchanged
    assert cluster.names("Pod") == ["web-000000", "web-000001"]


def test_sets_do_not_touch_each_other() -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="pod", name="a", replicas=2)
    scale(cluster, kind="pod", name="b", replicas=2)

    scale(cluster, kind="pod", name="a", replicas=0)

    assert cluster.names("Pod") == ["b-000000", "b-000001"]


def test_pods_are_created_in_the_requested_namespace() -> None:
    cluster = MemoryCluster(namespaces={"default", "load"})

    scale(cluster, kind="pod", replicas=1, namespace="load")

    assert list(cluster.objects) == [("Pod", "load", "pod-000000")]


@pytest.mark.parametrize("replicas", [0, 1, 5])
def test_nodes_are_in_no_namespace_and_none_is_deleted_by_a_wrong_word(replicas: int) -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="node", replicas=3)

    with pytest.raises(UsageError, match="nodes are in no namespace"):
        scale(cluster, kind="node", replicas=replicas, namespace="load")

    assert len(cluster.names("Node")) == 3


POD = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: %s}"


def test_a_template_can_name_the_namespace() -> None:
    cluster = MemoryCluster(namespaces={"default", "team-a"})

    result = scale(cluster, template=POD % "team-a", kind="own", replicas=3)
    shrunk = scale(cluster, template=POD % "team-a", kind="own", replicas=1)

    assert (result.namespace, result.created, shrunk.deleted) == ("team-a", 3, 2)
    assert list(cluster.objects) == [("Pod", "team-a", "own-000000")]


def test_a_template_and_the_request_must_agree_on_the_namespace() -> None:
    cluster = MemoryCluster(namespaces={"default", "team-a", "load"})

    scale(cluster, template=POD % "team-a", kind="own", replicas=1, namespace="team-a")
    with pytest.raises(UsageError, match="but the template 'own' puts its objects into 'team-a'"):
        scale(cluster, template=POD % "team-a", kind="own", replicas=0, namespace="load")

    assert cluster.names("Pod") == ["own-000000"]


def test_a_set_is_in_one_namespace() -> None:
    cluster = MemoryCluster(namespaces={"load-0", "load-1"})

    with pytest.raises(ConfigError, match="'own-000001' into the namespace 'load-1'"):
        scale(cluster, template=POD % "load-{{ Index }}", kind="own", replicas=2)


@pytest.mark.parametrize(("given", "found"), [(None, "default"), ("load", "load")])
def test_namespace_is_never_empty_in_a_template(given: str | None, found: str) -> None:
    cluster = MemoryCluster(namespaces={"default", "load"})
    template = POD % "{{ Namespace }}" + "\nspec: {hostname: in-{{ Namespace }}}"

    scale(cluster, template=template, kind="own", replicas=1, namespace=given)

    [(key, body)] = cluster.objects.items()
    assert key == ("Pod", found, "own-000000")
    assert body["spec"]["hostname"] == f"in-{found}"


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        (20, 2, "Delete 18 of the 20 nodes of the set 'node'?"),
        (11, 5, "Delete 6 of the 11 nodes of the set 'node'?"),
        (11, 0, "Delete all 11 nodes of the set 'node'?"),
        (12, 6, ""),
        (10, 0, ""),
        (20, 19, ""),
        (20, 40, ""),
        (0, 40, ""),
    ],
)
def test_more_than_half_of_a_large_set_is_deleted_after_a_question_only(
    before: int, after: int, question: str
) -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="node", replicas=before)
    no, yes = Asked(answer=False), Asked(answer=True)

    declined = scale(cluster, kind="node", replicas=after, confirm=no, wait=None)
    left = len(cluster.names("Node"))
    scale(cluster, kind="node", replicas=after, confirm=yes)

    assert no.questions == ([question] if question else [])
    assert left == (before if question else after) == declined.count
    assert not (question and declined.deleted)
    assert len(cluster.names("Node")) == after


def test_nodes_that_were_broken_on_purpose_are_not_waited_for() -> None:
    cluster = MemoryCluster(on_create=ready)
    scale(cluster, kind="node", replicas=3)
    broken = cluster.objects["Node", None, "node-000001"]
    broken["metadata"]["annotations"] = {KUBELET: "silent"}
    broken["status"]["conditions"][0]["status"] = "Unknown"

    result = scale(cluster, kind="node", replicas=4, wait=5)

    assert result == ScaleResult(kind="Node", name="node", created=1, existing=3, broken=1)


def test_what_was_declined_is_not_waited_for() -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="node", replicas=20)

    result = scale(cluster, kind="node", replicas=1, wait=5, confirm=Asked(answer=False))

    assert result == ScaleResult(kind="Node", name="node", existing=20)


def test_objects_carry_the_label_of_their_set() -> None:
    cluster = MemoryCluster()

    scale(cluster, kind="node", name="gpu", serial_length=0)

    assert cluster.objects["Node", None, "gpu"]["metadata"]["labels"][LABEL] == "gpu"


def test_an_interrupt_reports_what_exists_and_how_to_continue() -> None:
    cluster, listener = MemoryCluster(), Listener()
    scale(cluster, listener, kind="pod", replicas=3)

    with pytest.raises(asyncio.CancelledError):
        scale(cluster, listener, interrupt_after=10, kind="pod", replicas=2000)
    with pytest.raises(asyncio.CancelledError):
        scale(cluster, listener, interrupt_after=12, kind="pod", replicas=0)

    made, deleted = listener.notes
    stays = "what was done stays; repeat the command to continue"
    assert re.fullmatch(rf"at least \d+ of 2,000 pods exist; {stays}", made)
    assert re.fullmatch(rf"at least \d+ of \d+ pods are deleted; {stays}", deleted)


def test_a_failure_reports_how_many_objects_exist() -> None:
    def full(body: dict[str, Any]) -> None:
        if len(cluster.objects) == 5:
            raise refused(403, "Forbidden", "exceeded quota")

    cluster, listener = MemoryCluster(before_create=full), Listener()

    with pytest.raises(ApiError, match="exceeded quota"):
        scale(cluster, listener, kind="pod", replicas=60)

    assert listener.notes == ["5 of 60 pods exist"]
    assert listener.steps[0].done == 5


def test_titles_name_the_requested_change() -> None:
    cluster, listener = MemoryCluster(), Listener()
    for replicas in (1, 1500, 1000, 0):
        scale(cluster, listener, kind="node", replicas=replicas)

    assert [step.title for step in listener.steps] == [
        "Creating 1 node",
        "Creating 1,499 more nodes, to 1,500",
        "Deleting 500 nodes, down to 1,000",
        "Deleting 1,000 nodes",
    ]


def test_hundreds_of_millions_are_begun_with_the_first_ones() -> None:
    def full(body: dict[str, Any]) -> None:
        if len(cluster.objects) == 20:
            raise refused(403, "Forbidden", "exceeded quota")

    cluster = MemoryCluster(before_create=full)

    with pytest.raises(ApiError, match="exceeded quota"):
        scale(cluster, kind="pod", replicas=900_000_000, serial_length=1)

    assert "pod-19" in cluster.names("Pod")


def test_an_unknown_template_is_refused_before_any_request() -> None:
    cluster = MemoryCluster()

    with pytest.raises(UsageError, match="'podd'"):
        scale(cluster, kind="podd")

    assert cluster.writes == []
