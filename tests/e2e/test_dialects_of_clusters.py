"""The dialects of a whole cluster: nodes are born with their conditions, and faults are shown by them."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.injected import inject, status
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.e2e, pytest.mark.components, pytest.mark.timeout(600, func_only=True)]


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Iterator[Installed]:
    installed.ok(
        "create", "cluster", "--wait", "--enable-crds", "Fault", "--disable", "kube-scheduler",
        "--fault-dialects", "aks,device-plugin", "--dialect-heartbeats", "10s", "--nodes", "1", "--etcd-fsync", "off",
    )  # fmt: skip
    installed.ok("scale", "dgx-h100", "--replicas", "2", "--wait")
    installed.ok("scale", "node", "other", "--replicas", "1", "--param", '.dialects = ["eks"]')
    yield installed
    installed.ok("delete", "cluster")


def words(cluster: Installed, name: str) -> dict[str, Any]:
    """Return the status and the reason of the conditions of a node."""
    conditions = cluster.found("node", name)["status"]["conditions"]
    return {each["type"]: (each["status"], each["reason"]) for each in conditions}


@pytest.mark.parametrize("name", ["node-000000", "dgx-h100-000001"])
def test_nodes_are_born_with_the_conditions_of_the_dialects(cluster: Installed, name: str) -> None:
    found = words(cluster, name)

    assert found["GPUMissing"] == ("False", "NoGPUMissing")
    assert found["Ready"][0] == "True"


def test_a_set_may_choose_other_dialects(cluster: Installed) -> None:
    found = words(cluster, "other-000000")

    assert found["AcceleratedHardwareReady"][0] == "True"
    assert "GPUMissing" not in found


def test_they_show_a_fault_that_names_none(cluster: Installed) -> None:
    inject(cluster, "lost", "gpu-missing", target={"nodes": ["dgx-h100-000001"]})

    page = cluster.found("faultpages", status(cluster, "lost")["definition"])
    documents = page["spec"]["definition"]["dialects"]
    assert [each["metadata"]["name"] for each in documents] == ["kubelet", "aks", "device-plugin"]
    assert words(cluster, "dgx-h100-000001")["GPUMissing"][0] == "True"


def test_their_heartbeats_are_renewed_and_nothing_else_changes(cluster: Installed) -> None:
    def beats() -> dict[str, str]:
        conditions = cluster.found("node", "dgx-h100-000000")["status"]["conditions"]
        return {each["type"]: each["lastHeartbeatTime"] for each in conditions}

    before, said = beats(), words(cluster, "dgx-h100-000000")

    until("the heartbeat is renewed", lambda: beats()["GPUMissing"] > before["GPUMissing"])

    assert words(cluster, "dgx-h100-000000") == said


def test_heartbeats_are_refused_through_the_api(cluster: Installed) -> None:
    said = cluster.run(
        "create", "cluster", "--fault-dialects", "aks", "--dialect-heartbeats", "300s",
        "--data-path", "api", "--dry-run",
    )  # fmt: skip

    assert said.code == 2
    assert "needs the data path etcd" in said.err
