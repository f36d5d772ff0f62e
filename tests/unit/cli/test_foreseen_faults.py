"""The lines of the dry run of `fault inject`."""

from typing import Any

from kwokctl.cli.verbs.faults.foreseen import foreseen_lines
from kwokctl.clusters.faults.foresee import ForeseenFault, ForeseenNode
from kwokctl.faults.evictions.eviction_forecast import ZoneOutlook, forecast
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.targets.target_selection import Selected
from kwokctl.faults.truth.foreseen_writes import ForeseenWrite
from kwokctl.replacing import replace

WRITES = (
    ForeseenWrite(after=1.25, changes=("one", "two")),
    ForeseenWrite(after=60, changes=("three",)),
)


def unit(number: int, **fields: Any) -> FaultUnit:
    return FaultUnit(node=f"n-{number}", node_uid="x", **fields)


def foreseen(*units: FaultUnit, **fields: Any) -> ForeseenFault:
    return ForeseenFault(
        spec=FaultSpec(class_name="mine", target=FaultTarget(percent=100), seed=7),
        selected=Selected(units=units),
        nodes=tuple(ForeseenNode(units=(each,), writes=WRITES) for each in units),
        candidates=20,
        notices=(),
        **{"evictions": None, **fields},
    )


def lines(found: ForeseenFault, *, is_seed_drawn: bool = False) -> list[str]:
    return [*foreseen_lines(found, is_seed_drawn=is_seed_drawn)]


def test_every_write_is_said_with_its_time() -> None:
    assert lines(foreseen(unit(1, gpu=3))) == [
        "Make a Fault of class 'mine', which hits 1 unit on 1 of 20 nodes.",
        "node n-1, GPU 3:",
        "  after 1.2s:",
        "    one",
        "    two",
        "  after 60.0s:",
        "    three",
    ]


def test_of_many_nodes_the_first_ones_are_said_in_full_and_all_are_named() -> None:
    found = lines(foreseen(*(unit(number) for number in range(7))))

    assert sum(each == "    three" for each in found) == 5
    assert found[-2:] == [f"node n-{number}: likewise, with times of its own" for number in (5, 6)]


def test_pods_are_named() -> None:
    pod = unit(1, pod="default/web", pod_uid="y")

    assert lines(foreseen(pod))[1] == "node n-1, pod default/web:"


def test_a_node_on_which_nothing_shows_says_so() -> None:
    node = ForeseenNode(units=(unit(1),), writes=())

    assert lines(replace(foreseen(), nodes=(node,)))[-1] == "  nothing of it shows on the node"


def test_what_is_needed_to_repeat_it_is_said() -> None:
    found = replace(
        foreseen(unit(1)),
        selected=Selected(units=(unit(1),), foreign=("a", "b"), is_reproducible=False),
        notices=("a notice",),
    )

    assert lines(found, is_seed_drawn=True)[1:5] == [
        "The seed 7 was drawn: to hit the same, give: --seed 7",
        "What is hit depends on the pods that there are now.",
        "Left out, because no controller of kwokctl plays them: a, b",
        "a notice",
    ]


def test_evictions_are_counted_by_their_time() -> None:
    zones = [
        ZoneOutlook(name="", nodes=3, silent=[]),
        ZoneOutlook(name="eu/a", nodes=10, silent=[[0.0, 300.0], [None]]),
    ]
    notices, zone, counts = lines(foreseen(unit(1), evictions=forecast(zones)))[-3:]

    assert notices.startswith("Kubernetes notices: Ready is Unknown from 40s on")
    assert zone.startswith("zone 'eu/a': 2 of 10 nodes are silent; ")
    assert counts == (
        "Of 3 pods on them, evicted are 1 after 2 min, 1 after 5 min, 2 after 10 min, 2 after 30 min, "
        "2 after 60 min."
    )
