from graphlib import CycleError

import pytest

from kwokctl.model import Artifact, ClusterName, Component, ComponentName, Plan

PROGRAM = Artifact(name="p", version="v0")


def component(name: str, *after: str) -> Component:
    return Component(
        name=ComponentName(name),
        artifact=PROGRAM,
        after=frozenset(ComponentName(other) for other in after),
    )


def plan(*components: Component) -> Plan:
    return Plan(cluster=ClusterName("c"), components={c.name: c for c in components})


def test_a_component_that_waits_for_an_absent_one_starts_at_once() -> None:
    waves = list(plan(component("a", "gone"), component("b", "a")).waves())

    assert [[c.name for c in wave] for wave in waves] == [["a"], ["b"]]


def test_components_that_wait_for_each_other_are_refused() -> None:
    with pytest.raises(CycleError):
        list(plan(component("a", "b"), component("b", "a")).waves())
