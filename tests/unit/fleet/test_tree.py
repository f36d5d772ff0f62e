"""The tree of a fleet, added up by hand."""

from kwokctl.fleet.tree import NOWHERE, DeviceCounts, FleetNode, fleet_tree, place_of

GPU = "nvidia.com/gpu"


def node(name: str, place: str, *, healthy: int = 8, used: int = 0, **state: bool) -> FleetNode:
    counts = DeviceCounts(capacity=8, allocatable=healthy, allocated=used)
    return FleetNode(
        name=name,
        shape="dgx-h100",
        place=place_of(place),
        is_ready=state.get("is_ready", True),
        is_cordoned=state.get("is_cordoned", False),
        devices={GPU: counts},
    )


def test_each_unit_has_the_sums_of_what_is_in_it() -> None:
    whole = fleet_tree(
        [
            node("a", "rack=r0,leaf=l0,feed=f0", healthy=7, used=4),
            node("b", "rack=r0,leaf=l0,feed=f0", is_ready=False),
            node("c", "rack=r1,leaf=l0,feed=f1", is_cordoned=True, used=8),
            node("d", "rack=r2,leaf=l1,feed=f0"),
        ]
    )

    assert (whole.nodes, whole.ready, whole.cordoned) == (4, 3, 1)
    assert whole.shapes == {"dgx-h100": 4}
    gpus = whole.devices[GPU]
    assert (gpus.capacity, gpus.allocatable, gpus.allocated, gpus.unhealthy) == (32, 31, 12, 1)
    first = whole.units["l0"]
    assert (first.level, first.nodes, first.ready, first.devices[GPU].allocated) == (
        "leaf",
        3,
        2,
        12,
    )
    assert {name: rack.nodes for name, rack in first.units.items()} == {"r0": 2, "r1": 1}
    assert [*whole.units["l1"].units] == ["r2"]


def test_a_node_without_a_place_is_counted_apart() -> None:
    whole = fleet_tree([node("a", ""), node("b", "zone=z,rack=r0")])

    assert {name: unit.nodes for name, unit in whole.units.items()} == {NOWHERE: 1, "z": 1}
    assert whole.units["z"].units["r0"].level == "rack"
