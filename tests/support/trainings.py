"""Gangs of a real cluster that train, and what their Jobs say of it."""

from typing import Any

from kwokctl.fleet.devices import GPU
from kwokctl.training.plan import (
    CHECKPOINT_COST,
    CHECKPOINT_EVERY,
    RESTART_COST,
    STEP_TIME,
    STEPS,
    TrainingPlan,
)
from kwokctl.training.state import TrainingState, state_in
from tests.support.installed import Installed, until

LONG = TrainingPlan(
    steps=100_000, step_time=0.1, checkpoint_every=20, checkpoint_cost=0.5, restart_cost=2
)
"""A training that lasts hours: what a test waits for comes before its end, however slow the machine is."""


def annotations_of(plan: TrainingPlan) -> dict[str, str]:
    """Return the annotations of pods that say a training."""
    return {
        STEPS: str(plan.steps),
        STEP_TIME: f"{plan.step_time}s",
        CHECKPOINT_EVERY: str(plan.checkpoint_every),
        CHECKPOINT_COST: f"{plan.checkpoint_cost}s",
        RESTART_COST: f"{plan.restart_cost}s",
    }


def gang_job(
    name: str,
    plan: TrainingPlan | None = LONG,
    *,
    pods: int = 4,
    init: str = "",
    **annotations: str,
) -> dict[str, Any]:
    """Return a Job of pods with a whole node each; `init` is the name of an init container."""
    notes = {f"kwokctl.dev/{key.replace('_', '-')}": text for key, text in annotations.items()}
    notes |= {} if plan is None else annotations_of(plan)
    main = {"name": "main", "image": "x", "resources": {"limits": {GPU: "8"}}}
    spec: dict[str, Any] = {"restartPolicy": "Never", "containers": [main]}
    if init:
        spec["initContainers"] = [{"name": init, "image": "x"}]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "completionMode": "Indexed",
            "backoffLimit": 100,
            "template": {"metadata": {"annotations": notes}, "spec": spec},
        },
    }


JOB_SET_KIND = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "jobsets.jobset.x-k8s.io",
        # The API server wants to know that a group of Kubernetes is approved.
        "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
    },
    "spec": {
        "group": "jobset.x-k8s.io",
        "scope": "Namespaced",
        "names": {"kind": "JobSet", "plural": "jobsets", "singular": "jobset"},
        "versions": [
            {
                "name": "v1alpha2", "served": True, "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}  # fmt: skip
"""JobSets without their controller: a test makes the Jobs."""


def job_set(name: str, replicas: int, pods: int) -> dict[str, Any]:
    """Return a JobSet of Jobs that have so many pods each and train together."""
    template = {"spec": gang_job(name, pods=pods)["spec"]}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicatedJobs": [{"name": "workers", "replicas": replicas, "template": template}]
        },
    }


def jobs_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the Jobs that the controller of JobSets makes of one, which the cluster has."""
    meta, made = found["metadata"], []
    label = {"jobset.sigs.k8s.io/jobset-name": meta["name"]}
    owner = {
        "apiVersion": found["apiVersion"], "kind": found["kind"],
        "name": meta["name"], "uid": meta["uid"], "controller": True,
    }  # fmt: skip
    for each in found["spec"]["replicatedJobs"]:
        spec = each["template"]["spec"]
        template = spec["template"]
        labelled = {**template, "metadata": {**template["metadata"], "labels": label}}
        made += [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {
                    "name": f"{meta['name']}-{each['name']}-{number}",
                    "labels": label,
                    "ownerReferences": [owner],
                },
                "spec": {**spec, "template": labelled},
            }
            for number in range(each["replicas"])
        ]
    return made


def training(cluster: Installed, name: str, kind: str = "jobs") -> TrainingState | None:
    """Return what a Job, or an object of another kind, says of its training now; None if it says nothing."""
    return state_in(cluster.found(kind, name)["metadata"].get("annotations") or {})


def has_come_to(
    cluster: Installed, name: str, what: str, *, of: str = "jobs", **fields: object
) -> TrainingState:
    """Wait until the state of a training has these fields, and return it."""
    found: list[TrainingState | None] = [None]

    def has() -> bool:
        state = found[0] = training(cluster, name, of)
        return state is not None and all(
            getattr(state, key) == value for key, value in fields.items()
        )

    try:
        until(what, has)
    except AssertionError as e:
        raise AssertionError(f"{e}: the training is {found[0]}") from None
    assert found[0] is not None
    return found[0]


def pods_of(cluster: Installed, name: str) -> list[dict[str, Any]]:
    """Return the pods of a Job."""
    return cluster.objects("pods", "-l", f"job-name={name}")
