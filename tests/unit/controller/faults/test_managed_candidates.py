"""What is kept of nodes suffices for a selection: it is the same as of the nodes themselves."""

import asyncio

import msgspec
import pytest

from kwokctl.controller.engine.decoded import DecodedNode
from kwokctl.controller.engine.node_reading import facts_of
from kwokctl.controller.faults.managed_candidates import (
    MANY,
    ManagedCandidates,
    is_enough,
    managed_candidate,
)
from kwokctl.controller.nodes.node_registry import ManagedNode
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget
from kwokctl.faults.targets.candidates import CandidateNode, candidate
from kwokctl.faults.targets.target_selection import select
from kwokctl.json_value import Json
from kwokctl.replacing import replace

RACK = "dgx-rack-0001"


def fleet() -> list[Json]:
    """Return nodes, of which the last has no GPUs, and of one GPU of the first it is said that it is missing."""
    return [
        {
            "metadata": {
                "name": f"n-{number}",
                "uid": f"uid-{number}",
                "labels": {"kwokctl.dev/shape": "dgx", "nvidia.com/gpu.count": "8"}
                if number
                else {},
                "annotations": {
                    "kwokctl.dev/place": f"rack={RACK if number < 2 else 'other'},leaf=l",
                    "kwokctl.dev/device-inventory": "nvidia.com/gpu=8" if number == 0 else "",
                },
            },
            "status": {
                "capacity": {"nvidia.com/gpu": "7" if number == 0 else "8"} if number < 4 else {},
                "conditions": [{"type": "Ready", "status": "True" if number else "False"}],
            },
        }
        for number in range(5)
    ]


def managed(body: Json) -> ManagedNode:
    seen = msgspec.json.decode(msgspec.json.encode(body), type=DecodedNode)
    meta = seen.metadata
    return ManagedNode(meta.name, meta.uid, (), (), facts=facts_of(seen))


def of_managed(node: ManagedNode) -> CandidateNode:
    return managed_candidate(node.name, node.uid, node.facts)


@pytest.mark.parametrize(
    ("found", "target"),
    [
        ("not-ready", FaultTarget(count=2)),
        ("xid-79", FaultTarget(percent=60)),
        ("rack-power", FaultTarget(unit=RACK)),
        ("gpu-missing", FaultTarget(count=4)),
    ],
)
def test_a_selection_is_the_same(found: str, target: FaultTarget) -> None:
    known = FaultCatalogue().find(found)
    spec = FaultSpec(class_name=found, target=target, seed=7)
    of_nodes = [candidate(body) for body in fleet()]
    of_kept = [of_managed(managed(body)) for body in fleet()]

    assert select(known, spec, of_kept) == select(known, spec, of_nodes)
    assert select(known, spec, of_nodes).units
    for kept, node in zip(of_kept, of_nodes, strict=True):
        assert (kept.capacity, kept.place, kept.shape) == (node.capacity, node.place, node.shape)
        assert (kept.gpus, kept.is_ready) == (node.gpus, node.is_ready)


@pytest.mark.parametrize(
    ("target", "is_so"),
    [
        (FaultTarget(count=1), True),
        (FaultTarget(where="cordoned"), False),
        (FaultTarget(count=1, usage="idle"), False),
    ],
)
def test_a_target_that_asks_for_more_needs_the_nodes(target: FaultTarget, is_so: bool) -> None:
    assert is_enough(target) is is_so


async def test_a_candidate_is_kept_until_its_node_changes() -> None:
    nodes = [managed(body) for body in fleet()]
    kept = ManagedCandidates(nodes)
    first = await kept.all()
    assert first == [of_managed(node) for node in nodes]
    assert all(one is other for one, other in zip(first, await kept.all(), strict=True))

    nodes[0].facts = replace(nodes[0].facts, place=f"rack={RACK}-b")
    nodes[1] = ManagedNode(nodes[1].name, "another", (), (), facts=nodes[1].facts)
    gone = nodes.pop()
    second = await kept.all()

    assert second == [of_managed(node) for node in nodes]
    assert (second[0].place["rack"], second[1].uid) == (f"{RACK}-b", "another")
    assert gone.name not in {each.name for each in second}
    assert second[2] is first[2]


async def test_candidates_are_kept_while_they_are_asked_for() -> None:
    kept = ManagedCandidates([managed(body) for body in fleet()])
    (first, *_) = await kept.all()
    kept.tidy()
    assert (await kept.all())[0] is first

    kept.tidy()
    kept.tidy()
    assert (await kept.all())[0] is not first


async def test_many_candidates_are_made_beside_other_work() -> None:
    (body,) = fleet()[1:2]
    nodes = [
        managed({**body, "metadata": {**body["metadata"], "name": f"n-{n}"}}) for n in range(MANY)
    ]
    making = asyncio.create_task(ManagedCandidates(nodes).all())
    turns = 0
    while not making.done():
        await asyncio.sleep(0)
        turns += 1

    assert [each.name for each in making.result()] == [node.name for node in nodes]
    assert turns > 1
