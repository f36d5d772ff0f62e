"""How many pods of a Job or JobSet train together, and which of its annotations do nothing."""

import asyncio
from random import Random
from typing import Any, cast

import msgspec
import pytest

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.training.holder_watch import _SHAPES, HolderWatch
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.fleet.gangs import JOB_SETS, JOBS
from kwokctl.kube.client import Client
from kwokctl.kube.resource import JOBS as JOBS_RESOURCE
from kwokctl.tasks import beside
from kwokctl.training.plan import STEP_TIME, STEPS
from kwokctl.training.preflight import PREFLIGHT
from tests.support.fake_cluster import FakeCluster
from tests.support.faults import NOON


def job(*, annotation: str = STEPS, **spec: int) -> dict[str, Any]:
    return {**spec, "template": {"metadata": {"annotations": {annotation: "10"}}, "spec": {}}}


def size(kind: str, spec: dict[str, Any]) -> int:
    found = {"metadata": {"name": "j", "namespace": "ns", "uid": "u"}, "spec": spec}
    return msgspec.json.decode(msgspec.json.encode(found), type=_SHAPES[kind]).size


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (job(parallelism=4, completions=4), 4),
        (job(parallelism=4, completions=3), 3),
        (job(parallelism=4), 4),
        (job(annotation=PREFLIGHT, parallelism=4), 4),
        (job(annotation="other", parallelism=4), 0),
        ({"parallelism": 4}, 0),
    ],
)
def test_a_job_trains_with_the_pods_that_it_runs_at_once(
    spec: dict[str, Any], expected: int
) -> None:
    assert size(JOBS, spec) == expected


def test_a_job_set_trains_with_the_pods_of_all_jobs_that_train() -> None:
    workers = {"name": "workers", "replicas": 2, "template": {"spec": job(parallelism=4)}}
    driver = {"name": "driver", "template": {"spec": {"parallelism": 1}}}
    assert size(JOB_SETS, {"replicatedJobs": [workers, driver]}) == 8


def warned(*seen: dict[str, Any], kind: str = JOBS, is_mine: bool = True) -> list[str]:
    """Return the warnings about Jobs, or objects of another kind, that are seen one after the other."""
    told = list[str]()

    async def record(event: ObjectEvent) -> None:
        told.append(f"{event.reason} {event.about}: {event.message}")

    async def see() -> None:
        cluster = FakeCluster()
        context = ControllerContext(
            plane=cluster, reader=cluster, random=Random(1), wall=lambda: NOON,
            faults=OpenFaults(FaultClock(lambda: NOON)),
        )  # fmt: skip
        watch = HolderWatch(cast("Client", None), context, lambda: is_mine)
        watch.resources[kind] = JOBS_RESOURCE
        for each in seen:
            watch._note(kind, msgspec.convert(each, _SHAPES[kind]), is_gone=False)
        async with beside(context.warnings.run(record)):
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    asyncio.run(see())
    return told


def annotated(spec: dict[str, Any], *names: str, uid: str = "u") -> dict[str, Any]:
    meta = {
        "name": "j", "namespace": "ns", "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z",
        "annotations": dict.fromkeys(names, "10"),
    }  # fmt: skip
    return {"metadata": meta, "spec": spec}


def test_annotations_that_only_the_job_has_are_told_once() -> None:
    found = annotated({"parallelism": 4}, STEPS, STEP_TIME)
    words = "write them into the template of the pods"
    assert warned(found, found) == [
        f"IgnoredAnnotations j: no effect here: '{STEP_TIME}', '{STEPS}'; {words}"
    ]
    some = annotated(job(parallelism=4), STEPS, PREFLIGHT)
    assert warned(some) == [f"IgnoredAnnotations j: no effect here: '{PREFLIGHT}'; {words}"]
    assert len(warned(found, annotated({}, STEPS, uid="v"))) == 2
    assert warned(found, is_mine=False) == []


def test_annotations_that_pods_have_as_well_and_others_are_no_mistake() -> None:
    assert warned(annotated(job(parallelism=4), STEPS, "kwokctl.dev/training", "a")) == []
    workers = {"name": "workers", "replicas": 2, "template": {"spec": job(parallelism=4)}}
    found = annotated({"replicatedJobs": [workers]}, STEPS, STEP_TIME)
    assert [each.partition(";")[0] for each in warned(found, kind=JOB_SETS)] == [
        f"IgnoredAnnotations j: no effect here: '{STEP_TIME}'"
    ]
