from dataclasses import replace

import pytest

from kwokctl.clusters.state.stages import runtime_documents, stage_documents
from kwokctl.config.documents import Document
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from tests.support.fake_runtime import BringingRuntime, FakeRuntime
from tests.support.options import cluster_options


def names(options: ClusterOptions) -> list[str]:
    return [document["metadata"]["name"] for document in stage_documents(options, [])]


def test_nodes_with_leases_beat_slowly_and_others_often() -> None:
    pods = [
        "pod-ready",
        "pod-ready-again",
        "pod-resize",
        "pod-ephemeral",
        "pod-complete",
        "pod-delete",
    ]

    assert names(cluster_options()) == ["node-initialize", "node-heartbeat-with-lease", *pods]
    without = cluster_options(node_lease_duration_seconds=0)
    assert names(without) == ["node-initialize", "node-heartbeat", *pods]


@pytest.mark.parametrize(
    ("lease", "factor", "delay"),
    [(40, 5, (300_000, 600_000)), (40, 100, (1_000_000, 1_100_000)), (0, 5, (50_000, 55_000))],
)
def test_a_heartbeat_is_not_faster_than_the_status_period(
    lease: int, factor: int, delay: tuple[int, int]
) -> None:
    options = cluster_options(node_lease_duration_seconds=lease, heartbeat_factor=factor)

    found = stage_documents(options, [])[1]["spec"]["delay"]

    assert (found["durationMilliseconds"], found["jitterDurationMilliseconds"]) == delay


def test_a_stage_of_the_user_replaces_the_whole_default_set() -> None:
    own = Document(kind="Stage", api_version="", name="x", body={"kind": "Stage"}, source="f")
    other = replace(own, kind="KwokctlResource", body={})

    assert stage_documents(cluster_options(), [own, other]) == ({"kind": "Stage"},)


OF_KIND = Document(
    kind="Cluster",
    api_version="kind.x-k8s.io/v1alpha4",
    name="",
    body={"kind": "Cluster"},
    source="f",
)


def test_a_document_for_a_runtime_is_kept_for_it_alone() -> None:
    assert runtime_documents(BringingRuntime(), [OF_KIND]) == ({"kind": "Cluster"},)
    assert runtime_documents(FakeRuntime(), []) == ()


@pytest.mark.parametrize("group", ["kind.x-k8s.io.example/v1", "example/v1"])
def test_a_document_for_another_runtime_is_refused(group: str) -> None:
    with pytest.raises(UsageError, match="is not for the runtime 'fake'") as caught:
        runtime_documents(FakeRuntime(), [OF_KIND])
    assert "--runtime" in str(caught.value.hint)

    with pytest.raises(UsageError, match="is not for the runtime 'bringing'"):
        runtime_documents(BringingRuntime(), [replace(OF_KIND, api_version=group)])
