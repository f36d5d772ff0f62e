"""Places as expressions that choose nodes."""

import pytest

from kwokctl.errors import UsageError
from kwokctl.faults.targets.node_expressions import compile_where
from kwokctl.library.faults import feed, leaf, rack, spine, zone
from tests.support.fault_targets import candidate_node

PLACE = {"rack": "a-rack-0003", "leaf": "a-leaf-0017", "spine": "a-spine-0001", "feed": "a-feed-0000", "zone": "a"}  # fmt: skip
NODE = candidate_node("n", place=PLACE)
NOWHERE = candidate_node("m")


@pytest.mark.parametrize(
    "where", [rack(3), rack(3, "a"), leaf(17), spine(1), feed(0), zone("a"), f"{rack(3)} && gpus > 0"]
)  # fmt: skip
def test_a_place_is_an_expression_that_its_nodes_meet(where: str) -> None:
    assert compile_where(where).holds(NODE)
    assert not compile_where(where).holds(NOWHERE)


@pytest.mark.parametrize("where", [rack(13), rack(3, "b"), leaf(7), zone("b"), zone('"')])
def test_nodes_of_other_places_do_not_meet_it(where: str) -> None:
    assert not compile_where(where).holds(NODE)


def test_units_are_counted_from_0() -> None:
    with pytest.raises(UsageError, match="the rack is -1"):
        rack(-1)
