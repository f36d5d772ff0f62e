"""Figures of a run as objects: the names are those of the catalogue, the values those of the report."""

from functools import reduce
from typing import Any, assert_type

import msgspec
import pytest

from kwokctl.errors import NotFoundError
from kwokctl.library.measuring import figure_values
from kwokctl.library.measuring.figure_places import FigurePlace, ReportedFigure
from kwokctl.library.measuring.figure_values import (
    BoundsFigure,
    DistributionFigure,
    LevelsFigure,
    NumberFigure,
    SeriesFigure,
)
from kwokctl.library.measuring.measurement import Measurement
from kwokctl.library.measuring.run_figures import (
    FleetRequestedFigures,
    GangsFigures,
    GroupFigures,
    RunFigures,
)
from kwokctl.measure.figures.figure import Figure
from kwokctl.measure.figures.figure_catalogue import FIGURES, GROUPED, STATISTICS
from kwokctl.measure.figures.values import Bounds, Levels, SingleNumber, Value
from kwokctl.measure.reports.report import FigureReport, Figures, ReportRequest, report_on
from tests.support.measured import SECOND, history, life

KINDS = {
    "number": NumberFigure,
    "distribution": DistributionFigure,
    "series": SeriesFigure,
    "levels": LevelsFigure,
    "bounds": BoundsFigure,
}
LINES = [each for n in range(1, 5) for each in life(n, n * SECOND, (2 * n + 1) * SECOND)]
LEVELS = Levels(
    mean=2.0, min=1.0, max=3.0, first=1.0, last=3.0, start=0.0, step=1.0, values=(1.0, 3.0)
)
BOUNDS = Bounds(count=4, p50=0.1, p90=0.2, p99=None, largest=60.0)


def reported(value: Value, parts: str = "", unit: str = "") -> FigureReport:
    return FigureReport(title="x", unit=unit, value=value, parts=parts)


@pytest.fixture(scope="module")
def run() -> RunFigures:
    return RunFigures(report_on(history(LINES), ReportRequest(record="x")).figures, "")


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_each_figure_of_the_catalogue_is_an_attribute_of_its_kind(
    figure: Figure, run: RunFigures
) -> None:
    name, form = figure.name, figure.form
    found: Any = reduce(getattr, name.split("."), run)

    assert (found.name, isinstance(found, KINDS[form])) == (name, True)
    assert [word for word in STATISTICS[form] if not hasattr(type(found), word)] == []
    assert repr(found).startswith(f"{name}: ")


def test_groups_have_the_figures_that_are_computed_for_groups() -> None:
    group = GroupFigures({}, "")

    assert {name.partition(".")[0] for name in (each.name for each in GROUPED)} == {
        name for name in vars(GroupFigures) if not name.startswith("_")
    }
    assert isinstance(group.pods, FigurePlace)


def test_no_figure_hides_what_a_measurement_can_do() -> None:
    figures = {*vars(RunFigures), *vars(GroupFigures)} - {*vars(object), "__module__", "__doc__"}

    assert not figures & {name for name in vars(Measurement) if not name.startswith("__")}


def test_types_are_known_before_a_run(run: RunFigures) -> None:
    assert_type(run.pods.created_to_bound, DistributionFigure)
    assert_type(run.pods.created_to_bound.p99, float)
    assert_type(run.gangs, GangsFigures)
    assert_type(run.gangs.value, float)
    assert_type(run.fleet.requested, FleetRequestedFigures)
    assert_type(run.fleet.requested.cpu, LevelsFigure)


def test_the_values_are_those_of_the_report(run: RunFigures) -> None:
    bound = run.pods.created_to_bound

    assert (bound.count, bound.p50, bound.p99, bound.max) == (4, 3.0, 5.0, 5.0)
    assert (bound.min, bound.mean, bound.left_out, bound.open) == (2.0, 3.5, 0, 0)
    assert sum(number for _, number in bound.histogram) == 4
    assert (bound.unit, bound.title) == ("s", "from creation until bound to a node")
    assert repr(bound) == (
        "pods.created_to_bound: count 4, p50 3.00 s, p90 5.00 s, p99 5.00 s, max 5.00 s"
    )
    rate = run.rates.bound
    assert (rate.count, rate.peak, rate.values[0], rate.start) == (4, 1, 1, 3.0)


def test_a_number_is_compared_as_it_is(run: RunFigures) -> None:
    created = run.pods.created

    assert created == 4
    assert created != 5
    assert 3 < created <= 4
    assert created >= run.pods.ended
    assert created > run.pods.ended
    assert created < 5
    assert (float(created), bool(created), bool(run.pods.ended)) == (4.0, True, False)
    assert hash(created) == hash(4)
    assert created != "4"


def test_what_was_not_measured_says_why_and_compares_with_nothing(run: RunFigures) -> None:
    figure = run.jobs.makespan

    assert (figure.is_measured, figure.why) == (False, "no Job was complete")
    assert repr(figure) == "jobs.makespan: not measured: no Job was complete"
    with pytest.raises(NotFoundError, match=r"'jobs.makespan' was not measured: no Job was"):
        assert figure != 5
    with pytest.raises(NotFoundError, match=r"'jobs.jct.p99' was not measured: no Job came"):
        assert run.jobs.jct.p99
    with pytest.raises(NotFoundError, match=r"'rates.bound.sustained' was not measured: it went"):
        assert run.rates.bound.sustained
    assert "sustained ?" in repr(run.rates.bound)


def test_parts_are_figures_of_their_own() -> None:
    part = msgspec.structs.replace(LEVELS, mean=0.5)
    figures: Figures = {
        "components.cpu": reported(
            msgspec.structs.replace(LEVELS, parts={"etcd": part}), "component"
        ),
        "api.mutating": reported(
            msgspec.structs.replace(BOUNDS, parts={"POST pods": BOUNDS}), "request", "s"
        ),
        "api.refusals": reported(SingleNumber(3, {"409": 3}), "code"),
    }
    run = RunFigures(figures, "")

    assert run.components.cpu.parts == ("etcd",)
    assert (run.components.cpu["etcd"].mean, run.components.cpu.mean) == (0.5, 2.0)
    assert run.components.cpu["etcd"].name == "components.cpu[component=etcd]"
    assert run.api.mutating["POST pods"].p90 == 0.2
    assert run.api.refusals["409"] == 3
    with pytest.raises(NotFoundError, match="nothing with component=etdc"):
        run.components.cpu["etdc"]
    with pytest.raises(NotFoundError, match="it is above 60 s"):
        assert run.api.mutating.p99


def test_figures_of_devices_are_found_by_name() -> None:
    figures: Figures = {
        f"fleet.requested.{name}": reported(LEVELS, unit="%") for name in ("cpu", "nvidia.com/gpu")
    }
    run = RunFigures(figures, "")

    assert run.fleet.requested.names == ("cpu", "nvidia.com/gpu")
    assert run.fleet.requested["nvidia.com/gpu"].max == 3.0
    assert run.fleet.requested.cpu.values == (1.0, 3.0)
    with pytest.raises(NotFoundError, match=r"no figure 'fleet.requested.nvidia.com/gup'") as error:
        run.fleet.requested["nvidia.com/gup"]
    assert "nvidia.com/gpu" in str(error.value.hint)
    with pytest.raises(NotFoundError, match=r"no figure 'latency\.ready'") as error:
        run.latency["ready"]
    assert error.value.hint == "there are: none"


def test_every_class_of_values_is_used() -> None:
    made = {
        each
        for each in vars(figure_values).values()
        if isinstance(each, type) and issubclass(each, ReportedFigure)
    }

    assert {*KINDS.values()} <= made
