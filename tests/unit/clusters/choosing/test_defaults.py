import pytest

from kwokctl.clusters.choosing.defaults import Choices, choices
from kwokctl.clusters.state.stages import stage_documents
from kwokctl.components.catalog import catalog
from kwokctl.config.options import ClusterOptions
from tests.support.options import changed, cluster_options

PLAIN = cluster_options()


def made(options: ClusterOptions, *chosen: str) -> Choices:
    return choices(options, frozenset(chosen), tuple(catalog()))


def test_a_plain_cluster_writes_to_etcd_and_beats_as_real_nodes_do() -> None:
    found = made(PLAIN)

    assert found.options.heartbeat.kind == "real"
    assert found.data_path.path == "etcd"
    assert found.notes == ()


def test_what_was_asked_for_stays_asked_for() -> None:
    assert made(PLAIN).options.data_path.path == "auto"


@pytest.mark.parametrize(
    "options", [changed(PLAIN, data_path="api"), changed(PLAIN, kube_audit_policy="p")]
)
def test_heartbeats_through_the_api_are_stretched(options: ClusterOptions) -> None:
    found = made(options)

    assert found.options.heartbeat.kind == "stretched"
    assert found.data_path.path == "api"


def test_an_etcd_that_does_not_sync_is_told_with_its_price() -> None:
    found = made(changed(PLAIN, etcd_fsync="off"))

    assert "power cut" in found.notes[0]


def test_without_heartbeats_no_stage_refreshes_nodes() -> None:
    stages = stage_documents(made(changed(PLAIN, node_heartbeat="off")).options, [])

    assert not any("heartbeat" in stage["metadata"]["name"] for stage in stages)
    assert any(stage["metadata"]["name"] == "node-initialize" for stage in stages)
