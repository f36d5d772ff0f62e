"""Random targets on random fleets: what is hit is what a plain reading of the target allows."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.targets.candidates import CandidateNode
from kwokctl.faults.targets.target_selection import select
from tests.support.fault_targets import candidate_node, pod, spec
from tests.support.faults import CATALOGUE

CLASSES = ("not-ready", "xid-79", "rack-power", "app-failed")
Unit = tuple[str, int | None, str]
"""A node, a GPU and a pod."""


def a_fleet(chance: random.Random) -> list[CandidateNode]:
    return [
        candidate_node(
            f"n-{number}",
            *(
                pod(f"default/p-{number}-{each}", *chance.sample(range(4), chance.randint(0, 2)))
                for each in range(chance.randint(0, 2))
            ),
            gpus=chance.choice([0, 2, 4]),
            place=chance.choice([{}, {"rack": f"r-{number % 3}"}]),
            is_ready=chance.random() < 0.7,
            is_ours=chance.random() < 0.8,
        )
        for number in range(chance.randint(1, 12))
    ]


def a_target(chance: random.Random, class_name: str) -> dict[str, Any]:
    target: dict[str, Any] = {
        "where": chance.choice(
            ["true", "ready", "gpus > 2", 'rack != "r-1"', "busy > 0 || pods == 0"]
        ),
        "foreign": chance.random() < 0.3,
    }
    if class_name != "app-failed":
        target["usage"] = chance.choice(["any", "any", "busy", "idle"])
    if chance.random() < 0.3:
        target["count"] = chance.randint(1, 4)
    elif chance.random() < 0.3:
        target["percent"] = chance.choice([1.0, 30.0, 50.0, 100.0])
    if class_name == "xid-79" and chance.random() < 0.5:
        target["parameters"] = {"gpu": chance.randint(0, 3)}
    return target


WHERE: dict[str, Callable[[CandidateNode], bool]] = {
    "true": lambda node: True,
    "ready": lambda node: node.is_ready,
    "gpus > 2": lambda node: node.gpus > 2,
    'rack != "r-1"': lambda node: node.place.get("rack") != "r-1",
    "busy > 0 || pods == 0": lambda node: bool(node.in_use) or not node.pods,
}


def groups(
    class_name: str, target: dict[str, Any], nodes: Sequence[CandidateNode]
) -> list[set[Unit]]:
    """Return what may be hit: each time the units that are drawn together, or of which one is drawn."""
    usage, gpu = target.get("usage", "any"), target.get("parameters", {}).get("gpu")
    found = [node for node in nodes if WHERE[target["where"]](node)]
    if class_name == "rack-power":
        racks = sorted({node.place["rack"] for node in found if node.place})
        members = [[node for node in nodes if node.place.get("rack") == rack] for rack in racks]
    else:
        members = [[node] for node in found]
    groups: list[set[Unit]] = []
    for each in members:
        ours = [node for node in each if node.is_ours or target["foreign"]]
        is_busy = any(node.pods for node in ours)
        units: set[Unit] = set()
        if class_name == "app-failed":
            groups += [{(node.name, None, pod.key)} for node in ours for pod in node.pods]
        elif class_name == "xid-79":
            units = {
                (node.name, index, "")
                for node in ours
                for index in range(node.gpus)
                if gpu in (None, index)
                and {"any": True, "busy": index in node.in_use, "idle": index not in node.in_use}[
                    usage
                ]
            }
        elif {"any": True, "busy": is_busy, "idle": not is_busy}[usage]:
            units = {(node.name, None, "") for node in ours}
        groups += [units] if units else []
    return groups


def wanted(target: dict[str, Any], number: int) -> int:
    if "count" in target:
        return int(target["count"]) if target["count"] <= number else 0
    if "percent" in target and number:
        return max(1, round(number * float(target["percent"]) / 100 + 1e-9))
    return number


def units_of(found: Sequence[FaultUnit]) -> list[Unit]:
    return [(unit.node, unit.gpu, unit.pod) for unit in found]


@pytest.mark.parametrize("seed", range(300))
def test_a_target_hits_what_it_says(seed: int) -> None:
    chance = random.Random(seed)
    class_name = chance.choice(CLASSES)
    nodes, target = a_fleet(chance), a_target(chance, class_name)
    fault = spec(class_name, seed=seed, **target)
    found_class = CATALOGUE.find(class_name)

    found = select(found_class, fault, nodes)

    may = groups(class_name, target, nodes)
    hit = units_of(found.units)
    assert len(set(hit)) == len(hit)
    touched = [group for group in may if not group.isdisjoint(hit)]
    assert len(touched) == wanted(target, len(may))
    assert set(hit) <= set().union(*may)
    if class_name == "xid-79":
        assert len(hit) == len(touched)
    else:
        assert set(hit) == set().union(*touched)
    assert bool(found.problem) is not bool(hit)

    mixed = [*nodes]
    chance.shuffle(mixed)
    assert select(found_class, fault, mixed) == found
    if "count" in target and hit and class_name == "not-ready":
        left = [node for node in nodes if node.name != hit[0][0]]
        rest = units_of(select(found_class, fault, left).units)
        assert not rest or rest[: len(hit) - 1] == hit[1:]
