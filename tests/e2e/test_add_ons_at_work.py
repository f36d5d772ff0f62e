"""The add-ons that come with kwokctl, in one cluster of fake nodes: each does there what it is for.

Their programs are large: a test is skipped unless its programs are in the store. `make addons` builds
them first.
"""

import os
import re
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.installed import Installed, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

ADD_ONS = ("kube-state-metrics", "descheduler", "jobset", "lws", "scheduler-plugins")
NODES = 6

JOB_SET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
  - name: workers
    replicas: 2
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          spec:
            restartPolicy: Never
            containers: [{name: work, image: busybox}]
"""

GROUPS = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serve}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 4
    workerTemplate:
      spec: {containers: [{name: work, image: busybox}]}
"""

POD_GROUP = """\
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: together}
spec: {minMember: 3}
"""


@pytest.fixture(scope="module")
def available(installed: Installed) -> list[str]:
    """Return the add-ons whose programs are in the store; all are built first if that is wanted."""
    if os.environ.get("KWOKCTL_TEST_ADD_ONS"):
        for name in ADD_ONS:
            installed.ok("artifacts", "pull", "--enable", name, timeout=3000)
        return list(ADD_ONS)
    return [name for name in ADD_ONS if _is_stored(installed, name)]


@pytest.fixture(scope="module")
def shared(installed: Installed, available: list[str]) -> Iterator[Installed]:
    """Share a cluster with all the add-ons that there are."""
    if not available:
        pytest.skip("no program of an add-on is in the store: 'make addons' builds them")
    installed.ok(
        "create", "cluster", "--enable", ",".join(available), "--artifact-source", "offline",
        "--etcd-fsync", "off", "--nodes", str(NODES), "--wait",
    )  # fmt: skip
    until("the account for pods is there", lambda: installed.objects("serviceaccounts"))
    yield installed
    installed.ok("delete", "cluster")


@pytest.fixture
def cluster(shared: Installed, available: list[str], name: str) -> Installed:
    """Give a test the cluster, if its add-on is there."""
    if name not in available:
        pytest.skip(f"the programs of {name} are not in the store: 'make addons' builds them")
    return shared


def _is_stored(installed: Installed, name: str) -> bool:
    answer = installed.run("artifacts", "pull", "--enable", name, "--dry-run")
    return "All programs are there" in answer.out


def applied(cluster: Installed, text: str) -> None:
    cluster.kubectl("apply", "-f", "-", stdin=text)


def phases(cluster: Installed, selector: str) -> list[str]:
    return [pod["status"]["phase"] for pod in cluster.objects("pods", "-l", selector)]


def until_gone(cluster: Installed, selector: str) -> None:
    until("its pods are gone", lambda: not cluster.objects("pods", "-l", selector))


def conditions(body: dict[str, Any]) -> dict[str, str]:
    return {each["type"]: each["status"] for each in body.get("status", {}).get("conditions", [])}


@pytest.mark.parametrize("name", ["kube-state-metrics"])
def test_kube_state_metrics_has_the_metrics_of_each_fake_node(
    cluster: Installed, name: str
) -> None:
    port = cluster.components()["kube-state-metrics"]["ports"][0]["hostPort"]
    names = {node["metadata"]["name"] for node in cluster.objects("nodes")}

    def measured() -> set[str]:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as page:
            return set(
                re.findall(r'^kube_node_info\{node="([^"]+)"', page.read().decode(), re.MULTILINE)
            )

    assert len(names) == NODES
    until("there is a kube_node_info for each node", lambda: measured() == names)


@pytest.mark.parametrize("name", ["descheduler"])
def test_the_descheduler_evicts_pods_from_a_node_that_has_got_a_taint(
    cluster: Installed, name: str
) -> None:
    cluster.kubectl("create", "deployment", "web", "--image", "busybox", f"--replicas={2 * NODES}")
    cluster.kubectl("rollout", "status", "deployment/web")
    node = cluster.objects("pods", "-l", "app=web")[0]["spec"]["nodeName"]

    cluster.kubectl("taint", "node", node, "left=now:NoSchedule")

    def is_empty() -> bool:
        pods = cluster.objects("pods", "-l", "app=web")
        return all(pod["spec"].get("nodeName") not in {node, None} for pod in pods)

    until("no pod is on the node, and all have another", is_empty)
    cluster.kubectl("rollout", "status", "deployment/web")
    cluster.kubectl("taint", "node", node, "left-")
    cluster.kubectl("delete", "deployment", "web")
    until_gone(cluster, "app=web")


@pytest.mark.parametrize("name", ["descheduler"])
def test_the_descheduler_evicts_pods_from_a_node_that_the_cloud_takes_back(
    cluster: Installed, name: str
) -> None:
    cluster.kubectl("create", "deployment", "web", "--image", "busybox", f"--replicas={2 * NODES}")
    cluster.kubectl("rollout", "status", "deployment/web")
    node = cluster.objects("pods", "-l", "app=web")[0]["spec"]["nodeName"]

    cluster.ok(
        "fault", "inject", "spot-reclaim", "--node", node, "--dialect", "gke", "--id", "taken"
    )

    def is_empty() -> bool:
        pods = cluster.objects("pods", "-l", "app=web")
        return all(pod["spec"].get("nodeName") not in {node, None} for pod in pods)

    until("no pod is on the node, and all have another", is_empty)
    cluster.ok("fault", "clear", "taken", "--wait")
    until("the taint is gone", lambda: not cluster.found("node", node)["spec"].get("taints"))
    cluster.kubectl("delete", "deployment", "web")
    until_gone(cluster, "app=web")


@pytest.mark.parametrize("name", ["jobset"])
def test_a_job_set_starts_anew_when_a_fault_has_failed_a_pod(cluster: Installed, name: str) -> None:
    body = JOB_SET.replace("name: train", "name: broken").replace(
        "spec:\n  replicatedJobs", "spec:\n  failurePolicy: {maxRestarts: 3}\n  replicatedJobs"
    )
    body = body.replace("completions: 2\n", "completions: 2\n        backoffLimit: 0\n")
    lives = "{kwokctl.dev/life: kubelet, kwokctl.dev/program: run=10m}"
    body = body.replace(
        "        template:\n          spec:\n            restartPolicy",
        f"        template:\n          metadata: {{annotations: {lives}}}\n"
        "          spec:\n            restartPolicy",
    )
    selector = "jobset.sigs.k8s.io/jobset-name=broken"
    applied(cluster, body)
    until("all pods run", lambda: phases(cluster, selector) == ["Running"] * 4)
    before = {pod["metadata"]["uid"] for pod in cluster.objects("pods", "-l", selector)}
    (node,) = {cluster.objects("pods", "-l", selector)[0]["spec"]["nodeName"]}

    cluster.ok("fault", "inject", "app-failed", "--node", node, "--id", "failing", "-l", selector)
    until("it was started anew", lambda: cluster.found("jobset", "broken")["status"]["restarts"])
    cluster.ok("fault", "clear", "failing")

    until("all pods run again", lambda: phases(cluster, selector) == ["Running"] * 4)
    after = {pod["metadata"]["uid"] for pod in cluster.objects("pods", "-l", selector)}
    assert not before & after
    cluster.kubectl("delete", "jobset", "broken")
    until_gone(cluster, selector)


@pytest.mark.parametrize("name", ["jobset"])
def test_the_jobs_of_a_job_set_run_and_complete_on_fake_nodes(
    cluster: Installed, name: str
) -> None:
    applied(cluster, JOB_SET)
    cluster.kubectl("wait", "--for=condition=Completed", "jobset/train", "--timeout=120s")

    assert phases(cluster, "jobset.sigs.k8s.io/jobset-name=train") == ["Succeeded"] * 4
    cluster.kubectl("delete", "jobset", "train")


@pytest.mark.parametrize("name", ["jobset"])
def test_the_webhook_of_job_sets_refuses_what_is_wrong(cluster: Installed, name: str) -> None:
    wrong = JOB_SET.replace("name: workers", f"name: {'w' * 60}")
    with pytest.raises(AssertionError, match="JobSet name is too long"):
        applied(cluster, wrong)


@pytest.mark.parametrize("name", ["lws"])
def test_two_groups_of_a_leader_and_three_workers_run(cluster: Installed, name: str) -> None:
    applied(cluster, GROUPS)
    cluster.kubectl("wait", "--for=condition=Available", "lws/serve", "--timeout=120s")

    selector = "leaderworkerset.sigs.k8s.io/name=serve"
    assert phases(cluster, selector) == ["Running"] * 8
    cluster.kubectl("delete", "lws", "serve")
    until_gone(cluster, selector)


@pytest.mark.parametrize("name", ["scheduler-plugins"])
def test_the_pods_of_a_group_wait_until_all_of_them_are_there(
    cluster: Installed, name: str
) -> None:
    applied(cluster, POD_GROUP)
    label = "scheduling.x-k8s.io/pod-group=together"

    def start(pod: str) -> None:
        cluster.kubectl("run", pod, "--image", "busybox", "--labels", label)

    for pod in ("first", "second"):
        start(pod)

    def all_refused() -> bool:
        pods = cluster.objects("pods", "-l", label)
        return [conditions(pod).get("PodScheduled") for pod in pods] == ["False"] * 2

    until("the scheduler has looked at both", all_refused)
    start("third")

    until("all of them run", lambda: phases(cluster, label) == ["Running"] * 3)
    cluster.kubectl("delete", "pod", "first", "second", "third")
    cluster.kubectl("delete", "podgroup", "together")
