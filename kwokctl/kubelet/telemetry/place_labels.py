"""The labels of a target that say where its node is, so that dashboards add up racks and switches."""

from collections.abc import Mapping

from kwokctl.fleet.tree import PLACE, SHAPE, place_of
from kwokctl.kubelet.fleet.views import NodeView

_LEVELS = ("rack", "leaf")


def place_labels(node: NodeView) -> Mapping[str, str]:
    """Return the rack, the leaf switch and the shape of a node, as far as it says them."""
    place = place_of(node.annotations.get(PLACE, ""))
    found = {level: place[level] for level in _LEVELS if level in place}
    shape = node.labels.get(SHAPE)
    return found if shape is None else found | {"shape": shape}
