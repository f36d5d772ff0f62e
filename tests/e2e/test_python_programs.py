"""Python programs, tests and other languages use a cluster without the command."""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kwokctl import Cluster
from kwokctl.errors import TimedOutError
from kwokctl.json_value import Json

pytestmark = [pytest.mark.e2e, pytest.mark.components]
EXAMPLES = Path(__file__).parents[2] / "examples"
WEB: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "new"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web"}]},
        },
    },
}
NAMESPACE: Json = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="kwokctl-e2e-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(programs: None, folder: Path) -> Iterator[Cluster]:
    with Cluster.create("door", workdir=folder, nodes=2, etcd_fsync="off") as made:
        yield made


def _changed(cluster: Cluster, mark: str) -> list[str]:
    return [each.key for each in cluster.changes(mark) if each.key.startswith("deployments/")]


def test_a_program_changes_a_cluster_and_takes_it_back(cluster: Cluster) -> None:
    cluster.mark("empty", rest=0.5)

    cluster.apply([WEB, NAMESPACE])
    [web] = cluster.wait_for("deployment/web", "Available", namespace="new")
    pods = cluster.wait_for("pods", "Ready", namespace="new", selector="app=web", count=3)

    assert web["status"]["availableReplicas"] == len(pods) == 3
    assert _changed(cluster, "empty") == ["deployments/new/web"]
    cluster.rewind("empty")
    assert _changed(cluster, "empty") == []
    assert cluster.find("deployments", namespace=None) == []
    with pytest.raises(TimedOutError, match="'namespace/new' does not exist"):
        cluster.wait_for("namespace/new", timeout=10.0)
    cluster.drop("empty")


@contextmanager
def _kwokctl(folder: Path, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a command meanwhile; where the test fails, it does not wait for its end."""
    command = [sys.executable, "-m", "kwokctl", "--name", "door", *words]
    environment = os.environ | {"KWOK_WORKDIR": str(folder)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            yield running
        except BaseException:
            running.kill()
            raise


class Connection(http.client.HTTPConnection):
    """HTTP to a unix socket."""

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


def _asked(path: str, what: str, **body: Any) -> Any:
    connection = Connection(path)
    connection.request("POST", what, json.dumps(body))
    response = connection.getresponse()
    assert response.status == 200
    found = json.loads(response.read())
    connection.close()
    return found


def test_a_program_in_any_language_does_so_over_a_socket(cluster: Cluster, folder: Path) -> None:
    with _kwokctl(folder, "snapshot", "serve") as serving:
        assert serving.stdout is not None
        path = serving.stdout.readline().split(" at ")[1].strip()

        assert _asked(path, "/mark", name="here")["name"] == "here"
        cluster.apply(NAMESPACE | {"metadata": {"name": "other"}})
        assert _asked(path, "/rewind")["mark"] == "here"
        assert _asked(path, "/drop", all=True) == {"dropped": ["here"]}
        serving.terminate()

    assert "other" not in [each["metadata"]["name"] for each in cluster.find("namespaces")]
    assert not Path(path).exists()


def test_a_cluster_begins_with_a_snapshot_file(cluster: Cluster, folder: Path) -> None:
    file = folder / "door.db"
    with _kwokctl(folder, "snapshot", "save", "--path", str(file)) as saving:
        assert saving.wait(60) == 0
    words = ("create", "cluster", "--from", str(file), "--count", "1", "--etcd-fsync", "off")
    with _kwokctl(folder, "--name", "seeded", *words, "--wait=180s", "--kubeconfig=") as creating:
        said = creating.communicate(timeout=200)[1]
        assert creating.returncode == 0, said
    assert "does not serve" not in said

    seeded = Cluster.open("seeded-1", workdir=folder)
    try:
        nodes = seeded.wait_for("nodes", "Ready", namespace=None, count=2)
        service = seeded.get("service/kubernetes")
        ports = {node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] for node in nodes}
        text = (folder / "clusters" / "seeded-1" / "kubeconfig.yaml").read_text()
        assert f":{service['spec']['ports'][0]['targetPort']}" in text
        assert ports != {
            node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
            for node in cluster.find("nodes")
        }
        seeded.apply([WEB, NAMESPACE])
        seeded.wait_for("deployment/web", "Available", namespace="new", timeout=60)
    finally:
        seeded.delete()


def _example(name: str, folder: Path) -> Path:
    return shutil.copytree(
        EXAMPLES / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
    )


def _pytest(project: Path, *words: str) -> str:
    """Run a project in the cluster that is there; return what pytest says."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        env=os.environ | {"KWOK_WORKDIR": str(project.parent)},
        cwd=project,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    return done.stdout + done.stderr


def test_the_example_runs_and_a_failure_shows_what_was_there(
    cluster: Cluster, folder: Path
) -> None:
    project = _example("pytest", folder)
    fails = "def test_fails(kwok):\n    kwok.apply('widgets.yaml')\n    kwok.scale('node', 4)\n    assert 0\n"
    (project / "test_failing.py").write_text(fails)

    said = _pytest(project, "--kwok-cluster", "door", "-k", "[0] or [1] or fails")

    assert "1 failed, 2 passed" in said, said
    assert "kwok: objects changed by the test" in said
    assert re.search("^created nodes/node-00000", said, re.MULTILINE)
    assert cluster.marks() == []
    assert len(cluster.find("nodes")) == 2


def test_an_operator_with_webhooks_is_tested_and_a_rewind_does_not_confuse_it(
    cluster: Cluster, folder: Path
) -> None:
    said = _pytest(_example("operator", folder), "--kwok-cluster", "door")

    assert "7 passed" in said, said
    assert cluster.marks() == []
    assert cluster.find("validatingwebhookconfigurations") == []
    assert not [each for each in cluster.find("crds") if "shelves" in each["metadata"]["name"]]
