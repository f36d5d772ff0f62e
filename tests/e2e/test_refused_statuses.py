"""What Stages and templates say of a status that the API server refuses, on both data paths."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.changing import documents
from tests.support.data_paths import data_paths
from tests.support.installed import TELLING, Installed, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

STAGES = """\
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: half-a-device}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  weight: 1000
  selector:
    matchLabels: {half: "true"}
    matchExpressions:
    - {key: .status.phase, operator: In, values: [Running]}
  steps:
  - patch:
      subresource: status
      root: status
      template: |
        capacity: {nvidia.com/gpu: "0.5"}
        allocatable: {nvidia.com/gpu: "0.5"}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: whole}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  weight: 1000
  selector:
    matchExpressions:
    - {key: '.metadata.labels["whole"]', operator: Exists}
    - {key: .status.phase, operator: In, values: [Running]}
  steps:
  - patch:
      type: json
      subresource: status
      template: |
        - {op: replace, path: /status, value: {phase: Failed, reason: Whole}}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: nothing}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  weight: 1000
  selector:
    matchExpressions:
    - {key: '.metadata.labels["nothing"]', operator: Exists}
    - {key: .status.phase, operator: In, values: [Running]}
  steps:
  - patch: {type: merge, subresource: status, template: "status: null"}
  - patch: {type: merge, subresource: status, template: "status: {phase: Failed}"}
"""
HALF = """\
apiVersion: v1
kind: Node
metadata: {name: half, labels: {half: "true"}, annotations: {kwok.x-k8s.io/node: fake}}
status: {capacity: {cpu: "4"}, allocatable: {cpu: "4"}}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {NAME: "true"}}
spec: {nodeName: node-000000, containers: [{name: c, image: c}]}
"""
TEMPLATE = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlResource
metadata: {name: counted}
parameters: {}
template: |
  apiVersion: v1
  kind: Node
  metadata: {name: {{ Quote Name }}, annotations: {kwok.x-k8s.io/node: fake}}
  status:
    capacity: {nvidia.com/gpu: {{ Quote (sub (mod (add Index 1) 16) 1) }}}
    allocatable: {cpu: "4"}
"""
"""The first and the last node of thirty are right, and the sixteenth has less than no device."""


@pytest.fixture(scope="module", params=["etcd", "api"])
def cluster(installed: Installed, request: pytest.FixtureRequest) -> Iterator[Installed]:
    cluster = installed.called(request.param)
    stages = installed.folder / "stages.yaml"
    stages.write_text(STAGES)
    words = ("--config", str(stages), "--data-path", request.param, "--etcd-fsync", "off")
    cluster.ok("create", "cluster", "--wait", "--nodes", "1", *words)
    yield cluster
    cluster.ok("delete", "cluster")


def shown(cluster: Installed, kind: str, name: str) -> Any:
    return next(each for each in cluster.objects(kind) if each["metadata"]["name"] == name)


def test_a_node_keeps_its_status_and_can_be_changed(cluster: Installed) -> None:
    cluster.create(*documents(HALF))

    until("the refusal is in the log", lambda: "half-a-device" in log(cluster))

    [line] = [each for each in log(cluster).splitlines() if "half-a-device" in each]
    assert "nvidia.com/gpu" in line
    assert "must be an integer" in line
    cluster.label("node", "half", "a=b")
    assert shown(cluster, "nodes", "half")["status"]["capacity"] == {"cpu": "4"}


def log(cluster: Installed) -> str:
    return cluster.ok("logs", "kwok-controller")


@pytest.mark.parametrize("name", ["whole", "nothing"])
def test_a_pod_whose_status_is_replaced_keeps_its_quality_of_service(
    cluster: Installed, name: str
) -> None:
    cluster.create(*documents(POD.replace("NAME", name)))

    def status() -> Any:
        return shown(cluster, "pods", name)["status"]

    until("the Stage is played", lambda: status().get("phase") == "Failed")
    assert status()["qosClass"] == "BestEffort"


def test_scale_ends_with_the_error_of_a_node_that_is_refused(cluster: Installed) -> None:
    template = cluster.folder / "template.yaml"
    template.write_text(TEMPLATE)

    done = cluster.run(*TELLING, "scale", "counted", "--replicas", "30", "--config", str(template))

    assert done.code != 0
    assert "status.capacity.nvidia.com/gpu" in done.err
    assert "must be greater than or equal to 0" in done.err
    assert data_paths(done.err)[:1] == [cluster.name]
    amounts = [
        each["status"]["capacity"]["nvidia.com/gpu"]
        for each in cluster.objects("nodes", "-l", "kwok.x-k8s.io/kwokctl-scale=counted")
    ]
    assert amounts
    assert all(int(each) >= 0 for each in amounts)
