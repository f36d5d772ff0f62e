"""Reads from what a node says of itself which pods it takes."""

from collections.abc import Mapping
from functools import lru_cache

import orjson

from kwokctl.controller.lifecycle.admission.refusal import NodeState
from kwokctl.controller.lifecycle.admission.requests import amounts
from kwokctl.controller.nodes.facts import NodeFacts

_CONDITIONS = {"memory": "MemoryPressure", "disk": "DiskPressure", "pid": "PIDPressure"}
"""The conditions of pressure, by the words of the annotation."""


def node_state(name: str, facts: NodeFacts, used: Mapping[str, int]) -> NodeState:
    """Return what decides about one more pod; `used` is what the others request."""
    return NodeState(
        name=name,
        labels=orjson.loads(facts.labels),
        allocatable=_allocatable(facts.allocatable),
        used=used,
        pressures=pressures_of(facts),
    )


def pressures_of(facts: NodeFacts) -> tuple[str, ...]:
    """Return the conditions of pressure that a node has, or that its annotation gives it."""
    return _pressures(facts.pressure, facts.conditions)


@lru_cache(maxsize=64)
def _pressures(annotation: str, conditions: tuple[str, ...]) -> tuple[str, ...]:
    named = {_CONDITIONS.get(word.strip(), "") for word in annotation.split(",")}
    return tuple(name for name in _CONDITIONS.values() if name in named.union(conditions))


@lru_cache(maxsize=256)
def _allocatable(encoded: bytes) -> Mapping[str, int]:
    return amounts(orjson.loads(encoded) or {})
