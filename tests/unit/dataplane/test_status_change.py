"""A change goes past the API server only where that certainly takes all of it with a status."""

import pytest

from kwokctl.dataplane.status_change import is_of_report, is_of_status
from kwokctl.json_value import Json


def node(**metadata: Json) -> Json:
    return {"metadata": {"name": "n", **metadata}, "spec": {"podCIDR": "10.0.0.0/24"}}


def test_another_status_is_a_change_of_a_status_alone() -> None:
    after: Json = {**node(), "status": {"phase": "Running"}}

    assert is_of_status(node(), after)


@pytest.mark.parametrize("after", [{"metadata": {"name": "n"}}, {**node(), "spec": {}}])
def test_what_is_another_outside_of_the_status_is_not(after: Json) -> None:
    assert not is_of_status(node(), after)
    assert not is_of_report(node(), after)


def test_labels_and_annotations_of_a_node_come_with_its_status() -> None:
    assert is_of_report(node(), node(labels={"a": "b"}, annotations={"c": "two words"}))


@pytest.mark.parametrize(
    "metadata",
    [
        {"finalizers": ["example.com/held"]},
        {"labels": {"two words": "b"}},
        {"annotations": {"two words": "b"}},
        {"labels": {"a": "two words"}},
        {"annotations": {"a": "b" * 200_000}},
    ],
)
def test_what_the_api_server_may_refuse_does_not(metadata: Json) -> None:
    assert not is_of_report(node(), node(**metadata))
