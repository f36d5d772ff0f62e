"""Reads what a pod says of the gang that it belongs to: the innermost one that it names."""

from collections.abc import Iterator, Mapping

import msgspec

from kwokctl.measure.gangs import (
    GANG_ANNOTATION,
    JOB_SETS,
    LEADER_WORKER_SETS,
    PLUGIN_POD_GROUPS,
    POD_GROUPS,
    VOLCANO_POD_GROUPS,
    WORKLOADS,
)

_PLUGIN_LABEL = "scheduling.x-k8s.io/pod-group"
_KUEUE_LABEL = "kueue.x-k8s.io/pod-group-name"
_JOB_SET_LABEL = "jobset.sigs.k8s.io/jobset-name"
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
    yield PLUGIN_POD_GROUPS, labels.get(_PLUGIN_LABEL, "")
    yield VOLCANO_POD_GROUPS, notes.volcano or notes.volcano_usual
    yield WORKLOADS, _sized(labels.get(_KUEUE_LABEL, ""), notes.kueue_count)
    yield JOB_SETS, labels.get(_JOB_SET_LABEL, "")
    if name := labels.get(_LEADER_WORKER_SET_LABEL):
        group_name = f"{name}/{labels.get(_GROUP_INDEX_LABEL, '')}"
        yield LEADER_WORKER_SETS, _sized(group_name, notes.group_size)


def _sized(name: str, size: str) -> str:
    return f"{name}:{size}" if name and size.isdecimal() else name
