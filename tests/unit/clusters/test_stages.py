from dataclasses import replace

import pytest

from kwokctl.clusters.stages import stage_documents
from kwokctl.config.documents import Document
from kwokctl.config.options import ClusterOptions


def names(options: ClusterOptions) -> list[str]:
    return [document["metadata"]["name"] for document in stage_documents(options, [])]


def test_nodes_with_leases_beat_slowly_and_others_often() -> None:
    pods = ["pod-ready", "pod-ready-again", "pod-complete", "pod-delete"]

    assert names(ClusterOptions()) == ["node-initialize", "node-heartbeat-with-lease", *pods]
    without = replace(ClusterOptions(), node_lease_duration_seconds=0)
    assert names(without) == ["node-initialize", "node-heartbeat", *pods]


@pytest.mark.parametrize(
    ("lease", "factor", "delay"),
    [(40, 5, (300_000, 600_000)), (40, 100, (1_000_000, 1_100_000)), (0, 5, (50_000, 55_000))],
)
def test_a_heartbeat_is_not_faster_than_the_status_period(
    lease: int, factor: int, delay: tuple[int, int]
) -> None:
    options = ClusterOptions(node_lease_duration_seconds=lease, heartbeat_factor=factor)

    found = stage_documents(options, [])[1]["spec"]["delay"]

    assert (found["durationMilliseconds"], found["jitterDurationMilliseconds"]) == delay


def test_a_stage_of_the_user_replaces_the_whole_default_set() -> None:
    own = Document(kind="Stage", api_version="", name="x", body={"kind": "Stage"}, source="f")
    other = replace(own, kind="KwokctlResource", body={})

    assert stage_documents(ClusterOptions(), [own, other]) == ({"kind": "Stage"},)
