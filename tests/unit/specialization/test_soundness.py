"""What becomes of all objects of a shape is taken by the API server, whatever is in its holes."""

from typing import Any

import pytest

from kwokctl.expr.gotemplate.symbols import NotSymbolicError, Symbol
from kwokctl.kube.resource import NODES, PODS
from kwokctl.specialization.holes import Hole, HoleContent
from kwokctl.specialization.soundness import is_sound
from kwokctl.specialization.source import FunctionNames, MisfitError, Source

TEXT, OTHER = Hole(0), Hole(1)
TIME = Hole(2, HoleContent.TIME)
FOUR, FIVE = Hole(3, HoleContent.ADDRESS), Hole(4, HoleContent.ADDRESS)
SIX = Hole(5, HoleContent.ADDRESS_6)
FUNCTIONS = FunctionNames(pure=(), of_the_moment={"PodIPsWith"}, times=())


def sound(status: Any, resource: Any = PODS) -> bool:
    before = {"spec": {"nodeName": TEXT}, "status": {}}
    return is_sound(resource, before, {**before, "status": status}, tuple(status))


def listed(*holes: Hole) -> Any:
    return [{"ip": hole} for hole in holes]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"reason": TEXT, "startTime": TIME}, True),
        ({"startTime": TEXT}, False),
        ({"podIP": TEXT}, False),
        ({"conditions": [{"type": TEXT}]}, False),
        ({"conditions": [{"type": "Ready", "message": TEXT, "lastTransitionTime": TIME}]}, True),
        ({"hostIP": FOUR, "hostIPs": listed(FOUR)}, True),
        ({"hostIP": FOUR, "hostIPs": listed(FIVE)}, False),
        ({"podIP": FOUR, "podIPs": listed(FOUR, SIX)}, True),
        ({"podIP": SIX, "podIPs": listed(SIX, FOUR)}, True),
        ({"podIP": FOUR, "podIPs": listed(FOUR, FIVE)}, False),
    ],
)
def test_a_rule_holds_for_all_texts_or_not_for_the_shape(status: Any, expected: bool) -> None:
    assert sound(status) is expected


def test_texts_that_may_be_equal_are_not_taken_to_differ() -> None:
    first, second = ({"type": "Hostname", "address": hole} for hole in (TEXT, OTHER))

    assert sound({"addresses": [first]}, NODES)
    assert not sound({"addresses": [first, second]}, NODES)


def test_a_symbol_that_is_no_hole_is_not_certain() -> None:
    with pytest.raises(NotSymbolicError):
        sound({"reason": Symbol("any")})


def test_a_play_is_for_objects_with_addresses_of_the_same_families() -> None:
    source = Source([TEXT], ("pod",), {"PodIPsWith": lambda *_: ["10.0.0.1", "fd00::1"]}, FUNCTIONS)
    found = source.functions(["PodIPsWith"])["PodIPsWith"]("n")
    holes = [source.hole(each) for each in found]
    compute = source.compute(holes)

    assert [hole.content for hole in holes] == [HoleContent.ADDRESS, HoleContent.ADDRESS_6]
    texts, _ = compute(("pod",), {"PodIPsWith": lambda *_: ["10.0.0.2", "fd00::2"]})
    assert texts == ("10.0.0.2", "fd00::2")
    for others in (
        ["fd00::2", "10.0.0.2"],
        ["10.0.0.2"],
        ["10.0.0.2", "10.0.0.3"],
        ["10.0.0.2", ""],
        ["10.0.0.2", "fd00::2", "10.0.0.3"],
    ):
        with pytest.raises(MisfitError):
            compute(("pod",), {"PodIPsWith": lambda *_, others=others: others})
