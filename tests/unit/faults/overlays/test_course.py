"""When a fault is shown on a unit, by whom, and what follows from it."""

import pytest

from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.unit_rows import DECIMALS, FaultUnit, UnitRow, read_row, row_text
from kwokctl.faults.overlays.definitions import definition_name, definition_of, read_definition
from kwokctl.faults.overlays.fault_course import Course, InjectedFault, course_of
from kwokctl.faults.overlays.fault_events import fault_events
from kwokctl.faults.overlays.open_entries import entries_of
from kwokctl.faults.overlays.overlay import overlay
from tests.support.faults import NOON, node

CATALOGUE = FaultCatalogue()


def course(
    name: str,
    *dialects: str,
    gpu: int | None = None,
    seed: int = 42,
    on: str = "n-0",
    scale: float = 1.0,
    **parameters: object,
) -> Course:
    definition = read_definition(definition_of(CATALOGUE, name, dialects))
    fault = InjectedFault(
        name="demo", uid="u", seed=seed, parameters=parameters, since=NOON, time_scale=scale
    )
    return course_of(definition, fault, FaultUnit(node=on, node_uid="x", gpu=gpu), gpus=8)


def test_an_agent_shows_a_fault_within_its_poll_interval() -> None:
    times = [
        course("gpu-missing", "aks", gpu=0, on=f"n-{number}").parts[0].signals[0][0]
        for number in range(200)
    ]

    assert 0 < min(times) < 5
    assert 55 < max(times) < 60
    assert 25 < sum(times) / len(times) < 35


def test_a_faster_clock_shortens_all_delays_and_changes_nothing_else() -> None:
    usual, fast = course("xid-79", "eks", gpu=3), course("xid-79", "eks", gpu=3, scale=4.0)

    assert [each.begins for each in fast.parts] == [each.begins / 4 for each in usual.parts]
    assert [[time for time, _ in each.signals] for each in fast.parts] == [
        [time / 4 for time, _ in each.signals] for each in usual.parts
    ]
    assert [each.identity.since for each in fast.parts] == [
        NOON + each.begins for each in fast.parts
    ]
    assert [each.parameters for each in fast.parts] == [each.parameters for each in usual.parts]


def test_equal_seeds_give_equal_courses_whatever_the_uid() -> None:
    assert course("xid-79", "eks", gpu=3) == course("xid-79", "eks", gpu=3)
    assert course("xid-79", "eks", gpu=3, seed=43) != course("xid-79", "eks", gpu=3)


def test_what_another_dialect_shows_does_not_change_when_this_one_does() -> None:
    def of_eks(*dialects: str) -> float:
        return next(
            time
            for time, due in course("xid-79", *dialects, gpu=3).parts[0].signals
            if due.dialect.name == "eks"
        )

    assert of_eks("eks") == of_eks("azurehpc", "eks", "aks")


def test_peers_and_all_gpus_of_the_node_follow_from_a_gpu_that_is_lost() -> None:
    parts = course("xid-79", "eks", gpu=3).parts
    by_class: dict[str, list[int]] = {}
    for part in parts:
        by_class.setdefault(part.found.name, []).append(part.parameters["gpu"])

    assert by_class["xid-79"] == [3]
    assert by_class["xid-154"] == [*range(8)]
    assert by_class["xid-45"] == [0, 1, 2, 4, 5, 6, 7]
    assert [part.begins for part in parts if part.found.name == "xid-154"] == [0.7] * 8
    assert [part.identity.order for part in parts] == [*range(len(parts))]
    assert {round(part.identity.since - NOON, 3) for part in parts} == {0.0, 0.7, 2.0}


def test_nothing_is_open_before_its_time() -> None:
    found = course("xid-79", "eks", gpu=3)

    assert [each.identity.class_name for each in found.at(0.0) if each.identity] == ["xid-79"]
    assert [each.due for each in found.at(0.0)] == [()]
    assert len([*found.at(0.7)]) == 9
    assert found.next(0.0) == 0.7
    assert found.next(found.times[-1]) is None
    assert found.next(found.times[-1] - 0.001) == found.times[-1]


def test_a_course_is_complete_when_the_node_shows_every_signal() -> None:
    found, plain = course("xid-79", "eks", "device-plugin", gpu=3), node()
    early = overlay(plain, [*found.at(found.times[-1] - 0.001)], NOON)
    late = overlay(plain, [*found.at(found.times[-1])], NOON)

    assert not found.is_complete(())
    assert not found.is_complete(entries_of(early))
    assert found.is_complete(entries_of(late))


def test_each_signal_is_reported_by_events_once() -> None:
    found, shown = course("xid-79", "azurehpc", gpu=3), node()
    reasons: list[str] = []
    for time in (0.0, *found.times):
        faults = [*found.at(time)]
        reasons += [event.reason for event in fault_events(shown, faults)]
        shown = dict(overlay(shown, faults, NOON + time))
        assert not [*fault_events(shown, faults)]

    assert reasons.count("GpuXidBad") == len(
        [
            1
            for part in found.parts
            for _, due in part.signals
            for e in due.signal.events
            if e.reason == "GpuXidBad"
        ]
    )
    assert reasons


def test_a_parameter_without_a_value_is_drawn_between_its_bounds() -> None:
    spec = CATALOGUE.find("ib-link-flap").spec
    drawn = {
        name: {
            course("ib-link-flap", on=f"n-{number}").parts[0].parameters[name]
            for number in range(20)
        }
        for name, each in spec.parameters.items()
        if each.default is None
    }

    for name, values in drawn.items():
        assert len(values) > 1, name


def test_a_definition_is_named_by_what_is_in_it() -> None:
    one, same = (definition_of(CATALOGUE, "xid-79", ["eks"]) for _ in range(2))

    assert definition_name(one) == definition_name(same)
    assert definition_name(one) != definition_name(definition_of(CATALOGUE, "xid-79", ["aks"]))
    assert len(definition_name(one)) < 80


@pytest.mark.parametrize(
    "row",
    [
        UnitRow(unit=FaultUnit(node="n-3", node_uid="5f-1")),
        UnitRow(unit=FaultUnit(node="n-3", node_uid="5f-1", gpu=0), landed=0.0),
        UnitRow(
            unit=FaultUnit(node="n", node_uid="5", pod="default/web-0", pod_uid="7"), landed=1.5
        ),
        UnitRow(unit=FaultUnit(node="n", node_uid="5", gpu=7), problem="NodeGone"),
        UnitRow(unit=FaultUnit(node="n", node_uid="5"), landed=9.0, late=7.125),
    ],
)
def test_a_row_is_read_as_it_was_written(row: UnitRow) -> None:
    assert read_row(row_text(row)) == row


@pytest.mark.parametrize(("late", "asleep"), [(0.0, False), (2.5, False), (0.0, True)])
def test_a_row_says_when_a_repair_has_ended_it(late: float, asleep: bool) -> None:
    row = UnitRow(
        unit=FaultUnit(node="n-3", node_uid="u", gpu=1),
        landed=0.5,
        late=late,
        ended=12.0,
        asleep=asleep,
    )
    assert read_row(row_text(row)) == row


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n-3",
        "n x y - - - -",
        "n x 1 - - soon -",
        "n x 1 - - - - -",
        "n x 1 - - - - 2.0 1.0 1.0",
    ],
)
def test_a_text_that_is_not_a_row_is_none(text: str) -> None:
    assert read_row(text) is None


def test_a_time_that_is_rounded_as_rows_are_is_the_same_when_it_is_read_again() -> None:
    row = UnitRow(unit=FaultUnit(node="n", node_uid="5"), landed=round(0.123456, DECIMALS))

    assert read_row(row_text(row)) == row
    assert read_row(row_text(UnitRow(unit=row.unit, landed=0.123456))) == row
