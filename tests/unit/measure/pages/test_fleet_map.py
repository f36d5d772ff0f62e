"""The map of the fleet: nodes by rack, and what each frame shows of them."""

from collections.abc import Sequence

from kwokctl.measure.pages.fleet_map import ABSENT, CORDONED, DOWN, FULL, IDLE, PART, fleet_map
from kwokctl.measure.pages.frames import MOST_FRAMES, fitting_frames
from kwokctl.measure.pages.page_data import FleetItem
from kwokctl.measure.record.fleet_lines import NodeChange, NodeGone, NodeSeen, OtherRequests
from kwokctl.measure.record.record_lines import Lines, PodShape, RecordText
from tests.support.measured import SECOND, bound, ended, history, seen

HAS, TAINT, RACK_1, RACK_2, ZONE, OTHERS = range(10, 16)
TEXTS = (
    RecordText(HAS, "cpu=8,nvidia.com/gpu=2,pods=9"),
    RecordText(TAINT, "gpu=lost:NoSchedule"),
    RecordText(RACK_1, "rack=r-1,leaf=l-1"),
    RecordText(RACK_2, "rack=r-2,leaf=l-1"),
    RecordText(ZONE, "topology.kubernetes.io/zone=a"),
    RecordText(OTHERS, "nvidia.com/gpu=2"),
    PodShape(2, "Job", "j", "uid-of-j", 0, "nvidia.com/gpu=1", {}),
)


def node(number: int, name: str, place: int = RACK_1, time: int = 0, labels: int = 0) -> NodeSeen:
    return NodeSeen(time, number, name, True, HAS, labels, 0, True, False, place)


def made(*lines: Lines, seconds: float = 10.0, topology: tuple[str, ...] = ()) -> FleetItem:
    item = fleet_map(history([*TEXTS, *lines], topology=topology), seconds)
    assert item is not None
    return item


def shown(item: FleetItem) -> list[str]:
    """Return the states of all nodes in each frame."""
    now = [""] * sum(len(group.nodes) for group in item.groups)
    found: list[str] = []
    for frame in item.frames:
        for place, code in frame.changes:
            now[place] = code
        found.append("".join(now))
    return found


def racks(item: FleetItem) -> dict[str, Sequence[str]]:
    return {group.name: group.nodes for group in item.groups}


def test_nodes_are_grouped_by_their_racks_in_the_order_of_their_numbers() -> None:
    item = made(node(1, "n-10", RACK_2), node(2, "n-2", RACK_1), node(3, "n-9", RACK_2))

    assert racks(item) == {"r-1": ["n-2"], "r-2": ["n-9", "n-10"]}
    assert item.count == 10


def test_nodes_without_a_place_are_grouped_by_a_label_or_are_together() -> None:
    of_zone = node(1, "n-1", place=0, labels=ZONE)
    item = made(of_zone, node(2, "n-2", place=0), topology=("topology.kubernetes.io/zone", "rack"))

    assert racks(item) == {"a": ["n-1"], "all nodes": ["n-2"]}


def test_a_node_is_idle_in_use_in_part_or_fully_by_its_devices() -> None:
    item = made(
        node(1, "n1"),
        seen(1, SECOND, shape=2), bound(1, 2 * SECOND),
        seen(2, SECOND, shape=2), bound(2, 4 * SECOND),
        ended(1, 6 * SECOND), ended(2, 6 * SECOND),
    )  # fmt: skip

    assert shown(item) == [IDLE, IDLE, PART, PART, FULL, FULL, IDLE, IDLE, IDLE, IDLE]


def test_pods_that_are_not_recorded_count() -> None:
    item = made(node(1, "n1"), OtherRequests(3 * SECOND, "n1", 2, OTHERS), seconds=4.0)

    assert shown(item) == [IDLE, IDLE, IDLE, FULL]


def test_a_bad_state_is_shown_however_short_it_was() -> None:
    half = SECOND // 2
    item = made(
        node(1, "n1"), node(2, "n2"),
        NodeChange(2 * SECOND, 1, HAS, 0, 0, False, False),
        NodeChange(2 * SECOND + half, 1, HAS, 0, 0, True, False),
        NodeChange(SECOND, 2, HAS, 0, TAINT, True, False),
        NodeGone(4 * SECOND, 2),
        seconds=5.0,
    )  # fmt: skip

    assert shown(item) == [
        IDLE + IDLE,
        IDLE + CORDONED,
        DOWN + CORDONED,
        IDLE + CORDONED,
        IDLE + CORDONED,
    ]


def test_a_node_that_comes_later_and_one_that_goes_are_not_there() -> None:
    item = made(node(1, "n1"), node(2, "n2", time=2 * SECOND), NodeGone(SECOND, 1), seconds=4.0)

    assert shown(item) == [IDLE + ABSENT, ABSENT + ABSENT, ABSENT + IDLE, ABSENT + IDLE]


def test_frames_become_longer_until_their_changes_are_few_enough() -> None:
    transitions = [(float(second), second % 5, str(second)) for second in range(600)]

    def fitting(most: int) -> tuple[float, int, int]:
        grid, frames = fitting_frames(
            transitions, 5, 600.0, first="a", badness={}, most_changes=most
        )
        return grid.step, grid.count, sum(map(len, frames))

    assert fitting(10_000)[:2] == (1.0, MOST_FRAMES)
    step, count, changes = fitting(100)
    assert step * count == 600
    assert changes <= 100 + 5
    assert fitting(0)[1] == 1


def test_a_fleet_without_nodes_has_no_map() -> None:
    assert fleet_map(history([]), 10.0) is None
