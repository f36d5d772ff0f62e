"""Places of nodes, counted by hand."""

from typing import Any

import pytest

from kwokctl.errors import ExpressionError
from kwokctl.fleet.topology import (
    VOCABULARIES,
    _fnv64a,
    topology_labels,
    topology_place,
    topology_unit,
    topology_units,
)

BY = {
    "vocabularies": ["topograph"],
    "nodesPerRack": 18,
    "racksPerLeaf": 2,
    "leavesPerSpine": 3,
    "spinesPerZone": 2,
    "zones": ["a", "b"],
    "feeds": 2,
}


@pytest.mark.parametrize(
    ("position", "place"),
    [
        (
            0,
            "rack=f-rack-0000,leaf=f-leaf-0000,spine=f-spine-0000,core=f-core-0000,feed=f-feed-0000,zone=a",
        ),
        (
            17,
            "rack=f-rack-0000,leaf=f-leaf-0000,spine=f-spine-0000,core=f-core-0000,feed=f-feed-0000,zone=a",
        ),
        (
            18,
            "rack=f-rack-0001,leaf=f-leaf-0000,spine=f-spine-0000,core=f-core-0000,feed=f-feed-0001,zone=a",
        ),
        (
            36,
            "rack=f-rack-0002,leaf=f-leaf-0001,spine=f-spine-0000,core=f-core-0000,feed=f-feed-0000,zone=a",
        ),
        # Six racks are below a spine switch, and twelve in a zone.
        (
            108,
            "rack=f-rack-0006,leaf=f-leaf-0003,spine=f-spine-0001,core=f-core-0000,feed=f-feed-0000,zone=a",
        ),
        (
            216,
            "rack=f-rack-0012,leaf=f-leaf-0006,spine=f-spine-0002,core=f-core-0001,feed=f-feed-0000,zone=b",
        ),
        (
            432,
            "rack=f-rack-0024,leaf=f-leaf-0012,spine=f-spine-0004,core=f-core-0002,feed=f-feed-0000,zone=a",
        ),
    ],
)
def test_a_place_is_counted_by_position(position: int, place: str) -> None:
    assert topology_place(BY, "f", position) == place


def test_without_zones_a_node_is_in_none() -> None:
    assert "zone" not in topology_place({"nodesPerRack": 4}, "f", 5)
    assert "topology.kubernetes.io/zone" not in topology_labels({"nodesPerRack": 4})


def test_a_rack_that_is_a_domain_of_nvlink_is_in_the_place_as_both() -> None:
    place = topology_place({"nodesPerRack": 4, "rackIsDomain": True}, "f", 5)

    assert place.startswith("rack=f-rack-0001,")
    assert place.endswith(",domain=f-rack-0001")
    assert "domain" not in topology_place({"nodesPerRack": 4}, "f", 5)


def test_labels_of_several_vocabularies_are_there_together() -> None:
    assert topology_labels({**BY, "vocabularies": ["gke", "kueue"]}) == {
        "cloud.google.com/gce-topology-block": "spine",
        "cloud.google.com/gce-topology-subblock": "rack",
        "cloud.google.com/gce-topology-host": "node",
        "cloud.provider.com/topology-block": "spine",
        "cloud.provider.com/topology-rack": "rack",
        "topology.kubernetes.io/zone": "zone",
    }


def test_volcano_finds_two_tiers_of_switches() -> None:
    labels = topology_labels({**BY, "vocabularies": ["volcano"], "zones": []})
    units = {label: topology_unit(BY, "f", level, 36) for label, level in labels.items()}

    assert units == {
        "volcano.sh/hypernode": "f-leaf-0001",
        "volcano.sh/hypercluster": "f-spine-0000",
    }


def test_an_nvlink_domain_is_there_if_it_is_the_rack() -> None:
    domain = "accelerator.topograph.run/domain"

    assert domain not in topology_labels(BY)
    assert topology_labels({**BY, "rackIsDomain": True})[domain] == "domain"
    assert topology_unit({**BY, "rackIsDomain": True}, "f", "domain", 40) == "f-rack-0002"


@pytest.mark.parametrize("name", VOCABULARIES)
def test_no_vocabulary_calls_a_rack_a_zone(name: str) -> None:
    levels = VOCABULARIES[name]

    assert "topology.kubernetes.io/zone" not in levels
    assert "feed" not in levels.values()


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ("x", "topology: must be a mapping"),
        ([1], "topology: must be a mapping"),
        ({"nodesPerRack": 0}, "topology.nodesPerRack: must be a whole number of at least 1"),
        ({"nodesPerRack": 1.5}, "topology.nodesPerRack: must be a whole number"),
        ({"racksPerLeaf": "two"}, "topology.racksPerLeaf: must be a whole number"),
        ({"feeds": -1}, "topology.feeds: must be a whole number of at least 1"),
        ({"first": -1}, "topology.first: must be a whole number of at least 0"),
        ({"rackIsDomain": "perhaps"}, "topology.rackIsDomain: must be true or false"),
        ({"vocabularies": "kueue"}, "topology.vocabularies: must be a list"),
        ({"vocabularies": ["topogaph"]}, "topology.vocabularies: there is no 'topogaph'"),
        ({"zones": "a"}, "topology.zones: must be a list"),
        ({"zones": {"a": 1}}, "topology.zones: must be a list"),
        ({"zones": [["a"]]}, "topology.zones[0]: must be a text"),
        ({"zones": ["a", ""]}, "topology.zones[1]: '' cannot be the value of a label"),
        ({"zones": ["a b"]}, "topology.zones[0]: 'a b' cannot be the value of a label"),
        ({"zones": ["a", "b", "a"]}, "topology.zones[2]: 'a' is there twice"),
        ({"name": "-x"}, "topology.name: '-x' cannot be in a label"),
        ({"racks": 4}, "topology: there is no parameter 'racks'"),
    ],
)
def test_wrong_parameters_are_named(parameters: Any, problem: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        topology_labels(parameters)

    assert str(caught.value) == problem


def test_a_mistyped_parameter_names_a_near_one() -> None:
    with pytest.raises(ExpressionError) as caught:
        topology_place({"nodesPerRak": 4}, "f", 0)

    assert caught.value.hint == "did you mean 'nodesPerRack'?"


def test_units_contain_those_below_them() -> None:
    # Of 100 nodes six racks of 18, two to a leaf: the third leaf is begun, and the first spine is not full.
    assert topology_units(BY, "f", "spine", "leaf", 100) == {
        "f-spine-0000": ["f-leaf-0000", "f-leaf-0001", "f-leaf-0002"]
    }
    assert topology_units({**BY, "first": 108}, "f", "spine", "rack", 19) == {
        "f-spine-0001": ["f-rack-0006", "f-rack-0007"]
    }
    assert topology_units(BY, "f", "spine", "leaf", 0) == {}


def test_sets_with_one_name_share_their_units() -> None:
    shared = {"name": "pod-a", "first": 6, "nodesPerRack": 4}

    assert topology_unit(shared, "other", "rack", 1) == "pod-a-rack-0001"
    assert topology_unit(shared, "other", "rack", 2) == "pod-a-rack-0002"


def test_a_name_that_is_too_long_for_a_label_is_hashed() -> None:
    # 0xaf63dc4c8601ec8c is the published hash of "a": http://www.isthe.com/chongo/tech/comp/fnv/
    assert _fnv64a(b"a") == 0xAF63DC4C8601EC8C
    found = topology_unit({}, "a" * 60, "rack", 0)
    assert len(found) == 17
    assert found.startswith("x")
