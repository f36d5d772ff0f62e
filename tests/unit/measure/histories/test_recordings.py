"""Figures of a recording of `snapshot record`."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kwokctl.errors import SnapshotError
from kwokctl.measure.figures.values import Durations, Levels, Missing, SingleNumber
from kwokctl.measure.histories.history import History
from kwokctl.measure.histories.history_files import history_of
from tests.support.measured import MS, SECOND, figure


def document(**fields: Any) -> str:
    """Return a document as recordings have it: a field a line, as JSON."""
    lines = []
    for name, value in fields.items():
        is_plain = name in ("apiVersion", "kind")
        lines.append(f"{name}: {value if is_plain else msgspec.json.encode(value).decode()}")
    return "\n".join(lines) + "\n---\n"


def pod(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": {"app": "x"}}
    return {"metadata": metadata, "spec": {"containers": []}, "status": {"phase": "Pending"}}


def pod_group(name: str, needed: int) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "uid": f"uid-of-{name}"}
    return {"metadata": metadata, "spec": {"schedulingPolicy": {"gang": {"minCount": needed}}}}


def change(time: int, name: str, method: str, template: Any = None, **more: str) -> str:
    resource = {"version": "v1", "resource": "pods", **more}
    is_node = resource["resource"] == "nodes"
    target = {"name": name} if is_node else {"name": name, "namespace": "default"}
    fields = {"resource": resource, "target": target, "durationNanosecond": time, "method": method}
    if template is not None:
        fields["template"] = template
    return document(apiVersion="action.kwok.x-k8s.io/v1alpha1", kind="ResourcePatch", **fields)


def written(path: Path, *documents: str) -> Path:
    path.write_text("".join(documents))
    return path


@pytest.fixture
def found(tmp_path: Path) -> History:
    """The history of a recording of two pods, one of which was there before."""
    ready = {"status": {"phase": "Running", "conditions": [
        {"$patch": "replace"}, {"type": "Ready", "status": "True"},
    ]}}  # fmt: skip
    path = written(
        tmp_path / "run.yaml",
        document(apiVersion="v1", kind="ConfigMap", metadata={"name": "x", "namespace": "y"}),
        document(apiVersion="v1", kind="Pod", **pod("old")),
        change(SECOND, "a", "create", pod("a")),
        change(SECOND + 100 * MS, "a", "patch", {"spec": {"nodeName": "n1"}}),
        change(SECOND + 200 * MS, "old", "patch", {"spec": {"nodeName": "n1"}}),
        change(SECOND + 300 * MS, "a", "patch", ready),
        change(2 * SECOND, "x", "delete", resource="configmaps"),
        change(3 * SECOND, "a", "delete"),
        change(4 * SECOND, "old", "delete"),
    )
    return history_of(path, ("app",))


def test_a_recording_gives_the_figures_of_the_pods_that_came(found: History) -> None:
    assert figure("pods.created", found) == SingleNumber(1)
    assert figure("pods.deleted", found) == SingleNumber(1)
    to_bound, to_ready = (figure(f"pods.created_to_{end}", found) for end in ("bound", "ready"))
    assert isinstance(to_bound, Durations)
    assert isinstance(to_ready, Durations)
    assert (to_bound.max, to_ready.max) == (0.1, 0.3)


def test_nodes_of_a_recording_and_what_pods_request_of_them_are_measured(tmp_path: Path) -> None:
    old, new = pod("old"), pod("new")
    old["spec"] = {"nodeName": "n1", "containers": [{"resources": {"requests": {"cpu": "1"}}}]}
    new["spec"] = {"nodeName": "n1", "containers": [{"resources": {"requests": {"cpu": "2"}}}]}
    ready = [{"type": "Ready", "status": "True"}]
    node = {
        "metadata": {"name": "n1", "uid": "uid-n1"},
        "status": {"allocatable": {"cpu": "4"}, "conditions": ready},
    }
    path = written(
        tmp_path / "run.yaml",
        document(apiVersion="v1", kind="Node", **node),
        document(apiVersion="v1", kind="Pod", **old),
        change(SECOND, "new", "create", new),
        change(2 * SECOND, "n1", "patch", {"spec": {"unschedulable": True}}, resource="nodes"),
        change(3 * SECOND, "new", "delete"),
        change(4 * SECOND, "old", "delete"),
    )  # fmt: skip

    found = history_of(path)

    cpu, cordoned = (figure(f"fleet.{name}", found) for name in ("requested.cpu", "cordoned"))
    assert isinstance(cpu, Levels)
    assert isinstance(cordoned, Levels)
    # of 4 processors: 1, 3 from the first second on, 1 from the third on, and none in the end
    assert (cpu.mean, cpu.max, cpu.last) == (50, 75, 0)
    assert (cordoned.mean, cordoned.last) == (0.5, 1)


def test_a_recording_without_nodes_has_no_fleet(found: History) -> None:
    assert figure("fleet.nodes", found) == Missing("the recording has no nodes")


def test_labels_are_read_when_they_are_asked_for(found: History) -> None:
    assert [each.shape.labels for each in found.pods.values()] == [{"app": "x"}]


def test_what_a_recording_does_not_have_is_not_measured(found: History) -> None:
    why = Missing("a recording of 'snapshot record' has no probes")
    assert figure("api.availability", found) == why
    assert found.moments["end"].time == 4 * SECOND


POD_GROUPS = {"group": "scheduling.k8s.io", "version": "v1alpha2", "resource": "podgroups"}


def member(name: str, group: str) -> dict[str, Any]:
    return {**pod(name), "spec": {"schedulingGroup": {"podGroupName": group}}}


def test_a_recording_has_gangs_whose_objects_it_has(tmp_path: Path) -> None:
    """Of three gangs one needs two pods and has one, and of one there is no object."""
    old = document(apiVersion="scheduling.k8s.io/v1alpha2", kind="PodGroup", **pod_group("old", 2))
    volcano = {**pod("c"), "metadata": {**pod("c")["metadata"], "annotations": {
        "scheduling.k8s.io/group-name": "v"}}}  # fmt: skip
    bound = {"spec": {"nodeName": "n1"}}
    path = written(
        tmp_path / "run.yaml",
        old,
        change(SECOND, "new", "create", pod_group("new", 1), **POD_GROUPS),
        change(SECOND, "a", "create", member("a", "old")),
        change(SECOND, "b", "create", member("b", "new")),
        change(SECOND, "c", "create", volcano),
        *(change(2 * SECOND, name, "patch", bound) for name in "abc"),
        change(3 * SECOND, "new", "delete", **POD_GROUPS),
    )

    found = history_of(path)

    kind, other = "podgroups.scheduling.k8s.io", "podgroups.scheduling.volcano.sh"
    why = f"the recording has no {other}"
    assert figure("gangs", found) == SingleNumber(3, detail={kind: 2, other: 1}, note=why)
    latency = figure("gangs.scheduling_latency", found)
    assert isinstance(latency, Durations)
    assert (latency.count, latency.max, latency.open, latency.left_out) == (1, 1.0, 1, 1)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (change(SECOND, "a", "destroy"), "line 7: this change cannot be understood"),
        (change(SECOND, "a", "patch", {"$patch": "?"}), "line 7: the directive"),
    ],
)
def test_a_change_that_cannot_be_understood_is_named(
    tmp_path: Path, wrong: str, problem: str
) -> None:
    path = written(tmp_path / "run.yaml", document(apiVersion="v1", kind="Pod", **pod("a")), wrong)

    with pytest.raises(SnapshotError, match=re.escape(problem)):
        history_of(path)
