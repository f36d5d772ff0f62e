"""`plan`: the figures as people and programs get them, with a cluster and without."""

import json
from collections.abc import Callable

import pytest
import yaml

from kwokctl.clusters.state.home import cluster_name
from kwokctl.host.paths import WorkDir, default_workdir
from tests.support.options import cluster_options
from tests.support.recording_runner import RecordingRunner
from tests.support.saved_cluster import save_cluster

Words = Callable[[str], int]
NAME = cluster_name("kwok")


@pytest.fixture
def cluster(runner: RecordingRunner) -> None:
    """Save, in the folder that the runner has made the user's, a cluster with renewals each 50 s and a quota of 16 MiB."""
    options = cluster_options(
        runtime="fake", etcd_quota_backend_size="16Mi", node_heartbeat="stretched"
    )
    save_cluster(WorkDir(default_workdir()), NAME, options)


def test_without_a_cluster_the_one_that_would_be_made_is_planned(
    words: Words, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("plan --nodes 100 --pods 1000 -o json") == 0

    found = json.loads(capfd.readouterr().out)
    assert (found["nodes"], found["pods"], found["fits"]) == (100, 1000, True)
    assert found["leaseWritesPerSecond"] == 10.0
    assert found["etcdQuota"] == 8 << 30


def test_a_cluster_with_metrics_server_counts_what_it_asks_the_kubelet_server_for(
    words: Words, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KWOK_ENABLE", "metrics-server")

    assert words("plan --nodes 10000 --pods 100000") == 0

    shown = capfd.readouterr().out
    assert "processor: a round of usage" in shown


@pytest.mark.usefixtures("cluster")
def test_the_options_of_a_cluster_count(words: Words, capfd: pytest.CaptureFixture[str]) -> None:
    assert words("plan --nodes 100 -o yaml") == 0

    found = yaml.safe_load(capfd.readouterr().out)
    assert found["leaseWritesPerSecond"] == 2.0
    assert found["etcdQuota"] == 16 << 20


@pytest.mark.usefixtures("cluster")
def test_other_options_can_be_tried_on_a_cluster(
    words: Words, capfd: pytest.CaptureFixture[str]
) -> None:
    assert (
        words("plan --nodes 100 --node-heartbeat real --etcd-quota-backend-size 1Gi -o json") == 0
    )

    found = json.loads(capfd.readouterr().out)
    assert found["leaseWritesPerSecond"] == 10.0
    assert found["etcdQuota"] == 1 << 30


def test_what_does_not_fit_is_shown_and_exits_with_the_remedy(
    words: Words, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("plan --pods 1000 --pod-size 1Mi --etcd-quota-backend-size 1Gi") == 1

    shown = capfd.readouterr()
    assert "etcd: size" in shown.out
    assert "error: etcd would grow to " in shown.err
    assert "hint: create the cluster with --etcd-quota-backend-size 4Gi" in shown.err


def test_sizes_of_objects_are_quantities(words: Words, capfd: pytest.CaptureFixture[str]) -> None:
    assert words("plan --nodes 10 --node-size much") == 2

    assert "'--node-size' is 'much', not a size" in capfd.readouterr().err


def test_a_table_is_for_people(words: Words, capfd: pytest.CaptureFixture[str]) -> None:
    assert words("plan --nodes 100") == 0

    lines = capfd.readouterr().out.splitlines()
    assert lines[0].split() == ["WHAT", "SIZE"]
    assert "lease renewals per second   10.0" in lines


@pytest.mark.parametrize(("words_more", "nodes"), [("", 1000), (" --nodes 20", 20)])
def test_a_profile_brings_its_options_and_its_size_unless_one_is_given(
    words: Words, capfd: pytest.CaptureFixture[str], words_more: str, nodes: int
) -> None:
    assert words(f"plan --profile 1k -o json{words_more}") == 0

    found = json.loads(capfd.readouterr().out)
    assert (found["nodes"], found["etcdQuota"]) == (nodes, 2 << 30)


@pytest.mark.usefixtures("cluster")
def test_a_profile_can_be_tried_on_a_cluster(
    words: Words, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("plan --profile 10k -o json") == 0
    assert json.loads(capfd.readouterr().out)["etcdQuota"] == 8 << 30
