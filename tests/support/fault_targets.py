"""Candidates and specs for tests of the selection of faults."""

from collections.abc import Mapping, Sequence
from typing import Any

from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget
from kwokctl.faults.targets.candidates import CandidateNode, CandidatePod


def pod(key: str = "default/web-0", *gpus: int, **fields: Any) -> CandidatePod:
    """Return a pod that uses some GPUs."""
    return CandidatePod(key=key, uid=f"uid-{key}", gpus=frozenset(gpus), **{"labels": {}, **fields})


def candidate_node(
    name: str,
    *pods: CandidatePod,
    gpus: int = 8,
    place: Mapping[str, str] | None = None,
    **fields: Any,
) -> CandidateNode:
    """Return a node of ours that is ready."""
    usual: dict[str, Any] = {
        "labels": {},
        "annotations": {},
        "capacity": {},
        "shape": "",
        "is_ready": True,
        "is_cordoned": False,
    }
    return CandidateNode(
        name=name, uid=f"uid-{name}", gpus=gpus, pods=pods, place=place or {}, **(usual | fields)
    )


def fleet(size: int, **fields: Any) -> Sequence[CandidateNode]:
    """Return nodes `n-000` to `n-…`, with two in a rack and two racks on a leaf."""
    return [
        candidate_node(
            f"n-{number:03}",
            place={"rack": f"r-{number // 2:03}", "leaf": f"l-{number // 4:03}"},
            **fields,
        )
        for number in range(size)
    ]


def spec(
    class_name: str, *, parameters: Mapping[str, Any] | None = None, seed: int = 42, **target: Any
) -> FaultSpec:
    """Return a fault with a target."""
    return FaultSpec(
        class_name=class_name,
        target=FaultTarget(**target),
        parameters=dict(parameters or {}),
        seed=seed,
    )
