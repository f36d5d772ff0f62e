"""The gangs of a run: the pods that belong together, and how many of them must run at once. Pure.

A pod is of one gang only, the innermost: the one that it names (by a label of the user, an annotation, or
its PodGroup), else its JobSet or the group of its LeaderWorkerSet, else its Job.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kwokctl.fleet.gangs import JOB_SETS, JOBS, LEADER_WORKER_SETS, WORKLOADS
from kwokctl.measure.histories.history import History, PodHistory
from kwokctl.measure.histories.object_history import ObjectHistory

_Key = tuple[str, str]
"""The namespace of a gang, and what its pods say of it."""


class Gang(msgspec.Struct, frozen=True, kw_only=True):
    """One gang."""

    kind: str
    """The kind of its object, as kubectl knows it, or the key of a label or annotation."""
    size: int
    """The number of its pods that must run at once."""
    pods: Sequence[PodHistory]
    owner: ObjectHistory | None
    """Its object, if it has one that was recorded."""
    enders: Sequence[ObjectHistory] = ()
    """The Jobs or the JobSet that say when it is done; without any, its pods do."""
    workload: ObjectHistory | None = None
    """The object with which Kueue admits it."""
    unknown: str = ""
    """Why its size is not known; empty if it is."""

    @property
    def has_own_object(self) -> bool:
        """Whether its object is for this gang alone: a LeaderWorkerSet has one for each of its groups."""
        return self.owner is not None and self.kind != LEADER_WORKER_SETS


def membership(pod: PodHistory, history: History) -> str:
    """Return what a pod says of its gang, `KIND=NAME` or `KIND=NAME:SIZE`; that of a Job has its uid as name."""
    if pod.shape.gang:
        return pod.shape.gang
    return f"{JOBS}={pod.shape.owner_uid}" if pod.shape.owner_uid in history.jobs_by_uid else ""


def kind_of(member: str) -> str:
    """Return the kind in what a pod says of its gang."""
    return member.partition("=")[0]


def gangs_of(
    history: History, pods: Iterable[PodHistory], jobs: Iterable[ObjectHistory]
) -> list[Gang]:
    """Return the gangs of these pods, and those of Jobs and JobSets that have no pods yet."""
    found: dict[_Key, list[PodHistory]] = {}
    for pod in pods:
        if member := membership(pod, history):
            found.setdefault((pod.namespace, member), []).append(pod)
    waiting: dict[_Key, Sequence[PodHistory]] = dict.fromkeys(
        _without_pods(history, found, jobs), ()
    )
    admissions = {
        each.owner_uid: each
        for each in history.gangs.objects.values()
        if each.kind == WORKLOADS and each.owner_uid
    }
    members = [*found.items(), *waiting.items()]
    return [_gang(history, key, of_gang, admissions) for key, of_gang in members]


def _gang(
    history: History, key: _Key, pods: Sequence[PodHistory], admissions: dict[str, ObjectHistory]
) -> Gang:
    namespace, member = key
    kind, _, rest = member.partition("=")
    name, size = sized(rest)
    owner = _owner(history, kind, namespace, name)
    size = (owner.pods if owner else 0) or size
    return Gang(
        kind=kind,
        size=size or len(pods),
        pods=pods,
        owner=owner,
        enders=_enders(history, kind, owner, pods),
        workload=_workload(owner, pods, admissions),
        unknown="" if size else history.header.missing.get(kind, ""),
    )


def sized(rest: str) -> tuple[str, int]:
    """Return the name and the size in `NAME` or `NAME:SIZE`; a size that is not there is 0."""
    name, has_size, size = rest.rpartition(":")
    return (name, int(size)) if has_size and size.isdecimal() else (rest, 0)


def _owner(history: History, kind: str, namespace: str, name: str) -> ObjectHistory | None:
    if kind == JOBS:
        return history.jobs_by_uid.get(name)
    # The name of a LeaderWorkerSet's group is NAME/INDEX.
    return history.gangs.named.get((kind, namespace, name.partition("/")[0]))


def _enders(
    history: History, kind: str, owner: ObjectHistory | None, pods: Sequence[PodHistory]
) -> Sequence[ObjectHistory]:
    """Return its Job or JobSet, or else the Jobs of its pods if all have one."""
    if kind in (JOBS, JOB_SETS):
        return (owner,) if owner else ()
    jobs = [history.jobs_by_uid.get(uid) for uid in {pod.shape.owner_uid: None for pod in pods}]
    known = [job for job in jobs if job is not None]
    return known if len(known) == len(jobs) else ()


def _workload(
    owner: ObjectHistory | None,
    pods: Sequence[PodHistory],
    admissions: dict[str, ObjectHistory],
) -> ObjectHistory | None:
    """Return the object with which Kueue admits a gang: its own, or that of its Job or another owner."""
    if owner is not None and owner.kind == WORKLOADS:
        return owner
    owners = (owner.uid, owner.owner_uid) if owner else ()
    uids = (*owners, *(pod.shape.owner_uid for pod in pods[:1]))
    return next((admissions[uid] for uid in uids if uid in admissions), None)


def _without_pods(
    history: History, found: Iterable[_Key], jobs: Iterable[ObjectHistory]
) -> Iterator[_Key]:
    """Yield the Jobs and JobSets that have no pods yet, and of which no other object makes a gang."""
    known, objects = {*found}, history.gangs.objects.values()
    grouped = {each.owner_uid for each in objects if each.kind != WORKLOADS}
    sets = {each.uid for each in objects if each.kind == JOB_SETS}
    others = grouped.union(pod.shape.owner_uid for pod in history.pods.values())
    for job in jobs:
        if job.uid not in others and job.owner_uid not in sets:
            yield job.namespace, f"{JOBS}={job.uid}"
    if history.header.scope.selector:
        return  # it selects pods and Jobs
    for each in objects:
        key = (each.namespace, f"{JOB_SETS}={each.name}")
        is_new = each.created is not None and key not in known
        if each.kind == JOB_SETS and is_new and history.has_job(each):
            yield key
