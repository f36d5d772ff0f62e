"""Which containers the faults of devices, of nodes and of gangs hit."""

import math
from typing import Any

import pytest

from kwokctl.controller.lifecycle.pod_faults.hits import WorkloadHit, hits_of
from kwokctl.faults.overlays.open_entries import OpenEntry, WorkloadEffect
from tests.support.pod_lives import pod

TWO = ({"name": "main", "image": "x"}, {"name": "side", "image": "x"})
BODY = pod(*TWO, init=[{"name": "first", "image": "x"}])
GPUS = {"main": frozenset({0, 3})}


def entry(gpu: int | None = None, **more: Any) -> OpenEntry:
    effect = WorkloadEffect(effect="fail", exit_code=9)
    fields = {"fault": "f", "uid": "u", "class_name": "c", "since": 100.0, "workload": effect}
    return OpenEntry(**{**fields, "gpu": gpu, **more})


STRIKE = WorkloadHit(
    key="v//0",
    fault="g",
    since=90.0,
    effect=WorkloadEffect(effect="fail", after="7s"),
    is_struck=True,
)


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        ([entry(3)], {"main"}),
        ([entry(1)], set()),
        ([entry()], {"main", "side"}),
        ([entry(workload=None)], set()),
        ([entry(kubelet="rebooting")], set()),
        ([entry(kubelet="silent")], {"main", "side"}),
    ],
)
def test_a_fault_hits_the_containers_with_its_device(
    entries: list[OpenEntry], names: set[str]
) -> None:
    assert hits_of(BODY, entries, GPUS).containers.keys() == names


def test_each_fault_hits_by_itself() -> None:
    found = hits_of(BODY, [entry(0), entry(3), entry(3, order=1)], GPUS).containers["main"]
    assert [each.key for each in found] == ["u/0/0", "u/3/0", "u/3/1"]


def test_a_strike_hits_the_containers_with_devices_or_else_all() -> None:
    assert hits_of(BODY, [], GPUS, [STRIKE]).containers == {"main": (STRIKE,)}
    assert hits_of(BODY, [], {}, [STRIKE]).containers.keys() == {"main", "side"}


def test_a_pod_that_a_fault_hits_itself_is_not_struck_by_it_as_well() -> None:
    found = hits_of(BODY, [entry(uid="v")], GPUS, [STRIKE]).containers["main"]
    assert [each.is_struck for each in found] == [False]


@pytest.mark.parametrize(
    ("started", "begins"),
    [(0.0, 107.0), (99.9, 107.0), (100.0, 107.0), (101.0, 108.0), (500.0, 507.0)],
)
def test_a_fault_shows_after_its_time_also_in_what_starts_later(
    started: float, begins: float
) -> None:
    effect = WorkloadEffect(effect="hang", after="7s")
    hit = WorkloadHit(key="k", fault="f", since=100.0, effect=effect)
    assert hit.begins(started) == begins


@pytest.mark.parametrize("after", ["0s", "", "soon", "-1x"])
def test_a_fault_without_a_time_shows_at_once_but_not_before_a_program_has_run(after: str) -> None:
    hit = WorkloadHit(
        key="k", fault="f", since=100.0, effect=WorkloadEffect(effect="fail", after=after)
    )
    assert [hit.begins(each) for each in (50.0, 99.0, 99.5, 200.0)] == [100.0, 100.0, 100.5, 201.0]


@pytest.mark.parametrize(("started", "begins"), [(89.0, 90.0), (90.0, 90.0), (91.0, math.inf)])
def test_a_strike_is_for_what_ran_then(started: float, begins: float) -> None:
    assert STRIKE.begins(started) == begins


@pytest.mark.parametrize(("gang", "struck"), [(True, False), (True, True), (False, False)])
def test_only_the_pod_that_is_hit_itself_tells_its_gang(gang: bool, struck: bool) -> None:
    effect = WorkloadEffect(effect="fail", gang=gang)
    hit = WorkloadHit(key="k", fault="f", since=0.0, effect=effect, is_struck=struck)
    assert hit.is_for_gang is (gang and not struck)
