"""Reads from what a node says of itself which pods it takes."""

from collections.abc import Mapping
from functools import lru_cache

import orjson

from kwokctl.controller.lifecycle.admission.ports import HostPorts
from kwokctl.controller.lifecycle.admission.refusal import NodeState
from kwokctl.controller.lifecycle.admission.requests import amounts
from kwokctl.controller.nodes.facts import NodeFacts, pressures_of


def node_state(
    name: str, facts: NodeFacts, used: Mapping[str, int], ports: HostPorts = ()
) -> NodeState:
    """Return what decides about one more pod; `used` and `ports` are what the others have."""
    return NodeState(
        name=name,
        labels=orjson.loads(facts.labels),
        allocatable=_allocatable(facts.allocatable),
        used=used,
        pressures=pressures_of(facts),
        ports=ports,
        taints=facts.taints,
        operating_system=facts.operating_system,
    )


@lru_cache(maxsize=256)
def _allocatable(encoded: bytes) -> Mapping[str, int]:
    return amounts(orjson.loads(encoded) or {})
