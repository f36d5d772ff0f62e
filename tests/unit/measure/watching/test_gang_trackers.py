"""What is read of the objects of gangs, and of the pods that belong to them."""

from itertools import count
from typing import Any

import msgspec
import pytest

from kwokctl.measure.record.gang_lines import GangChange, GangGone, GangSeen
from kwokctl.measure.record.record_lines import Lines, PodShape
from kwokctl.measure.watching.gangs import GANG_KINDS, GangTracker
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.pods import PodTracker

KINDS = {kind.name: kind for kind in GANG_KINDS}
TRUE = {"status": "True"}


class Written:
    """A tracker of one kind, and the lines that it writes."""

    def __init__(self, kind: str) -> None:
        self.lines: list[Lines] = []
        self.tracker = GangTracker(self.lines.append, KINDS[kind], count(1), labels=("app",))

    def see(self, time: int, *, listed: bool = False, **fields: Any) -> None:
        metadata = {
            "name": "a",
            "namespace": "default",
            "uid": "uid-a",
            "labels": {"app": "x", "other": "y"},
            "ownerReferences": [{"kind": "Job", "name": "j", "uid": "uid-of-j"}],
        }
        raw = msgspec.json.encode({"metadata": metadata, **fields})
        self.tracker.see(self.tracker.decode(raw), raw, time, listed=listed)


def conditions(*types: str) -> dict[str, Any]:
    return {"conditions": [{"type": each, "status": "True"} for each in types]}


def template(**spec: int) -> dict[str, Any]:
    return {"template": {"spec": {**spec, "template": {"spec": {}}}}}


JOB_SET = {
    "replicatedJobs": [
        {"name": "leader", "replicas": 1, **template()},
        {"name": "worker", "replicas": 3, **template(parallelism=4, completions=2)},
        {"name": "other", **template(parallelism=5)},
    ]
}
GANG = {"schedulingPolicy": {"gang": {"minCount": 4}}}


@pytest.mark.parametrize(
    ("kind", "spec", "pods"),
    [
        ("jobsets.jobset.x-k8s.io", JOB_SET, 1 + 3 * 2 + 5),
        ("leaderworkersets.leaderworkerset.x-k8s.io", {"replicas": 7, "leaderWorkerTemplate": {"size": 4}}, 4),
        ("leaderworkersets.leaderworkerset.x-k8s.io", {"leaderWorkerTemplate": {}}, 1),
        ("workloads.kueue.x-k8s.io", {"podSets": [{"name": "a", "count": 2}, {"name": "b", "count": 3}]}, 5),
        ("podgroups.scheduling.x-k8s.io", {"minMember": 3, "scheduleTimeoutSeconds": 10}, 3),
        ("podgroups.scheduling.volcano.sh", {"minMember": 6, "queue": "default"}, 6),
        ("podgroups.scheduling.k8s.io", GANG, 4),
        ("podgroups.scheduling.k8s.io", {"schedulingPolicy": {"basic": {}}}, 0),
    ],
)  # fmt: skip
def test_how_many_pods_a_gang_needs_is_read(kind: str, spec: dict[str, Any], pods: int) -> None:
    written = Written(kind)
    written.tracker.begin()
    written.see(5, spec=spec)
    written.see(6, spec=spec)
    written.tracker.gone("uid-a", 7)

    labels = {"app": "x"}
    assert written.lines == [
        GangSeen(5, 1, "uid-a", "default", "a", "uid-of-j", pods, labels, "", False, kind),
        GangGone(7, 1),
    ]


@pytest.mark.parametrize(
    ("kind", "status", "state"),
    [
        ("jobsets.jobset.x-k8s.io", conditions("Completed"), "Complete"),
        ("jobsets.jobset.x-k8s.io", conditions("Failed"), "Failed"),
        ("jobsets.jobset.x-k8s.io", conditions("Suspended"), "Suspended"),
        ("workloads.kueue.x-k8s.io", conditions("QuotaReserved", "Admitted"), "Admitted"),
        ("workloads.kueue.x-k8s.io", conditions("Admitted", "Finished"), "Complete"),
        ("podgroups.scheduling.x-k8s.io", {"phase": "Finished"}, "Complete"),
        ("podgroups.scheduling.x-k8s.io", {"phase": "Failed"}, "Failed"),
        ("podgroups.scheduling.volcano.sh", {"phase": "Completed"}, "Complete"),
    ],
)
def test_the_state_is_written_when_it_changes(
    kind: str, status: dict[str, Any], state: str
) -> None:
    written = Written(kind)
    written.tracker.begin()
    written.see(5, status={"conditions": [{"type": "Admitted", "status": "False"}]})
    written.see(6, status=status)
    written.see(7, status=status)

    assert written.lines[1:] == [GangChange(6, 1, state, 0)]


@pytest.mark.parametrize("kind", KINDS)
def test_objects_that_were_there_before_are_written_as_listed(kind: str) -> None:
    written = Written(kind)
    written.see(1, listed=True)
    written.tracker.begin()

    (line,) = written.lines
    assert isinstance(line, GangSeen)
    assert line.listed


JOB_SET_LABEL = {"jobset.sigs.k8s.io/jobset-name": "s"}
GROUP_LABELS = {
    "leaderworkerset.sigs.k8s.io/name": "l",
    "leaderworkerset.sigs.k8s.io/group-index": "2",
}
PLUGINS = {"scheduling.x-k8s.io/pod-group": "p"}
KUEUE = {"kueue.x-k8s.io/pod-group-name": "k"}
OWN = {"kwokctl.dev/gang": "ring:4"}
VOLCANO = {"scheduling.volcano.sh/group-name": "v"}
NATIVE = {"schedulingGroup": {"podGroupName": "n"}}


@pytest.mark.parametrize(
    ("labels", "annotations", "spec", "gang"),
    [
        ({}, {}, {}, ""),
        ({"app": "x"}, {"x": "y"}, {"schedulingGroup": {}}, ""),
        (JOB_SET_LABEL, {}, {}, "jobsets.jobset.x-k8s.io=s"),
        (GROUP_LABELS, {}, {}, "leaderworkersets.leaderworkerset.x-k8s.io=l/2"),
        (GROUP_LABELS, {"leaderworkerset.sigs.k8s.io/size": "4"}, {},
         "leaderworkersets.leaderworkerset.x-k8s.io=l/2:4"),
        (KUEUE, {"kueue.x-k8s.io/pod-group-total-count": "3"}, {}, "workloads.kueue.x-k8s.io=k:3"),
        (PLUGINS, {}, {}, "podgroups.scheduling.x-k8s.io=p"),
        ({}, VOLCANO, {}, "podgroups.scheduling.volcano.sh=v"),
        ({}, {"scheduling.k8s.io/group-name": "v"}, {}, "podgroups.scheduling.volcano.sh=v"),
        ({}, {}, NATIVE, "podgroups.scheduling.k8s.io=n"),
        ({}, OWN, {}, "kwokctl.dev/gang=ring:4"),
        ({"example.com/gang": "g"}, {}, {}, "example.com/gang=g"),
        # The innermost one counts.
        ({**JOB_SET_LABEL, **PLUGINS}, {}, {}, "podgroups.scheduling.x-k8s.io=p"),
        ({**GROUP_LABELS, **KUEUE}, {}, {}, "workloads.kueue.x-k8s.io=k"),
        (JOB_SET_LABEL, VOLCANO, NATIVE, "podgroups.scheduling.k8s.io=n"),
        (JOB_SET_LABEL, OWN, NATIVE, "kwokctl.dev/gang=ring:4"),
        ({"example.com/gang": "g"}, OWN, NATIVE, "example.com/gang=g"),
    ],
)  # fmt: skip
def test_a_pod_is_of_the_innermost_gang_that_it_names(
    labels: dict[str, str], annotations: dict[str, str], spec: dict[str, Any], gang: str
) -> None:
    lines: list[Lines] = []
    tracker = PodTracker(
        lines.append, Texts(lines.append), labels=(), takes_existing=False,
        gang_label="example.com/gang",
    )  # fmt: skip
    tracker.begin()
    metadata = {"name": "a", "uid": "uid-a", "labels": labels, "annotations": annotations}
    raw = msgspec.json.encode({"metadata": metadata, "spec": spec})
    tracker.see(tracker.decode(raw), raw, 5, listed=False)

    (shape,) = [line for line in lines if isinstance(line, PodShape)]
    assert shape.gang == gang
