import pytest

from kwokctl.kubelet.fleet.views import NodeView
from kwokctl.kubelet.telemetry.place_labels import place_labels

PLACE = "rack=dgx-rack-0003,leaf=dgx-leaf-0000,spine=dgx-spine-0000,feed=dgx-feed-1"


@pytest.mark.parametrize(
    ("place", "shape", "expected"),
    [
        (PLACE, "dgx", {"rack": "dgx-rack-0003", "leaf": "dgx-leaf-0000", "shape": "dgx"}),
        (PLACE, "", {"rack": "dgx-rack-0003", "leaf": "dgx-leaf-0000"}),
        ("leaf=l", "dgx", {"leaf": "l", "shape": "dgx"}),
        ("", "", {}),
        ("nonsense", "", {}),
    ],
)
def test_a_target_has_the_places_that_its_node_says(
    place: str, shape: str, expected: dict[str, str]
) -> None:
    node = NodeView(
        name="n",
        uid="u",
        annotations={"kwokctl.dev/place": place} if place else {},
        labels={"kwokctl.dev/shape": shape} if shape else {},
    )

    assert place_labels(node) == expected
