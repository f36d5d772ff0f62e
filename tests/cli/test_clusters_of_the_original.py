"""Clusters that the Go kwokctl has made in the same work folder: they are named, and left alone."""

import json
from pathlib import Path

import pytest

from kwokctl.cli.main import run
from tests.cli.conftest import Kwokctl

SAVED = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlConfiguration
components:
- args:
  - --name=node0
  binary: /home/me/.kwok/clusters/go/bin/etcd
  name: etcd
  ports:
  - hostPort: 32765
    name: http
    port: 32765
  workDir: /home/me/.kwok/clusters/go
metadata:
  name: go
options:
  etcdPort: 32765
  etcdVersion: 3.5.21
  kubeApiserverPort: 32764
  kubeVersion: v1.33.0
  runtime: binary
status:
  version: v0.7.0
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: node-initialize
"""
"""Such a cluster as kwok writes it (`pkg/kwokctl/runtime/cluster.go`, `Save`)."""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Save a cluster as the original does."""
    file = tmp_path / "kwok" / "clusters" / "go" / "kwok.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(SAVED)
    return file


def test_a_cluster_of_the_original_is_listed_with_its_maker(kwokctl: Kwokctl, state: Path) -> None:
    (found,) = json.loads(kwokctl("get", "clusters", "-o", "json").stdout)
    assert found["name"] == "go"
    assert (found["runtime"], found["kubeVersion"]) == ("binary", "v1.33.0")
    assert found["message"] == "made by the original kwokctl v0.7.0"


@pytest.mark.parametrize(
    "words",
    [
        "create cluster",
        "start cluster",
        "stop cluster",
        "delete cluster",
        "get components",
        "get kubeconfig",
        "env",
        "logs etcd",
        "export logs",
        "port-forward etcd 0:http",
        "kubectl get nodes",
        "etcdctl get x",
        "etcdutl version",
        "scale node --replicas 1",
        "snapshot save --path x.db",
    ],
)
def test_every_other_command_refuses_it_in_a_sentence_and_changes_nothing(
    state: Path,
    words: str,
    environ: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    assert run(["--name", "go", *words.split()]) == 1

    done = capfd.readouterr()
    assert done.out == ""
    assert done.err.startswith("error: the cluster 'go' was made by the original kwokctl\nhint: ")
    assert state.read_text() == SAVED
    assert [file.name for file in state.parent.iterdir()] == ["kwok.yaml"]
