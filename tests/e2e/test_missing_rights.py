"""A controller whose user lacks rights says which, goes on, and uses them when they come."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.changing import documents
from tests.support.installed import Installed, condition, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]
OURS = "made-by=missing-rights"
READING = (
    ("list,watch,get", "nodes,pods,leases.coordination.k8s.io"),
    ("create,update", "leases.coordination.k8s.io"),
)


@pytest.fixture
def cluster(storage: Installed) -> Iterator[Installed]:
    """The cluster that others share, which knows neither the nodes nor the rights afterwards."""
    yield storage
    storage.delete("nodes", "--all")
    storage.delete("leases", "--all", "--namespace", "kube-node-lease")
    storage.delete("clusterrolebindings,clusterroles", "--selector", OURS)


@pytest.fixture
def log(cluster: Installed, tmp_path: Path) -> Iterator[Path]:
    """Run a controller for a user without rights, and return its log."""
    access, stages, log = (tmp_path / name for name in ("access", "stages.yaml", "log"))
    access.write_text(cluster.ok("get", "kubeconfig", "--user", "kubelet", "--group", "fakes"))
    stages.write_text(Path("templates/stages/node-initialize.yaml").read_text("utf-8"))
    words = ("--kubeconfig", str(access), "--manage-all-nodes", "--config", str(stages))
    with (
        log.open("w") as out,
        subprocess.Popen(
            [sys.executable, "-m", "kwokctl.controller", *words], stdout=out, stderr=out
        ) as process,
    ):
        yield log
        process.send_signal(signal.SIGTERM)


def test_missing_rights_are_named_once_with_the_remedy_and_used_when_they_are_granted(
    cluster: Installed, log: Path
) -> None:
    def says(verb: str, resource: str) -> bool:
        return f"--verb={verb} --resource={resource}'" in log.read_text()

    until("the list is forbidden", lambda: says("list", "nodes"))
    for number, (verbs, resources) in enumerate(READING):
        grant(cluster, f"reading-{number}", verbs, resources)
    for name in ("node-0", "node-1"):
        cluster.create(*documents(node(name)))
    until("the patch is forbidden", lambda: says("patch", "nodes/status"))
    grant(cluster, "writing", "patch", "nodes/status")

    def ready() -> bool:
        return [condition(each, "Ready") for each in cluster.objects("nodes")] == ["True"] * 2

    until("the nodes are Ready", ready)
    text = log.read_text()
    assert text.count("--verb=patch --resource=nodes/status") == 1
    assert text.count("--verb=list --resource=nodes") == 1
    assert "Traceback" not in text


def grant(cluster: Installed, name: str, verbs: str, resources: str) -> None:
    cluster.kubectl("create", "clusterrole", name, f"--verb={verbs}", f"--resource={resources}")
    cluster.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", "--user=kubelet")
    cluster.label(f"clusterrole/{name}", f"clusterrolebinding/{name}", OURS)


def node(name: str) -> str:
    return f'{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "{name}"}}}}'
