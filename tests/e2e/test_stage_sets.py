"""The shipped sets of Stages, and those of a user beside them, played by a real cluster."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.helm import helm
from tests.support.installed import Installed, condition, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]
SETS = "pod-general,pod-chaos,pod-run-to-completion,node-boot,node-chaos,volume-fast"
CREATE = ("create", "cluster", "--wait", "--etcd-fsync", "off", "--disable", "kube-scheduler")
"""Each pod names its node."""
EXAMPLES = Path(__file__).parents[2] / "examples" / "stages"
GENERAL = (
    "pod-create",
    "pod-init-container-running",
    "pod-init-container-completed",
    "pod-ready",
    "pod-complete",
)
FAILS = "pod-container-running-failed.stage.kwok.x-k8s.io"
CRASHING = """
kind: Stage
metadata: {name: crashes}
spec:
  resourceRef: {kind: Pod}
  selector:
    matchLabels: {crashing: "true"}
    matchExpressions:
    - jq: {key: .status.phase, operator: In, values: [Running]}
  weight: 1
  steps:
  - patch: {subresource: status, root: status, template: "phase: Failed"}
"""


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Installed:
    done = installed.run(*CREATE, "--stage", SETS)
    assert done.code == 0, done.err
    assert "Stages: node-boot, node-heartbeat-with-lease, node-chaos, pod-general" in done.err
    until("the account for pods is there", lambda: installed.objects("serviceaccounts"))
    for name in ("node-0", "node-1"):
        apply(installed, node(name))
    return installed


def timing(*stages: str, delay: str = "100ms") -> dict[str, str]:
    """Return annotations that shorten Stages."""
    words = {"delay": delay, "jitter-delay": delay}
    return {f"{s}.stage.kwok.x-k8s.io/{key}": word for s in stages for key, word in words.items()}


def node(name: str) -> dict[str, Any]:
    resources = {"node-device-ready.stage.kwok.x-k8s.io/resources": '{"example.com/gpu": "2"}'}
    boot = timing("node-register", "node-ready", "node-device-ready", "node-not-ready")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": boot | resources},
    }


def pod(name: str, *, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    annotations = timing(*GENERAL, FAILS.partition(".")[0]) | metadata.pop("annotations", {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations, **metadata},
        "spec": {
            "nodeName": "node-0",
            "containers": [{"name": "main", "image": "busybox"}],
            **(spec or {}),
        },
    }


def job(annotations: dict[str, str], *arguments: str) -> dict[str, Any]:
    container = {"name": "main", "image": "busybox", "args": arguments}
    spec = {"restartPolicy": "Never", "nodeName": "node-0", "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job"},
        "spec": {"template": {"metadata": {"annotations": annotations}, "spec": spec}},
    }


def apply(cluster: Installed, *objects: dict[str, Any]) -> None:
    for each in objects:
        cluster.apply(each)


def phase(cluster: Installed, name: str) -> str:
    found = cluster.found("pod", name)
    return str(found["status"].get("phase"))


def test_nodes_boot_step_by_step(cluster: Installed) -> None:
    def booted() -> bool:
        nodes = cluster.objects("nodes")
        return [condition(each, "DevicesReady") for each in nodes] == ["True"] * 2

    until("the devices are ready", booted)

    for each in cluster.objects("nodes"):
        assert condition(each, "Ready") == "True"
        assert each["status"]["allocatable"]["example.com/gpu"] == "2"
        assert each["status"]["phase"] == "Running"


def test_a_pod_goes_through_the_steps_of_a_real_one(cluster: Installed) -> None:
    first = {"initContainers": [{"name": "first", "image": "busybox"}]}
    apply(cluster, pod("initialised", spec=first))

    until("it runs", lambda: phase(cluster, "initialised") == "Running")

    [status] = [
        each["status"]
        for each in cluster.objects("pods")
        if "initialised" in each["metadata"]["name"]
    ]
    assert status["initContainerStatuses"][0]["state"]["terminated"]["reason"] == "Completed"
    assert status["podIP"]
    reasons = {each["reason"] for each in cluster.objects("events")}
    assert "Created" in reasons
    cluster.delete("pod", "initialised", "--wait=true")


def test_a_job_completes_and_a_bare_pod_too_or_fails_at_its_deadline(cluster: Installed) -> None:
    delay = "pod-run-to-completion.stage.kwok.x-k8s.io/delay"
    never = {"restartPolicy": "Never"}
    short = {**never, "activeDeadlineSeconds": 1}
    apply(
        cluster,
        job(timing(*GENERAL)),
        pod("hook", spec=never),
        pod("late", spec=short, annotations={delay: "never"}),
        pod("slow", spec=short, annotations={delay: "10m"}),
    )

    cluster.wait_for("Complete", "job/job")
    until("the bare pod ends", lambda: phase(cluster, "hook") == "Succeeded")
    others = ("late", "slow")
    until("the others fail", lambda: {phase(cluster, each) for each in others} == {"Failed"})
    for each in others:
        late = cluster.found("pod", each)
        assert late["status"]["reason"] == "DeadlineExceeded"


@pytest.fixture(scope="module")
def program() -> Path:
    return helm()


@pytest.mark.network
def test_hooks_and_tests_of_helm_end(cluster: Installed, program: Path, tmp_path: Path) -> None:
    hook, check = job(timing(*GENERAL)), pod("check", spec={"restartPolicy": "Never"})
    hook["metadata"] |= {"name": "hook", "annotations": {"helm.sh/hook": "pre-install"}}
    check["metadata"]["annotations"]["helm.sh/hook"] = "test"
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("{apiVersion: v2, name: hooked, version: 1.0.0}")
    for name, each in (("hook", hook), ("check", check)):
        (tmp_path / "templates" / f"{name}.yaml").write_text(json.dumps(each))
    kubeconfig = cluster.workdir / "clusters" / cluster.name / "kubeconfig.yaml"

    home = {**os.environ, "HOME": str(tmp_path)}

    def run(*words: str | Path) -> str:
        command = (program, "--kubeconfig", kubeconfig, *words, "--timeout", "2m")
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=home)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "deployed" in run("install", "hooked", tmp_path)
    assert "Succeeded" in run("test", "hooked")


def test_what_has_a_label_fails(cluster: Installed) -> None:
    apply(cluster, pod("fragile", labels={FAILS: "true"}))

    until("the pod fails", lambda: phase(cluster, "fragile") == "Failed")
    cluster.label("node", "node-1", "node-not-ready.stage.kwok.x-k8s.io=true")
    until("the node is not Ready", lambda: readiness(cluster, "node-1") == "False")
    cluster.label("node", "node-1", "node-not-ready.stage.kwok.x-k8s.io-")
    cluster.annotate("node", "node-1", "example.com/look=again")
    until("it is Ready again", lambda: readiness(cluster, "node-1") == "True")


def readiness(cluster: Installed, name: str) -> str:
    return condition(cluster.found("node", name), "Ready")


def test_a_claim_gets_a_volume_which_goes_with_it(cluster: Installed) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    apply(cluster, claim)

    def phases(plural: str) -> list[str]:
        return [each["status"].get("phase", "") for each in cluster.objects(plural)]

    until("the claim is bound", lambda: phases("persistentvolumeclaims") == ["Bound"])
    assert "- pvc-provision: " in cluster.ok("stage", "explain", "pvc/data")
    until("the volume is bound", lambda: phases("persistentvolumes") == ["Bound"])
    more = {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}
    cluster.patch("persistentvolumeclaim", "data", "-p", json.dumps(more))

    def sizes() -> list[str]:
        claims, volumes = map(cluster.objects, ("persistentvolumeclaims", "persistentvolumes"))
        return [
            *(each["status"]["capacity"]["storage"] for each in claims),
            *(each["spec"]["capacity"]["storage"] for each in volumes),
        ]

    until("the claim and its volume are larger", lambda: sizes() == ["3Gi", "3Gi"])
    cluster.delete("persistentvolumeclaim", "data", "--wait=true")
    until("the volume is gone", lambda: phases("persistentvolumes") == [])


def test_a_stage_of_the_users_comes_beside_the_usual_ones_and_is_explained(
    installed: Installed,
) -> None:
    own = installed.called("own")
    stage = own.folder / "crashing.yaml"
    stage.write_text(CRASHING)
    done = own.run(*CREATE, "--config", str(stage))
    assert done.code == 0, done.err
    assert "pod-fast, 1 of your own" in done.err
    until("the account for pods is there", lambda: own.objects("serviceaccounts"))

    apply(own, node("node-0"), pod("plain"), pod("crashing", labels={"crashing": "true"}))

    until("one fails", lambda: phase(own, "crashing") == "Failed")
    until("the other runs", lambda: phase(own, "plain") == "Running")
    explained = own.ok("stage", "explain", "pod/plain")
    assert "- crashes: label 'crashing' is not there, and must be 'true'" in explained
    assert "- pod-ready: .status.phase is 'Running', and must be one of Pending" in explained
    again = own.run(*CREATE, "--config", str(stage), "--fail-on-drift")
    assert again.code == 0, again.err
    own.ok("delete", "cluster")


def test_the_examples_for_writers_of_stages_are_played(installed: Installed) -> None:
    examples = installed.called("examples")
    names = ("crash-loop", "slow-start", "failing-device", "sleeping-job")
    configs = [f"--config={EXAMPLES / name}.yaml" for name in names]
    done = examples.run(*CREATE, *configs)
    assert done.code == 0, done.err
    assert "'pod-complete' is left out, because your 'job-sleeps' matches" in done.err
    until("the account for pods is there", lambda: examples.objects("serviceaccounts"))
    soon = {
        f"example.com/{word}": "100ms" for word in ("starts-after", "runs-for", "backs-off-for")
    }
    resources = {"cpu": "8", "memory": "8Gi", "pods": "10", "example.com/gpu": "4"}
    status = {"allocatable": resources, "capacity": resources}
    apply(
        examples,
        node("node-0") | {"status": status},
        job(soon, "1s"),
        pod("crashing", labels={"crashing": "true"}, annotations=soon),
    )

    def restarts() -> int:
        found = examples.found("pod", "crashing")
        return sum(each["restartCount"] for each in found["status"].get("containerStatuses", ()))

    until("it has crashed again and again", lambda: restarts() > 1)
    examples.wait_for("Complete", "job/job")
    examples.label("node", "node-0", "example.com/device=failing")
    until("the device fails", lambda: healthy(examples) == "False")
    examples.label("node", "node-0", "example.com/device-")
    until("it recovers", lambda: healthy(examples) == "True")
    [found] = examples.objects("nodes")
    assert found["status"]["allocatable"]["example.com/gpu"] == "4"
    examples.ok("delete", "cluster")


def healthy(cluster: Installed) -> str:
    [found] = cluster.objects("nodes")
    return condition(found, "DeviceHealthy")
