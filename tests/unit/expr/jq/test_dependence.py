""""""

from typing import Any

import pytest

from kwokctl.expr.jq.dependence import reaches

UNKNOWN = object()
POD = {
    "metadata": {"name": UNKNOWN, "labels": {"a": "b", "own": UNKNOWN}},
    "status": {"phase": "Pending", "conditions": [{"type": "Ready", "status": "True"}]},
    "spec": {"containers": [{"name": "c"}, {"name": UNKNOWN}]},
}


def is_unknown(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(is_unknown, value.values()))
    return any(map(is_unknown, value)) if isinstance(value, list) else value is UNKNOWN


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        (".status.phase", False),
        ('.status.conditions.[] | select(.type == "Ready") | .status', False),
        (".metadata.labels.a", False),
        (".metadata.missing.name", False),
        (".status.phase.name", False),
        (".spec.containers[0].name", False),
        ('"constant"', False),
        (".status, .status.phase", False),
        (".metadata.name", True),
        (".metadata.name.first", True),
        (".metadata.labels", True),
        (".", True),
        (".metadata.labels[]", True),
        (".spec.containers[].name", True),
        (".spec.containers[-1].name", True),
        ('.metadata | select(.name == "p") | .missing', True),
        (".status.phase, .metadata.name", True),
        (".metadata.labels | length", True),
        (".status.conditions | length", True),
    ],
)
def test_a_program_reaches_what_it_may_look_at(source: str, answer: bool) -> None:
    assert reaches(source, POD, is_unknown) is answer


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        (".metadata.name", False),
        (".spec.containers[].name", False),
        (".metadata.labels", False),
        (".status.phase, .metadata.name", False),
        (".metadata.name.first", True),
        ('.metadata | select(.name == "p")', True),
        ('.metadata | select(.name == "p") | .name', True),
        (".metadata.labels | length", True),
    ],
)
def test_what_is_not_known_may_be_a_result_where_only_its_presence_counts(
    source: str, answer: bool
) -> None:
    assert reaches(source, POD, is_unknown, lambda _: False) is answer
