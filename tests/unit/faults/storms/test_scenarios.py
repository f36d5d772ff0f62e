"""The schedules of the examples: each is one case of a scorecard."""

from itertools import pairwise
from pathlib import Path

import pytest

from kwokctl.config.config_documents import load_documents
from kwokctl.faults.storms.schedule_reader import read_schedule, schedule_of
from kwokctl.faults.storms.storm_plan import StormPlan, storm_plan
from tests.support.fault_targets import candidate_node
from tests.support.faults import CATALOGUE

_SCENARIOS = Path(__file__).parents[4] / "examples/faults/scenarios"
_COUNTS = {
    "burst-10": 10, "burst-100": 100, "burst-400": 400, "burst-500": 500, "cancellation": 10, "cold-start": 20, "duplicate": 2, "ramp": 40,
    "superseding": 2,
}  # fmt: skip


def planned(name: str) -> StormPlan:
    """Return the plan of a scenario on a fleet whose first node is that of the examples."""
    file = str(_SCENARIOS / f"{name}.yaml")
    nodes = [candidate_node(f"dgx-h100-{number:06}") for number in range(400)]
    found = read_schedule(schedule_of(load_documents([file]), file), CATALOGUE)
    return storm_plan(found.spec, found.processes, CATALOGUE, nodes)


@pytest.mark.parametrize("name", _COUNTS)
def test_a_scenario_has_as_many_faults_as_it_says_and_a_unit_for_each(name: str) -> None:
    found = planned(name)

    assert len(found.faults) == _COUNTS[name]
    assert not found.empty


def test_a_peak_has_many_more_faults_than_a_nominal_day() -> None:
    nominal, peak = (len(planned(name).faults) for name in ("nominal", "peak"))

    assert 0 < 5 * nominal < peak


def test_every_scenario_is_tried_and_has_the_name_of_its_file() -> None:
    files = {each.stem: each.read_text() for each in _SCENARIOS.glob("*.yaml")}

    assert files.keys() == _COUNTS.keys() | {"nominal", "peak"}
    assert all(f"metadata: {{name: {name}}}" in text for name, text in files.items())


def test_ramps_become_steeper_and_duplicates_hit_the_same_unit() -> None:
    times = [each.at for each in planned("ramp").faults]
    gaps = [after - before for before, after in pairwise(times)]
    assert gaps[0] > 2 * gaps[-1]
    assert len({each.unit for each in planned("duplicate").faults}) == 1
    assert len({node for each in planned("superseding").faults for node in each.nodes}) == 1
