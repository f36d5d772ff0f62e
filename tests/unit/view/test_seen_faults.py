"""When Faults were open, as the page shows it."""

from kwokctl.clusters.faults.fault_states import FaultReport
from kwokctl.view.state.seen_faults import SeenFaults


def report(phase: str) -> FaultReport:
    return FaultReport(
        name="f", uid="u", class_name="xid-79", phase=phase, units=1, landed=1, failed=0, repaired=0,
        foreign=0, left="", created="1970-01-01T00:01:40Z", seed=0, dialects=(), parameters={},
        reproducible=True, failed_units=(), message="",
    )  # fmt: skip


def spans(faults: SeenFaults) -> list[tuple[float, float | None]]:
    return [(each.start, each.end) for each in faults.periods()]


def test_a_fault_is_open_from_its_creation_to_its_end() -> None:
    faults = SeenFaults(90.0)
    faults.take([report("Pending")], 12.0)
    faults.take([report("Landed")], 13.0)
    assert (spans(faults), [*faults.open]) == ([(10.0, None)], ["f"])

    faults.take([report("Cleared")], 20.0)
    faults.take([report("Deleted")], 30.0)
    assert (spans(faults), [*faults.open]) == ([(10.0, 20.0)], [])


def test_a_fault_that_a_rewind_has_put_back_is_open_again() -> None:
    faults = SeenFaults(90.0)
    for phase, time in (("Landed", 12.0), ("Deleted", 20.0), ("Landed", 40.0)):
        faults.take([report(phase)], time)
    assert (spans(faults), [*faults.open]) == ([(10.0, 20.0), (40.0, None)], ["f"])

    faults.take([report("Cleared")], 50.0)
    assert spans(faults) == [(10.0, 20.0), (40.0, 50.0)]
