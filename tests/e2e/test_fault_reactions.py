"""What Kubernetes' own controllers do about faults, in a real cluster without add-ons."""

import json
import re
from collections.abc import Iterator

import pytest

from kwokctl.fleet.devices import GPU
from tests.support.fault_surfaces import (
    ONE,
    THREE,
    TWO,
    broken,
    names,
    phase,
    pod,
    ready,
    run,
    scale,
    seen,
    tidy,
    tried,
    untimed,
)
from tests.support.installed import Installed, condition, until

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]


@pytest.fixture(scope="module")
def cluster(with_own_faults: Installed) -> Installed:
    scale(with_own_faults, 3)
    return with_own_faults


@pytest.fixture(autouse=True)
def no_pods(cluster: Installed) -> Iterator[None]:
    """Leave no pod behind."""
    yield
    tidy(cluster)


def test_a_silent_kubelet_renews_no_lease_answers_nobody_and_loses_its_pods(
    cluster: Installed,
) -> None:
    unreachable = {
        "key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
        "tolerationSeconds": 1,
    }  # fmt: skip
    run(cluster, "quick", tolerations=[unreachable], terminationGracePeriodSeconds=1)
    run(cluster, "patient")
    # A node that comes back under its name soon after a rewind has its Lease at the next renewal.
    leases = ("leases", "-n", "kube-node-lease")
    until("both have a Lease", lambda: {ONE, TWO} <= {*cluster.names(*leases)})
    with broken(cluster, "silent"):
        first = renewed(cluster, ONE)
        for _ in range(2):
            is_renewed(cluster, TWO)
        assert renewed(cluster, ONE) == first
        for words in (("logs", "patient"), ("exec", "patient", "--", "nvidia-smi")):
            assert re.search("EOF|reset by peer", tried(cluster, *words)), words
        until("Ready is unknown", lambda: ready(cluster, ONE) == "Unknown")
        until("it is evicted", lambda: "deletionTimestamp" in pod(cluster, "quick")["metadata"])
        # Nobody ends it: its kubelet does not answer.
        assert phase(cluster, "quick") == "Running"
        assert renewed(cluster, ONE) == first
        assert condition(pod(cluster, "patient"), "Ready") == "False"
        assert "deletionTimestamp" not in pod(cluster, "patient")["metadata"]
    until("it is renewed", lambda: renewed(cluster, ONE) != first)
    until("Ready is true", lambda: ready(cluster, ONE) == "True")
    until("the evicted pod is gone", lambda: names(cluster) == {"patient"})
    until("no taint is left", lambda: seen(cluster)["taints"] == [])
    until("it answers", lambda: tried(cluster, "logs", "patient").startswith("line "))


def is_renewed(cluster: Installed, name: str) -> None:
    """Wait until the Lease of a node is renewed."""
    last = renewed(cluster, name)
    until(f"{name} is renewed", lambda: renewed(cluster, name) != last)


def renewed(cluster: Installed, name: str) -> str:
    """Return when the Lease of a node was renewed last."""
    return str(cluster.found("lease", name, "-n", "kube-node-lease")["spec"]["renewTime"])


def test_the_controller_manager_evicts_from_a_node_that_is_not_ready(cluster: Installed) -> None:
    not_ready = {
        "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
        "tolerationSeconds": 1,
    }  # fmt: skip
    run(cluster, "quick", tolerations=[not_ready], terminationGracePeriodSeconds=1)
    run(cluster, "patient")
    before = untimed(seen(cluster))
    with broken(cluster, "not-ready"):
        assert ready(cluster, ONE) == "False"
        until("it is evicted", lambda: names(cluster) == {"patient"})
        # Its kubelet answers, so the other pod is said to be ready again.
    until("it is ready", lambda: condition(pod(cluster, "patient"), "Ready") == "True")
    until("the node is as before", lambda: untimed(seen(cluster)) == before)


JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train"},
    "spec": {
        "backoffLimit": 3,
        "template": {
            "metadata": {"annotations": {"kwokctl.dev/program": "run=forever"}},
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "x", "image": "x", "resources": {"limits": {GPU: "8"}}}],
            },
        },
    },
}


def test_a_job_runs_a_failed_pod_again_on_another_node(cluster: Installed) -> None:
    cluster.create(JOB)

    def nodes(wanted: str) -> list[str]:
        pods = cluster.objects("pods")
        return [each["spec"]["nodeName"] for each in pods if each["status"].get("phase") == wanted]

    until("it runs", lambda: nodes("Running"))
    (hit,) = nodes("Running")
    with broken(cluster, "xid-79", "--dialect", "device-plugin", "--set", "gpu=0", node=hit):
        until("it runs again", lambda: nodes("Failed") and nodes("Running"))
        (elsewhere,) = nodes("Running")
        assert elsewhere != hit
        assert nodes("Failed") == [hit]
        until("it is counted", lambda: cluster.found("jobs", "train")["status"].get("failed") == 1)


def test_pods_of_a_node_that_is_deleted_go_and_the_next_of_its_name_is_healthy(
    cluster: Installed,
) -> None:
    run(cluster, "orphan", on=THREE)
    node = cluster.found("nodes", THREE)
    fresh = {"metadata": {key: node["metadata"][key] for key in ("name", "labels", "annotations")}}
    with broken(cluster, "silent", node=THREE) as name:
        cluster.delete("node", THREE)
        until("it is collected", lambda: not names(cluster))
        body = {"apiVersion": "v1", "kind": "Node", **fresh, "status": node["status"]}
        cluster.create(body)
        # It is another machine of the same name, and the fault was that of the first.
        until("it is ready", lambda: ready(cluster, THREE) == "True")
        assert "kwokctl.dev/open-faults" not in seen(cluster, THREE)["annotations"]
        (report,) = json.loads(cluster.ok("fault", "status", name, "-o", "json"))
        assert report["units"] == 1
