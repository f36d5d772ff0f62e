"""Figures of a recording of `snapshot record`."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kwokctl.errors import SnapshotError
from kwokctl.measure.figures.values import Durations, Missing, SingleNumber
from kwokctl.measure.history import History
from kwokctl.measure.reading import history_of
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


def change(time: int, name: str, method: str, template: Any = None, **more: str) -> str:
    resource = {"version": "v1", "resource": "pods", **more}
    target = {"name": name, "namespace": "default"}
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


def test_labels_are_read_when_they_are_asked_for(found: History) -> None:
    assert [each.shape.labels for each in found.pods.values()] == [{"app": "x"}]


def test_what_a_recording_does_not_have_is_not_measured(found: History) -> None:
    why = Missing("a recording of 'snapshot record' has no probes")
    assert figure("api.availability", found) == why
    assert found.moments["end"].time == 4 * SECOND


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
