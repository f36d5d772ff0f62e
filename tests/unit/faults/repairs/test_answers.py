"""What a request says when its repair is over: the words by which a remediator knows it."""

import pytest

from kwokctl.faults.repairs.answers import answer_of, words_of
from kwokctl.faults.repairs.repair_schema import RepairStatus

AT = "2026-11-29T00:00:00Z"


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("RebootNode", "NodeReady"),
        ("TerminateNode", "NodeTerminated"),
        ("GPUReset", "Complete"),
        ("Another", "NodeReady"),
    ],
)
@pytest.mark.parametrize("is_good", [True, False])
def test_a_request_says_its_end_by_the_condition_of_its_kind(
    kind: str, condition: str, *, is_good: bool
) -> None:
    found = answer_of(kind, AT, is_good=is_good)
    said = {each["type"]: each["status"] for each in found["conditions"]}
    assert said == {"SignalSent": "True", condition: str(is_good)}
    assert found["completionTime"] == AT


def test_a_repair_says_what_it_has_done_and_what_not() -> None:
    assert words_of(RepairStatus(), None) == "there was no fault"
    status = RepairStatus(cleared=("a",), left=("b", "c"), asleep=("c",))
    assert words_of(status, "replace") == (
        "ended a; left b; looks good until it is used: c; 'replace' follows"
    )
    refused = RepairStatus(left=("b",), in_use=("ns/x", "ns/y"))
    assert words_of(refused, None) == (
        "no GPU was reset, because ns/x, ns/y use GPUs of the node; left b"
    )
