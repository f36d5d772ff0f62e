"""Documents for the controller, with the real components: kept, passed on and obeyed."""

import sys
from pathlib import Path

import pytest

from tests.support.changing import documents
from tests.support.installed import Installed, condition, until

pytestmark = [pytest.mark.e2e, pytest.mark.components, pytest.mark.timeout(600, func_only=True)]

DOCUMENTS = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  cidr: 10.77.0.0/16
  manageNodesWithLabelSelector: fleet=ours
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterLogs
metadata: {name: all}
spec: {logs: [{logsFile: all.log}]}
---
kind: KwokctlConfiguration
components:
- name: sleeper
  binary: sh
  args: [-c, 'echo "$WORD"; exec sleep 600']
  envs: [{name: WORD, value: hello}]
  links: [kwok-controller]
"""
NODES = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: default}
---
apiVersion: v1
kind: Node
metadata: {name: theirs}
---
apiVersion: v1
kind: Node
metadata: {name: ours, labels: {fleet: ours}}
---
apiVersion: v1
kind: Pod
metadata: {name: placed, namespace: default}
spec:
  nodeName: ours
  automountServiceAccountToken: false
  containers: [{name: a, image: none}]
"""
CONTROLLER = """\
#!/bin/sh
printf '%s\\n' "$@" > "$0.flags"
exec {python} -P -m kwokctl.kwok "$@"
"""
"""A controller given by the user: our `kwok`, with its flags in a file."""


def test_documents_are_kept_passed_to_the_users_own_controller_and_obeyed(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = installed.folder / "here"
    controller = folder / "controller"
    (folder / "config").mkdir(parents=True)
    (folder / "config" / "kwok.yaml").write_text(DOCUMENTS)
    controller.write_text(CONTROLLER.format(python=sys.executable))
    controller.chmod(0o755)
    monkeypatch.chdir(folder)

    installed.ok(
        "--config", "config", "create", "cluster", "--wait", "--enable-crds", "Exec,Attach",
        "--kwok-controller-binary", "./controller",
        "--components", "etcd,kube-apiserver,kwok-controller",
    )  # fmt: skip

    saved = installed.workdir / "clusters" / installed.name / "kwok.yaml"
    kept = saved.read_text()
    assert "cidr: 10.77.0.0/16" in kept
    assert "podPlayStageParallelism: 4" in kept
    assert f"logsFile: {folder}/all.log" in kept
    flags = Path(f"{controller}.flags").read_text().splitlines()
    assert {f"--config={saved}", "--enable-crds=Exec,Attach"} <= set(flags)
    assert not any(flag.startswith("--manage-") for flag in flags)
    _check_component_of_the_user(installed)

    monkeypatch.chdir("/")
    snapshot = str(folder / "saved.db")
    installed.ok("snapshot", "save", "--path", snapshot)
    installed.ok("stop", "cluster")
    # It starts the cluster.
    installed.ok("snapshot", "restore", "--path", snapshot)
    assert saved.read_text() == kept

    installed.apply(*documents(NODES))
    until("the pod on a managed node runs", lambda: _address(installed).startswith("10.77."))
    ours, theirs = installed.objects("nodes")
    assert condition(ours, "Ready") == "True"
    assert "conditions" not in theirs["status"]
    installed.ok("delete", "cluster")


def _check_component_of_the_user(cluster: Installed) -> None:
    assert cluster.components()["sleeper"]["status"] == "Ready"
    assert "hello\n" in cluster.ok("logs", "sleeper")


def _address(cluster: Installed) -> str:
    [pod] = cluster.objects("pods")
    return str(pod["status"].get("podIP", ""))
