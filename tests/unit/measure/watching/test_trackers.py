"""What trackers write of objects as the API server shows them."""

from typing import Any

import msgspec
import pytest

from kwokctl.errors import UsageError
from kwokctl.measure.record.amounts import amounts_in, text_of
from kwokctl.measure.record.record_lines import (
    JobChange,
    JobGone,
    JobSeen,
    Lines,
    Milestone,
    PodChange,
    PodGone,
    PodSeen,
    PodShape,
    RecordText,
)
from kwokctl.measure.watching.jobs import JobTracker
from kwokctl.measure.watching.kinds import KindTracker, Latency
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.pods import PodTracker
from kwokctl.measure.watching.requests import (
    Quantities,
    RequestingContainer,
    RequestingSpec,
    text_of_requests,
)

CONTROLLER = {"kind": "ReplicaSet", "name": "web-1", "uid": "uid-of-web-1", "controller": True}


def pod(name: str, **fields: Any) -> dict[str, Any]:
    node, phase = fields.get("node", ""), fields.get("phase", "Pending")
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "creationTimestamp": "2026-01-02T03:04:05Z",
        "labels": {"app": "web", "pod-template-hash": "x"},
        "ownerReferences": [{"kind": "X", "name": "x", "uid": "y"}, CONTROLLER],
        **fields.get("metadata", {}),
    }
    containers = [{"name": "x", "resources": {"requests": {"cpu": "500m"}}}, {"name": "y"}]
    spec = {"containers": containers, "priority": 7} | ({"nodeName": node} if node else {})
    status = {"phase": phase, "conditions": fields.get("conditions", [])}
    return {"metadata": metadata, "spec": spec, "status": status}


def condition(kind: str, status: str = "True", **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, **more}


class Written:
    """A tracker, and the lines that it writes."""

    def __init__(self, *, takes_existing: bool = False, labels: tuple[str, ...] = ("app",)) -> None:
        self.lines: list[Lines] = []
        emit = self.lines.append
        self.tracker = PodTracker(emit, Texts(emit), labels=labels, takes_existing=takes_existing)

    def see(self, value: dict[str, Any], time: int, *, listed: bool = False) -> None:
        raw = msgspec.json.encode(value)
        self.tracker.see(self.tracker.decode(raw), raw, time, listed=listed)

    def take(self) -> list[Lines]:
        taken, self.lines[:] = list(self.lines), []
        return taken


def test_a_pod_is_written_once_and_then_what_changes_of_it() -> None:
    written = Written()
    written.tracker.begin()

    written.see(pod("a"), 5)
    assert written.take() == [
        PodShape(1, "ReplicaSet", "web-1", "uid-of-web-1", 7, "cpu=500m", {"app": "web"}),
        PodSeen(5, 1, "uid-a", "default", "a", 1, "", "Pending", 0, 1_767_323_045, False),
    ]
    scheduled = [condition("PodScheduled"), condition("Ready", "False")]
    written.see(pod("a", node="n1", conditions=scheduled), 6)
    assert written.take() == [RecordText(1, "PodScheduled"), PodChange(6, 1, "n1", "Pending", 1)]
    written.see(pod("a", node="n1", phase="Running", conditions=scheduled), 7)
    assert written.take() == [PodChange(7, 1, "n1", "Running", 1)]
    going = {"deletionTimestamp": "2026-01-02T03:04:09Z"}
    written.see(pod("a", node="n1", phase="Running", conditions=scheduled, metadata=going), 8)
    assert written.take() == [PodChange(8, 1, "n1", "Running", 1, 0, True)]
    written.tracker.gone("uid-a", 9)
    assert written.take() == [PodGone(9, 1)]


def test_a_change_of_what_is_not_recorded_is_not_written() -> None:
    written = Written()
    written.tracker.begin()
    written.see(pod("a"), 5)
    written.take()

    written.see(pod("a", metadata={"resourceVersion": "2", "annotations": {"x": "y"}}), 6)

    assert written.take() == []


def test_pods_that_are_alike_have_one_shape() -> None:
    written = Written()
    written.tracker.begin()
    written.see(pod("a"), 5)
    written.see(pod("b"), 5)
    written.see(pod("c", metadata={"labels": {"app": "other"}}), 5)

    shapes = [line.number for line in written.lines if isinstance(line, PodShape)]
    seen = [line.shape for line in written.lines if isinstance(line, PodSeen)]

    assert (shapes, seen) == ([1, 2], [1, 1, 2])


def test_why_a_pod_cannot_be_scheduled_is_written_when_it_changes() -> None:
    def stuck(message: str) -> dict[str, Any]:
        return pod("a", conditions=[condition("PodScheduled", "False", message=message)])

    written = Written()
    written.tracker.begin()
    written.see(pod("a"), 5)
    written.take()
    for time, message in ((6, "no cpu"), (7, "no cpu"), (8, "no memory"), (9, "x" * 500)):
        written.see(stuck(message), time)

    assert written.take() == [
        RecordText(1, "no cpu"),
        PodChange(6, 1, "", "Pending", 0, 1),
        RecordText(2, "no memory"),
        PodChange(8, 1, "", "Pending", 0, 2),
        RecordText(3, "x" * 400),
        PodChange(9, 1, "", "Pending", 0, 3),
    ]


def test_pods_that_were_there_before_are_left_out_also_when_they_are_listed_again() -> None:
    written = Written()
    written.see(pod("old"), 1, listed=True)
    written.tracker.begin()
    written.see(pod("old", phase="Running"), 2)
    written.see(pod("old", phase="Running"), 3, listed=True)
    written.tracker.gone("uid-old", 4)

    assert written.lines == []
    written.see(pod("old"), 5)
    assert [type(line) for line in written.lines] == [PodShape, PodSeen]


def test_with_a_selector_pods_that_were_there_before_count() -> None:
    written = Written(takes_existing=True)
    written.see(pod("old"), 1, listed=True)

    found = written.lines[-1]
    assert isinstance(found, PodSeen)
    assert found.listed


def test_a_pod_that_appears_in_a_second_list_is_said_to_be_listed() -> None:
    written = Written()
    written.tracker.begin()
    written.see(pod("late"), 5, listed=True)

    found = written.lines[-1]
    assert isinstance(found, PodSeen)
    assert found.listed


@pytest.mark.parametrize(
    ("containers", "text"),
    [
        ([], ""),
        ([{}], ""),
        ([{"memory": "1Gi", "cpu": "1"}], "cpu=1,memory=1Gi"),
        ([{"cpu": "100m"}, {"cpu": "150m"}], "cpu=250m"),
        ([{"cpu": "500m"}, {"cpu": 1}], "cpu=1500m"),
        ([{"memory": "1Ki"}, {"memory": "1k"}], "memory=2024"),
        ([{"memory": "1000M"}], "memory=1G"),
        ([{"nvidia.com/gpu": "1k"}, {"nvidia.com/gpu": 24}], "nvidia.com/gpu=1024"),
    ],
)
def test_requests_are_summed(containers: list[Quantities], text: str) -> None:
    spec: RequestingSpec = {
        "containers": [{"resources": {"requests": each}} for each in containers]
    }

    assert text_of_requests(spec) == text
    assert text_of(amounts_in(text).items()) == text


def test_of_a_pod_what_the_scheduler_counts_is_written() -> None:
    sidecar: RequestingContainer = {
        "restartPolicy": "Always",
        "resources": {"requests": {"cpu": "1"}},
    }
    first: RequestingContainer = {"resources": {"requests": {"cpu": "4", "memory": "1Ki"}}}
    spec: RequestingSpec = {
        "initContainers": [sidecar, first],
        "containers": [{"resources": {"requests": {"cpu": "2"}}}, {"resources": None}],
        "overhead": {"cpu": "250m"},
    }

    assert text_of_requests(spec) == "cpu=5250m,memory=1Ki"


def job(name: str, status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "labels": {"app": "x", "other": "y"},
        "ownerReferences": [{"kind": "JobSet", "name": "set", "uid": "uid-of-set"}],
    }
    return {"metadata": metadata, "spec": spec, "status": status or {}}


class WrittenJobs:
    def __init__(self) -> None:
        self.lines: list[Lines] = []
        self.tracker = JobTracker(self.lines.append, labels=("app",), takes_existing=False)

    def see(self, value: dict[str, Any], time: int, *, listed: bool = False) -> None:
        raw = msgspec.json.encode(value)
        self.tracker.see(self.tracker.decode(raw), raw, time, listed=listed)


def test_a_job_is_written_when_it_comes_and_when_its_state_changes() -> None:
    written = WrittenJobs()
    written.see(job("old"), 1, listed=True)
    written.tracker.begin()
    written.see(job("old", {"conditions": [condition("Complete")]}), 2)
    written.see(job("a", parallelism=3, completions=2), 5)
    written.see(job("a", {"active": 2}, parallelism=3, completions=2), 6)
    written.see(
        job("a", {"conditions": [condition("Suspended", "False"), condition("Complete")]},
            parallelism=3, completions=2),
        7,
    )  # fmt: skip
    written.tracker.gone("uid-a", 8)
    written.tracker.gone("uid-old", 8)

    labels = {"app": "x"}
    assert written.lines == [
        JobSeen(5, 1, "uid-a", "default", "a", "uid-of-set", 2, labels, "", False),
        JobChange(7, 1, "Complete", 2),
        JobGone(8, 1),
    ]


class WrittenKinds:
    def __init__(self, latency: str) -> None:
        self.lines: list[Lines] = []
        self.tracker = KindTracker(self.lines.append, Latency.read(latency), 3, "latency.x")

    def see(self, name: str, time: int, *, listed: bool = False, **fields: Any) -> None:
        raw = msgspec.json.encode({"metadata": {"name": name, "uid": f"uid-{name}"}, **fields})
        self.tracker.see(self.tracker.decode(raw), raw, time, listed=listed)


def ready(status: str) -> dict[str, Any]:
    return {"conditions": [condition("Ready", status)]}


def test_the_beginning_and_the_end_of_a_latency_are_written_once() -> None:
    written = WrittenKinds("ready=nodes,exists,Ready")
    written.see("old", 1, listed=True, status=ready("False"))
    written.tracker.begin()
    written.see("new", 5, status=ready("False"))
    written.see("new", 6, status=ready("True"))
    written.see("new", 7, status=ready("True"))
    written.see("old", 8, status=ready("True"))

    assert written.lines == [
        Milestone(5, 3, "uid-new", "", "new", False, True),
        Milestone(6, 3, "uid-new", "", "new", True, True),
        Milestone(8, 3, "uid-old", "", "old", True, True),
    ]


def test_what_was_so_when_an_object_was_seen_first_is_not_known_to_have_happened_then() -> None:
    written = WrittenKinds('bound=pvc,.spec.wanted,.status.phase == "Bound"')
    written.tracker.begin()
    written.see("a", 5, spec={"wanted": True}, status={"phase": "Bound"})

    assert written.lines == [
        Milestone(5, 3, "uid-a", "", "a", False, False),
        Milestone(5, 3, "uid-a", "", "a", True, False),
    ]


def test_a_deletion_can_be_the_end_of_a_latency() -> None:
    written = WrittenKinds("life=pods,exists,deleted")
    written.tracker.begin()
    written.see("a", 5)
    written.tracker.gone("uid-a", 9)
    written.tracker.gone("uid-other", 9)

    ends = [line for line in written.lines if isinstance(line, Milestone) and line.is_end]
    assert ends == [Milestone(9, 3, "uid-a", "", "a", True, True)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x", "not a latency"),
        ("x=pods", "not a latency"),
        ("x=pods,exists,", "not a latency"),
        ("a-b=pods,exists,Ready", "'a-b' cannot be the name of a figure"),
        ("=pods,exists,Ready", "'' cannot be the name of a figure"),
        ("x=pods,exists,not this", "'not this' is not a condition"),
    ],
)
def test_what_is_not_a_latency_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Latency.read(text)


def test_a_latency_is_written_as_it_was_read() -> None:
    text = 'bound=pvc,exists,.status.phase == "Bound" and (.a, .b)'

    assert str(Latency.read(text)) == text
