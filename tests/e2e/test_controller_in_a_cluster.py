"""The objects of `controller manifest` on a real API server, and the command `kwok` with their rights."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.expr import yaml
from kwokctl.host.certificates.pki import ensure_pki
from kwokctl.model import Identity
from tests.support.changing import documents
from tests.support.helm import helm
from tests.support.installed import Installed, condition, until
from tests.support.ports import free_port

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]
CHART = Path(__file__).parents[2] / "charts" / "kwok"
NODE = """
apiVersion: v1
kind: Node
metadata:
  name: {name}
  annotations: {{kwok.x-k8s.io/node: fake}}
  labels: {{type: kwok}}
spec:
  taints: [{{key: kwok.x-k8s.io/node, value: fake, effect: NoSchedule}}]
"""
POD = """
apiVersion: v1
kind: Pod
metadata:
  name: steered
  labels: {kwok.x-k8s.io/node: fake}
spec:
  containers: [{name: c, image: nginx}]
"""
CRASHING = """
apiVersion: v1
kind: Pod
metadata:
  name: crashing
  annotations: {kwokctl.dev/life: kubelet, kwokctl.dev/program: run=1s exit=1}
spec:
  nodeName: fake-0
  containers: [{name: c, image: nginx}]
"""
LOGS = """
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterLogs
metadata: {name: all}
spec:
  logs: [{logsFile: FILE}]
"""


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Installed:
    """A cluster without a controller of its own, and with the objects of the manifest."""
    installed.ok("create", "cluster", "--wait", "--disable", "kwok-controller")
    manifest = installed.ok("controller", "manifest", "--crds", "--steer-pods", "--replicas=2")
    installed.apply(*documents(manifest))
    return installed


@pytest.fixture(scope="module")
def log(cluster: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Run the command with the token and the configuration that its pod would have; return its log."""
    folder = tmp_path_factory.mktemp("kwok")
    log, access, configuration = (folder / name for name in ("log", "access", "kwok.yaml"))
    token = cluster.kubectl("create", "token", "kwok-controller", "-n", "kwok-system").strip()
    config = yaml.load(cluster.kubeconfig.read_text("utf-8"))
    for user in config["users"]:
        user["user"] = {"token": token}
    access.write_text(yaml.dump(config))
    found = cluster.found("configmap", "kwok-controller", "-n", "kwok-system")
    configuration.write_text(found["data"]["kwok.yaml"])
    certificate, key = signed(cluster, folder / "pki")
    words = [
        sys.executable, "-m", "kwokctl.kwok", f"--kubeconfig={access}", f"--config={configuration}",
        "--node-ip=127.0.0.1", f"--node-port={free_port()}",
        f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}",
    ]  # fmt: skip
    with log.open("w") as out, subprocess.Popen(words, stdout=out, stderr=out) as process:
        yield log
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def signed(cluster: Installed, folder: Path) -> tuple[Path, Path]:
    """Return a certificate of the cluster's authority: its API server verifies those of kubelets."""
    folder.mkdir()
    for name in ("ca.crt", "ca.key"):
        shutil.copy(cluster.workdir / "clusters" / "kwok" / "pki" / name, folder)
    own = Identity(
        name="kwok", common_name="kwok", server=True, client=False, server_names=("127.0.0.1",)
    )
    ensure_pki(folder, [own])
    return folder / "kwok.crt", folder / "kwok.key"


def test_nodes_become_ready_with_the_rights_of_the_manifest(cluster: Installed, log: Path) -> None:
    for name in ("fake-0", "fake-1"):
        cluster.create(*documents(NODE.format(name=name)))

    until(
        "both nodes are Ready",
        lambda: [condition(node, "Ready") for node in cluster.objects("nodes")] == ["True"] * 2,
    )


def test_a_pod_that_is_meant_for_fake_nodes_gets_there(cluster: Installed, log: Path) -> None:
    # A policy counts a moment after it has come.
    tried = ("create", "--dry-run=server", "-f", "-", "-o", "json")
    until("pods are steered", lambda: "nodeSelector" in cluster.kubectl(*tried, stdin=POD))
    cluster.create(*documents(POD))

    until("it runs", lambda: cluster.objects("pods")[0]["status"]["phase"] == "Running")
    [pod] = cluster.objects("pods")
    assert pod["spec"]["nodeName"].startswith("fake-")
    assert pod["spec"]["nodeSelector"] == {"type": "kwok"}


def test_the_api_server_is_answered_as_by_a_kubelet(
    cluster: Installed, log: Path, tmp_path: Path
) -> None:
    lines = tmp_path / "lines"
    lines.write_text("2026-01-01T00:00:00Z stdout F hello\n")

    cluster.create(*documents(LOGS.replace("FILE", str(lines))))

    def lines_of_the_pod() -> str:
        return cluster.run("kubectl", "logs", "steered").out

    until("it has logs", lambda: "hello" in lines_of_the_pod(), patience=60)


def test_a_single_pod_lives_as_on_a_kubelet_and_has_its_events(
    cluster: Installed, log: Path
) -> None:
    cluster.create(*documents(CRASHING))

    def starts() -> int:
        found = cluster.objects("events", "--field-selector=reason=Started")
        return max((each["count"] for each in found), default=0)

    until("its second start is counted", lambda: starts() > 1, patience=60)
    cluster.delete("pod", "crashing")


def test_a_deleted_pod_is_gone_and_no_right_was_missing(cluster: Installed, log: Path) -> None:
    cluster.delete("pod", "steered")

    assert "forbidden" not in log.read_text("utf-8")


def test_helm_installs_the_chart_beside_it_and_removes_it(cluster: Installed) -> None:
    program = helm()

    def run(*words: str | Path) -> None:
        access = ("--kubeconfig", cluster.kubeconfig, "--namespace=second")
        done = subprocess.run(
            [program, *words, *access], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    run("install", "second", CHART, "--create-namespace", "--set=fullnameOverride=second")
    [deployment] = cluster.objects("deployments", "--namespace=second")
    assert deployment["metadata"]["name"] == "second"
    roles = {each["metadata"]["name"] for each in cluster.objects("clusterroles")}
    assert {"kwok-controller", "second"} <= roles

    run("uninstall", "second")
    assert cluster.objects("deployments", "--namespace=second") == []
    assert "second" not in {each["metadata"]["name"] for each in cluster.objects("clusterroles")}
