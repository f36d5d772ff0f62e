"""Reads from a pod which training it is a rank of, and what it does in it. Pure."""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

from kwokctl.expr.duration import parse_time
from kwokctl.fleet.gangs import JOB_SET_LABEL, JOB_SETS, JOBS
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.training.check_times import CheckTime
from kwokctl.training.pace import paces_in
from kwokctl.training.training_course import Rank


class HolderKey(NamedTuple):
    """The object whose annotation has the state of a training."""

    kind: str
    """`jobs.batch` or `jobsets.jobset.x-k8s.io`."""
    namespace: str
    name: str


def holder_of(meta: Mapping[str, Any]) -> HolderKey | None:
    """Return the object that keeps the state of a pod's training; None if there is none that can.

    It is the JobSet, if there is one: it deletes its Jobs and makes others with the same names when it starts anew.
    """
    if job_set := (meta.get("labels") or {}).get(JOB_SET_LABEL):
        return HolderKey(JOB_SETS, meta["namespace"], job_set)
    job = _job_of(meta)
    return None if job is None else HolderKey(JOBS, meta["namespace"], job["name"])


def holder_uid_of(meta: Mapping[str, Any]) -> str:
    """Return the uid of that object; empty for a JobSet, whose pods do not say it."""
    job = None if (meta.get("labels") or {}).get(JOB_SET_LABEL) else _job_of(meta)
    return "" if job is None else str(job.get("uid") or "")


def _job_of(meta: Mapping[str, Any]) -> Mapping[str, Any] | None:
    owners = meta.get("ownerReferences") or ()
    return next((e for e in owners if e.get("controller") and e.get("kind") == "Job"), None)


def rank_of(pod: ObjectInJson) -> Rank:
    """Return what a pod does in its training: that is what its first container does."""
    meta, status = pod["metadata"], pod.get("status") or {}
    name = pod["spec"]["containers"][0]["name"]
    found = (each for each in status.get("containerStatuses") or () if each.get("name") == name)
    rank = _of_container(next(found, {}))
    if status.get("phase") == "Failed" and rank.has_succeeded:
        rank = Rank(started=rank.started, ended=rank.ended)
    if rank.is_running and (deleted := meta.get("deletionTimestamp")):
        told = parse_time(deleted) - float(meta.get("deletionGracePeriodSeconds") or 0)
        rank = Rank(started=rank.started, ended=told)
    pace = paces_in(meta).get(name)
    if pace is None or rank.started is None or pace.run != int(rank.started):
        return rank
    return Rank(
        started=rank.started,
        ended=rank.ended,
        is_running=rank.is_running,
        has_succeeded=rank.has_succeeded,
        speed=pace.speed,
        paced=pace.since,
    )


def checks_of(pod: ObjectInJson) -> dict[str, tuple[CheckTime, ...]]:
    """Return when the init containers of a pod ran, this time and the time before, by their names."""
    return {
        each["name"]: times
        for each in (pod.get("status") or {}).get("initContainerStatuses") or ()
        if (times := tuple(_times(each)))
    }


def _times(status: Mapping[str, Json]) -> Iterator[CheckTime]:
    for state in (status.get("lastState") or {}, status.get("state") or {}):
        over = state.get("terminated") or {}
        if started := (state.get("running") or over).get("startedAt"):
            end = _end(over) if over.get("exitCode") else None
            yield CheckTime(parse_time(started), inf if end is None else end)


def _of_container(status: Mapping[str, Json]) -> Rank:
    state, last = status.get("state") or {}, status.get("lastState") or {}
    if running := state.get("running"):
        before = last.get("terminated") or {}
        return Rank(started=parse_time(running["startedAt"]), ended=_end(before), is_running=True)
    over = state.get("terminated") or last.get("terminated") or {}
    started = over.get("startedAt")
    return Rank(
        started=parse_time(started) if started else None,
        ended=_end(over),
        has_succeeded=over.get("exitCode") == 0,
    )


def _end(terminated: Mapping[str, Json]) -> float | None:
    finished = terminated.get("finishedAt")
    return parse_time(finished) if finished else None
