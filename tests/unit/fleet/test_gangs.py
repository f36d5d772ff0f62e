"""Which gang a fault hits together."""

from typing import Any

import pytest

from kwokctl.fleet.gangs import gang_in_faults, without_size

JOB = {"kind": "Job", "uid": "j-1", "controller": True}


def pod(
    annotations: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    owner: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    meta = {
        "annotations": annotations,
        "labels": labels,
        "ownerReferences": [owner] if owner else None,
    }
    return {"metadata": meta, "spec": spec}


NAMED = {"kwokctl.dev/gang": "train:4"}
JOB_SET = {"jobset.sigs.k8s.io/jobset-name": "set"}
POD_GROUP = {"scheduling.x-k8s.io/pod-group": "group"}
WORKLOAD = {"kueue.x-k8s.io/pod-group-name": "work"}
ALL_LABELS = {**JOB_SET, **POD_GROUP, **WORKLOAD}


@pytest.mark.parametrize(
    ("body", "gang"),
    [
        (pod(NAMED, ALL_LABELS, JOB), "kwokctl.dev/gang=train"),
        (pod(None, ALL_LABELS, JOB), "jobsets.jobset.x-k8s.io=set"),
        (pod(None, {**POD_GROUP, **WORKLOAD}, JOB), "podgroups.scheduling.x-k8s.io=group"),
        (pod(None, WORKLOAD, JOB, schedulingGroup={"podGroupName": "own"}), "podgroups.scheduling.k8s.io=own"),
        (pod(None, WORKLOAD, JOB), "workloads.kueue.x-k8s.io=work"),
        (pod(None, None, JOB), "jobs.batch=j-1"),
        (pod(None, None, {**JOB, "controller": False}), ""),
        (pod(None, None, {**JOB, "kind": "ReplicaSet"}), ""),
        (pod(), ""),
    ],
)  # fmt: skip
def test_the_first_gang_that_a_pod_names_counts(body: dict[str, Any], gang: str) -> None:
    assert gang_in_faults(body) == gang


def test_the_size_is_no_part_of_the_name() -> None:
    assert [without_size(each) for each in ("a:4", "a:b", "a", ":4")] == ["a", "a:b", "a", ""]
