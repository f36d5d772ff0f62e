"""A hundred tests that each change fifty objects, and two that look at what else there is.

    pytest examples/pytest --durations=20

Each finds the cluster with three nodes and a kind, `Widget`, and without what the others have made.
"""

import pytest

from kwokctl import Cluster
from kwokctl.errors import ApiError
from kwokctl.json_value import Json

FIFTY = range(50)


def widget(number: int, size: int) -> dict[str, Json]:
    metadata = {"name": f"widget-{number}"}
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": metadata,
        "spec": {"size": size},
    }


@pytest.mark.parametrize("size", range(100))
def test_widgets_are_as_large_as_they_were_made(kwok: Cluster, size: int) -> None:
    assert kwok.find("widgets") == []

    kwok.apply([widget(number, size) for number in FIFTY])

    assert [each["spec"]["size"] for each in kwok.find("widgets")] == [size] * len(FIFTY)


def test_a_widget_is_not_smaller_than_nothing(kwok: Cluster) -> None:
    with pytest.raises(ApiError, match="should be greater than or equal to 0"):
        kwok.apply(widget(0, -1))


@pytest.mark.kwok(nodes=5)
def test_pods_run_on_the_nodes_that_the_test_has_asked_for(kwok: Cluster) -> None:
    kwok.scale("pod", 10)

    pods = kwok.wait_for("pods", '.status.phase == "Running"', count=10)

    nodes = {node["metadata"]["name"] for node in kwok.find("nodes")}
    assert len(nodes) == 5
    assert {pod["spec"]["nodeName"] for pod in pods} <= nodes
