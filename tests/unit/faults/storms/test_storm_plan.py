"""The plan of a storm: what fails when, and what that depends on."""

import random
from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import Any

import msgspec
import pytest

from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import FAULT_SCHEDULE, OWN
from kwokctl.errors import ConfigError
from kwokctl.faults.storms.schedule_reader import Schedule, profile_names, read_schedule
from kwokctl.faults.storms.storm_plan import PlannedFault, StormPlan, storm_plan
from kwokctl.faults.targets.candidates import CandidateNode
from tests.support.fault_targets import candidate_node, fleet
from tests.support.faults import CATALOGUE

DAY = 86_400.0


def schedule(*processes: Any, **spec: Any) -> Schedule:
    given = {"horizon": "240h", "seed": 7, **spec}
    if processes:
        given["processes"] = [*processes]
    body = {"apiVersion": OWN, "kind": FAULT_SCHEDULE, "metadata": {"name": "s"}, "spec": given}
    document = Document(
        kind=FAULT_SCHEDULE, api_version=OWN, name="s", body=body, source="s.yaml, document 1"
    )
    return read_schedule(document, CATALOGUE)


def plan(nodes: Sequence[CandidateNode], *processes: Any, **spec: Any) -> StormPlan:
    found = schedule(*processes, **spec)
    return storm_plan(found.spec, found.processes, CATALOGUE, nodes)


def poisson(class_name: str, mean_time: str, **more: Any) -> dict[str, Any]:
    return {"class": class_name, "every": {"poisson": {"mean": mean_time}}, **more}


def of_unit(found: StormPlan, unit: str) -> list[PlannedFault]:
    return [each for each in found.faults if each.unit == unit]


STORM = (
    poisson("xid-79", "400h", **{"for": {"lognormal": {"p50": "10m", "p95": "2h"}}}),
    {"class": "not-ready", "every": {"weibull": {"shape": 0.7, "scale": "500h"}}, "for": "5m"},
    {"class": "leaf-down", "every": {"fixed": {"gap": "50h"}}},
)


def test_equal_schedules_have_equal_plans_whatever_the_order_of_the_nodes() -> None:
    nodes = [*fleet(16)]
    before = msgspec.json.encode(plan(nodes, *STORM))
    random.Random(3).shuffle(nodes)

    assert msgspec.json.encode(plan(nodes, *STORM)) == before
    assert msgspec.json.encode(plan(nodes, *STORM, seed=8)) != before


def test_another_node_or_process_leaves_what_others_do_as_it_was() -> None:
    small, large = (plan(fleet(number), *STORM[:2]) for number in (8, 12))
    names = {node.name for node in fleet(8)}
    assert [each for each in large.faults if set(each.nodes) <= names] == [*small.faults]

    more = plan(fleet(8), *STORM, poisson("xid-48", "100h"))
    processes = {each.process for each in small.faults}
    assert [each for each in more.faults if each.process in processes] == [*small.faults]


def test_a_longer_storm_begins_like_a_shorter_one() -> None:
    short, long = (plan(fleet(8), *STORM, horizon=each) for each in ("100h", "200h"))

    assert long.faults[: len(short.faults)] == short.faults
    assert all(each.at >= 100 * 3600 for each in long.faults[len(short.faults) :])


def test_independent_faults_come_as_often_as_their_mean_says() -> None:
    found = plan([candidate_node(f"n-{n}", gpus=8) for n in range(500)], poisson("xid-79", "100h"))

    # 4,000 GPUs in 240 h: 9,600 faults, with a deviation of 98.
    assert abs(len(found.faults) - 9_600) < 5 * 98
    counts = Counter(each.unit for each in found.faults)
    assert abs(mean(counts[f"n-{n}/gpu-{g}"] for n in range(500) for g in range(8)) - 2.4) < 0.13


def test_a_rate_a_day_is_the_same_as_its_mean_time() -> None:
    one = plan(fleet(8), {"class": "xid-79", "every": {"poisson": {"perDay": 0.25}}})

    assert one == plan(fleet(8), poisson("xid-79", "96h"))


def test_63_percent_of_all_units_have_failed_at_the_scale_of_weibull() -> None:
    nodes = [candidate_node(f"n-{n}") for n in range(4_000)]
    for shape in (0.7, 1.5):
        every = {"weibull": {"shape": shape, "scale": "240h"}}
        failed = {each.unit for each in plan(nodes, {"class": "not-ready", "every": every}).faults}
        assert abs(len(failed) / 4_000 - 0.632) < 0.04


def test_lemons_fail_as_many_times_as_often_as_their_factor_says() -> None:
    nodes = [candidate_node(f"n-{n}") for n in range(1_000)]
    lemons = {"fraction": 0.1, "factor": 20}
    found = plan(nodes, poisson("not-ready", "1000h"), lemons=lemons)

    assert 70 < len(found.lemons) < 130
    counts = Counter(each.lemon for each in found.faults)
    ratio = (counts[True] / len(found.lemons)) / (counts[False] / (1_000 - len(found.lemons)))
    assert 15 < ratio < 25
    assert {each.unit for each in found.faults if each.lemon} <= set(found.lemons)


def test_a_higher_rate_brings_each_fault_of_a_unit_earlier() -> None:
    once, twice = (
        plan(fleet(4), poisson("not-ready", "100h"), rateFactor=factor) for factor in (1, 2)
    )
    first = of_unit(once, "n-000")

    assert [each.at for each in of_unit(twice, "n-000")][: len(first)] == pytest.approx(
        [each.at / 2 for each in first], abs=0.001
    )


def test_fixed_and_given_times() -> None:
    fixed = {"class": "not-ready", "every": {"fixed": {"gap": "100h", "first": "0s"}}}
    trace = {
        "class": "gpu-lost",
        "every": {"trace": [{"at": "30m", "unit": "n-001/gpu-3"}, {"at": "1h"}, {"at": "999h"}]},
        "for": "90s",
    }
    found = plan(fleet(4), fixed, trace)

    assert [each.at for each in found.faults if each.process == "not-ready"] == [0.0, 360e3, 720e3]
    given = [each for each in found.faults if each.process == "gpu-lost"]
    assert [(each.at, each.lasts) for each in given] == [(1800.0, 90.0), (3600.0, 90.0)]
    assert (given[0].unit, given[0].nodes, given[0].gpu) == ("n-001/gpu-3", ("n-001",), 3)


def test_units_of_the_fleet_fail_as_a_whole() -> None:
    leaf = {"class": "leaf-down", "every": {"fixed": {"gap": "10h"}}}
    rack = {"name": "hot", "class": "not-ready", "unit": "rack", "every": {"fixed": {"gap": "9h"}}}
    found = plan(fleet(8), leaf, rack)

    leaves = {each.unit: each for each in found.faults if each.process == "leaf-down"}
    assert leaves["l-001"].nodes == ("n-004", "n-005", "n-006", "n-007")
    assert leaves["l-001"].racks == ("r-002", "r-003")
    racks = {each.unit: each for each in found.faults if each.process == "hot"}
    assert (racks["r-003"].nodes, racks["r-003"].level) == (("n-006", "n-007"), "rack")


def test_lengths_are_drawn_and_have_their_percentiles() -> None:
    nodes = [candidate_node(f"n-{n}") for n in range(2_000)]
    lasts = {"lognormal": {"p50": "10m", "p95": "2h"}}
    found = plan(nodes, poisson("not-ready", "240h", **{"for": lasts}))
    lengths = sorted(each.lasts or 0.0 for each in found.faults)

    assert abs(lengths[len(lengths) // 2] / 600 - 1) < 0.15
    assert abs(lengths[int(len(lengths) * 0.95)] / 7_200 - 1) < 0.3


def test_a_process_without_units_is_named() -> None:
    found = plan(
        [candidate_node("n-0", gpus=0)], poisson("xid-79", "1h"), poisson("not-ready", "9h")
    )

    assert found.empty == ("xid-79",)
    assert {each.process for each in found.faults} == {"not-ready"}


@pytest.mark.parametrize("name", profile_names())
def test_each_profile_has_as_many_faults_as_its_source_says(name: str) -> None:
    """16,384 H100 GPUs in 54 days: 342 of the 419 stops; 2,000 nodes in 50 days at 6.5 in 1,000 node-days: 650."""
    size, days, stops = {"llama3-h100": (2_048, 54, 342), "rsc1-a100": (2_000, 50, 650)}[name]
    nodes = [candidate_node(f"n-{n}", gpus=8) for n in range(size)]

    found = plan(nodes, profile=name, horizon=f"{days * 24}h")

    assert abs(len(found.faults) - stops) < 5 * stops**0.5


@pytest.mark.parametrize(
    ("process", "spec", "words"),
    [
        ({"class": "xid-97"}, {}, ["spec.processes[0].class", "xid-97"]),
        ({"class": "app-failed"}, {}, ["spec.processes[0].class", "pods"]),
        ({"parameters": {"gpu": -1}}, {}, ["spec.processes[0].parameters.gpu", "-1"]),
        ({"every": {}}, {}, ["spec.processes[0].every", "poisson"]),
        ({"every": {"poisson": {"mean": "soon"}}}, {}, ["every.poisson.mean", "soon"]),
        ({"every": {"poisson": {}}}, {}, ["every.poisson", "perDay"]),
        ({"every": {"fixed": {"gap": "1ms"}}}, {}, ["every.fixed.gap", "1,000,000"]),
        ({"for": "0s"}, {}, ["spec.processes[0].for", "no time at all"]),
        ({"for": {"uniform": {"from": "1m", "to": "-1m"}}}, {}, ["for.uniform.to", "-1m"]),
        ({"unit": "rack"}, {}, ["spec.processes[0].unit", "one GPU"]),
        ({}, {"limits": {"maxOpen": "101%"}}, ["spec.limits.maxOpen"]),
        ({}, {"limits": {"maxOpen": 0}}, ["spec.limits.maxOpen"]),
        ({}, {"timeScale": 0}, ["spec.timeScale"]),
        ({"speed": 1}, {}, ["spec.processes[0].speed", "not a field"]),
        ({}, {"horizon": "0s"}, ["spec.horizon", "no time at all"]),
        ({}, {"profile": "llama3"}, ["spec.profile", "llama3-h100"]),
        ({}, {"rateFactor": 0}, ["spec.rateFactor"]),
        ({}, {"lemons": {"fraction": 2, "factor": 2}}, ["spec.lemons.fraction"]),
        ({}, {"dialects": ["aksi"]}, ["spec.dialects[0]", "aks"]),
        ({}, {"target": {"where": "rack =="}}, ["spec.target.where"]),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(
    process: dict[str, Any], spec: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as refused:
        schedule({**poisson("xid-79", "1h"), **process}, **spec)

    text = f"{refused.value} {refused.value.hint}"
    assert [word for word in ("s.yaml, document 1", *words) if word not in text] == []


def test_two_processes_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="several with the name 'xid-79'"):
        schedule(poisson("xid-79", "1h"), poisson("xid-79", "2h"))
    with pytest.raises(ConfigError, match="is empty"):
        schedule()
