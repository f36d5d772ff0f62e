"""Reads what a pod says of the gang that it belongs to. Pure."""

from collections.abc import Iterator, Mapping

import msgspec

from kwokctl.json_value import Json

JOBS = "jobs.batch"
JOB_SETS = "jobsets.jobset.x-k8s.io"
LEADER_WORKER_SETS = "leaderworkersets.leaderworkerset.x-k8s.io"
POD_GROUPS = "podgroups.scheduling.k8s.io"
PLUGIN_POD_GROUPS = "podgroups.scheduling.x-k8s.io"
VOLCANO_POD_GROUPS = "podgroups.scheduling.volcano.sh"
WORKLOADS = "workloads.kueue.x-k8s.io"
"""Kueue's objects: each says when the Job that owns it is admitted."""
GANG_ANNOTATION = "kwokctl.dev/gang"
"""The annotation of pods whose value is the name of a gang: NAME, or NAME:SIZE."""

PLUGIN_LABEL = "scheduling.x-k8s.io/pod-group"
KUEUE_LABEL = "kueue.x-k8s.io/pod-group-name"
JOB_SET_LABEL = "jobset.sigs.k8s.io/jobset-name"
_LEADER_WORKER_SET_LABEL = "leaderworkerset.sigs.k8s.io/name"
_GROUP_INDEX_LABEL = "leaderworkerset.sigs.k8s.io/group-index"
_ANNOTATIONS = {
    "own": GANG_ANNOTATION,
    "volcano": "scheduling.volcano.sh/group-name",
    "volcano_usual": "scheduling.k8s.io/group-name",
    "kueue_count": "kueue.x-k8s.io/pod-group-total-count",
    "group_size": "leaderworkerset.sigs.k8s.io/size",
}


class GangAnnotations(msgspec.Struct, gc=False, rename=_ANNOTATIONS):
    """The annotations that say something of a gang; others are not decoded."""

    own: str = ""
    volcano: str = ""
    volcano_usual: str = ""
    kueue_count: str = ""
    group_size: str = ""


class SchedulingGroup(msgspec.Struct, gc=False, rename="camel"):
    """The PodGroup of Kubernetes itself in the spec of a pod."""

    pod_group_name: str = ""


_NO_ANNOTATIONS, _NO_GROUP = GangAnnotations(), SchedulingGroup()


def gang_of(
    labels: Mapping[str, str],
    annotations: GangAnnotations | None,
    group: SchedulingGroup | None,
    gang_label: str,
) -> str:
    """Return the gang that a pod names, as `KIND=NAME` or `KIND=NAME:SIZE`; empty if it names none.

    `gang_label` is the key of a label that the user has chosen.
    """
    named = _named(labels, annotations or _NO_ANNOTATIONS, group or _NO_GROUP, gang_label)
    return next((f"{kind}={name}" for kind, name in named if name), "")


def _named(
    labels: Mapping[str, str], notes: GangAnnotations, group: SchedulingGroup, gang_label: str
) -> Iterator[tuple[str, str]]:
    """Yield the kinds of gangs, from the innermost on, and the name that a pod gives."""
    yield gang_label, labels.get(gang_label, "")
    yield GANG_ANNOTATION, notes.own
    yield POD_GROUPS, group.pod_group_name
    yield PLUGIN_POD_GROUPS, labels.get(PLUGIN_LABEL, "")
    yield VOLCANO_POD_GROUPS, notes.volcano or notes.volcano_usual
    yield WORKLOADS, _sized(labels.get(KUEUE_LABEL, ""), notes.kueue_count)
    yield JOB_SETS, labels.get(JOB_SET_LABEL, "")
    if name := labels.get(_LEADER_WORKER_SET_LABEL):
        group_name = f"{name}/{labels.get(_GROUP_INDEX_LABEL, '')}"
        yield LEADER_WORKER_SETS, _sized(group_name, notes.group_size)


def _sized(name: str, size: str) -> str:
    return f"{name}:{size}" if name and size.isdecimal() else name


_OF_FAULTS = (
    GANG_ANNOTATION,
    JOB_SETS,
    POD_GROUPS,
    PLUGIN_POD_GROUPS,
    VOLCANO_POD_GROUPS,
    WORKLOADS,
    LEADER_WORKER_SETS,
)
"""The kinds of gangs whose pods a fault hits together, the first that a pod names."""


def gang_in_faults(pod: Mapping[str, Json]) -> str:
    """Return the gang that a fault of a pod, as JSON, hits as a whole, as `KIND=NAME`; empty if it is of none.

    It may be a larger one than the innermost: all pods of a JobSet work together, whatever schedules them. A pod
    that names none is of the gang of its Job, whose uid is the name then.
    """
    meta = pod["metadata"]
    notes = msgspec.convert(meta.get("annotations") or {}, GangAnnotations)
    group = msgspec.convert(pod["spec"].get("schedulingGroup") or {}, SchedulingGroup)
    named = dict(_named(meta.get("labels") or {}, notes, group, ""))
    for kind in _OF_FAULTS:
        if name := named.get(kind):
            return f"{kind}={without_size(name)}"
    owners = (each for each in meta.get("ownerReferences") or () if each.get("kind") == "Job")
    return next((f"{JOBS}={each['uid']}" for each in owners if each.get("controller")), "")


def without_size(name: str) -> str:
    """Return the name in `NAME:SIZE`."""
    found, has_size, size = name.rpartition(":")
    return found if has_size and size.isdecimal() else name
