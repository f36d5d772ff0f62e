"""A late kubelet is heard for a moment, once in the time between two renewals."""

import pytest

from kwokctl.faults.classes.class_schema import FaultEffects
from kwokctl.faults.overlays.late_kubelets import HEARD, lateness
from kwokctl.faults.overlays.open_entries import (
    FaultIdentity,
    OpenEntry,
    entries_text,
    entry_of,
    read_entries,
)


def late(every: str = "60s", *, since: float = 1000.0, uid: str = "u") -> OpenEntry:
    identity = FaultIdentity(fault="f", uid=uid, class_name="heartbeat-late", since=since)
    effects = FaultEffects(kubelet="late", renews_every="{{.every}}")
    return entry_of(identity, effects, 0, (), {"every": every})


def other(kubelet: object) -> OpenEntry:
    return OpenEntry(fault="f", uid="v", class_name="c", since=0.0, kubelet=kubelet)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("age", "is_silent", "wait"),
    [
        (0.0, True, 60 - HEARD),
        (54.5, True, 0.5),
        (60 - HEARD, False, HEARD),
        (59.0, False, 1.0),
        (60.0, True, 60 - HEARD),
        (119.0, False, 1.0),
    ],
)
def test_it_is_heard_at_the_end_of_each_time_between_renewals(
    age: float, *, is_silent: bool, wait: float
) -> None:
    found = lateness([late()], 1000.0 + age)

    assert found is not None
    assert found.is_silent is is_silent
    assert found.wait == pytest.approx(wait)


@pytest.mark.parametrize("kubelet", [None, "silent", "not-ready", "rebooting"])
def test_a_node_without_such_a_fault_is_not_late(kubelet: object) -> None:
    assert lateness([other(kubelet)], 1000.0) is None
    assert lateness([], 1000.0) is None


@pytest.mark.parametrize("every", ["", "soon", "0s", "5s"])
def test_one_that_renews_as_often_as_it_is_heard_is_not_late(every: str) -> None:
    assert lateness([late(every)], 1000.0) is None


def test_the_slowest_of_several_counts() -> None:
    found = lateness([late("20s"), late("90s", uid="w"), other("not-ready")], 1000.0 + 30)

    assert found is not None
    assert (found.is_silent, found.wait) == (True, 60 - HEARD)


def test_the_annotation_has_the_time_between_two_renewals() -> None:
    (entry,) = read_entries(entries_text([late("1m30s")]))

    assert entry.renews_every == 90.0
