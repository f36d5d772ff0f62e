"""The time at which a Fault is due."""

import pytest

from kwokctl.controller.faults.fault_keeper import until_due
from kwokctl.expr.duration import parse_time
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget, ObjectMeta, StoredFault

CREATED = "2026-01-02T03:04:05Z"
NOW = parse_time(CREATED)


@pytest.mark.parametrize(
    ("at", "now", "due"),
    [
        ("30s", NOW + 10, 20),
        ("30s", NOW + 40, -10),
        ("0s", NOW + 10, 0),
        ("0s", NOW - 3600, 0),  # the clock here is behind that of the API server
        ("soon", NOW - 3600, 0),
    ],
)
def test_a_fault_is_due_some_time_after_its_creation_or_at_once(
    at: str, now: float, due: float
) -> None:
    spec = FaultSpec(class_name="not-ready", target=FaultTarget(), at=at)
    fault = StoredFault(metadata=ObjectMeta(name="f", creation_timestamp=CREATED), spec=spec)

    assert until_due(fault, now) == due
