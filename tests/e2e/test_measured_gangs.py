"""Gangs of a real cluster: Jobs, PodGroups of Kubernetes itself, and objects whose controllers are absent."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.changing import documents
from tests.support.installed import Installed
from tests.support.kinds_of_any_fields import definition
from tests.support.measured_runs import report_in, run_measure

pytestmark = [pytest.mark.components, pytest.mark.e2e]

_EXAMPLE = Path(__file__).parents[2] / "examples/measure/gangs"
_FASTER = {"run=6s": "run=2s", "every: 15s": "every: 8s", "count: 10": "count: 4"}
_NATIVE = "podgroups.scheduling.k8s.io"
_KINDS = (
    ("jobset.x-k8s.io", "v1alpha2", "JobSet"),
    ("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet"),
    ("kueue.x-k8s.io", "v1beta1", "Workload"),
    ("scheduling.x-k8s.io", "v1alpha1", "PodGroup"),
    ("scheduling.volcano.sh", "v1beta1", "PodGroup"),
)
_THREE = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: set}
spec:
  replicatedJobs:
  - {name: leader, replicas: 1, template: {spec: {}}}
  - {name: workers, replicas: 1, template: {spec: {parallelism: 2, completions: 2}}}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: served}
spec: {replicas: 1, leaderWorkerTemplate: {size: 3}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: queued}
spec: {podSets: [{name: main, count: 3}]}
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: plugin}
spec: {minMember: 3}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: volcano}
spec: {minMember: 3}
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: native}
spec: {schedulingPolicy: {basic: {}}}
"""
"""Objects whose gangs need three pods, but for the last one, whose pods are needed all."""
_MEMBERS: dict[str, dict[str, Any]] = {
    "jobsets.jobset.x-k8s.io": {"labels": {"jobset.sigs.k8s.io/jobset-name": "set"}},
    "leaderworkersets.leaderworkerset.x-k8s.io": {
        "labels": {
            "leaderworkerset.sigs.k8s.io/name": "served",
            "leaderworkerset.sigs.k8s.io/group-index": "0",
        }
    },
    "workloads.kueue.x-k8s.io": {"labels": {"kueue.x-k8s.io/pod-group-name": "queued"}},
    "podgroups.scheduling.x-k8s.io": {"labels": {"scheduling.x-k8s.io/pod-group": "plugin"}},
    "podgroups.scheduling.volcano.sh": {"annotations": {"scheduling.k8s.io/group-name": "volcano"}},
    _NATIVE: {"spec": {"schedulingGroup": {"podGroupName": "native"}}},
    "kwokctl.dev/gang": {"annotations": {"kwokctl.dev/gang": "ring"}},
    "example.com/gang": {"labels": {"example.com/gang": "chosen"}},
}
"""By the kind of a gang, how a pod names it."""
_NEED_THREE = 5
"""The number of kinds whose gangs need more pods than there are."""


@pytest.fixture(scope="module")
def cluster(with_schedulers: Installed) -> Installed:
    """Four nodes with eight GPUs."""
    gpus = '.allocatable["nvidia.com/gpu"] = "8"'
    with_schedulers.ok("scale", "node", "gpu", "--replicas=4", "--param", gpus, "--wait")
    return with_schedulers


def value(figures: dict[str, Any], figure: str) -> Any:
    return figures[figure]["value"]


def test_gangs_bound_in_part_go_to_zero_with_the_gangs_of_kubernetes(
    cluster: Installed, tmp_path: Path
) -> None:
    text = (_EXAMPLE / "gangs.yaml").read_text("utf-8")
    for slow, fast in _FASTER.items():
        text = text.replace(slow, fast)
    (tmp_path / "gangs.yaml").write_text(text)
    words = (
        "--load",
        str(tmp_path / "gangs.yaml"),
        "--by",
        "load",
        "--record",
        str(tmp_path / "x.gz"),
    )

    limits = ("--assert-file", str(_EXAMPLE / "limits.yaml"))
    report = report_in(run_measure(cluster, *words, *limits, "-o", "json").out)
    cluster.ok("load", "clear")

    default, native = (report["groups"]["load"][name] for name in ("default", "native"))
    assert value(default, "gangs")["detail"] == {"jobs.batch": 4}
    assert value(native, "gangs")["detail"] == {_NATIVE: 4}
    for figures in (default, native):
        assert value(figures, "gangs.done")["value"] == 4
        assert value(figures, "gangs.jct_from_submission")["count"] == 4
    # A pod of each of two gangs finds a node at once, or the second gang waits until the first has ended.
    first = "gangs.first_bound"
    assert value(default, first)["max"] < value(native, first)["max"]
    assert value(report["figures"], "gangs.queue_free_inter_arrival")["note"].endswith(
        " of 4 nodes for a gang"
    )


def pods() -> str:
    """Return the manifest of two pods of each kind of gang, as JSON."""
    items = []
    for number, fields in enumerate(_MEMBERS.values()):
        spec = {"containers": [{"name": "x", "image": "x"}], **fields.get("spec", {})}
        for index in range(2):
            metadata = {"name": f"pod-{number}-{index}", "labels": fields.get("labels", {}),
                        "annotations": fields.get("annotations", {})}  # fmt: skip
            items.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def test_membership_and_size_are_read_of_every_kind(cluster: Installed, tmp_path: Path) -> None:
    crds = "".join(definition(*each) for each in _KINDS)
    for name, text in (("crds.yaml", crds), ("three.yaml", _THREE), ("pods.json", pods())):
        (tmp_path / name).write_text(text)
    definitions = documents((tmp_path / "crds.yaml").read_text())
    cluster.apply(*definitions)
    cluster.wait_for("Established", *(f"crd/{each['metadata']['name']}" for each in definitions))
    admitted = '{"status": {"conditions": [{"type": "Admitted", "status": "True"}]}}'
    command = (
        f"kubectl apply -f {tmp_path}/three.yaml;"
        f"kubectl patch workloads.kueue.x-k8s.io queued --type=merge -p '{admitted}';"
        f"kubectl apply -f {tmp_path}/pods.json"
    )
    words = ("--gang-label", "example.com/gang", "--by", "gang")
    record = ("--full", "--record", str(tmp_path / "x.gz"))

    out = run_measure(cluster, *words, *record, "-o", "json", "--", "sh", "-ec", command).out
    cluster.delete("pods", "--all", "--wait=false")

    report = json.loads(out)
    assert value(report["figures"], "gangs")["detail"] == dict.fromkeys(_MEMBERS, 1)
    by_kind = report["groups"]["gang"]
    assert {kind: value(by_kind[kind], "gangs.first_bound")["count"] for kind in _MEMBERS} == (
        dict.fromkeys(_MEMBERS, 1)
    )
    whole = [
        kind
        for kind in _MEMBERS
        if value(by_kind[kind], "gangs.scheduling_latency")["kind"] != "missing"
    ]
    assert whole == [*_MEMBERS][_NEED_THREE:]
    assert value(by_kind["workloads.kueue.x-k8s.io"], "gangs.dispatch")["count"] == 1
    assert value(report["figures"], "gangs.most_waiting")["value"] >= _NEED_THREE
    whole_objects = report_in(run_measure(cluster, str(tmp_path / "x.yaml.gz"), "-o", "json").out)
    seen = value(whole_objects["figures"], "gangs")["detail"]
    assert seen == {kind: 1 for kind in _MEMBERS if kind != "example.com/gang"}
