"""The pages of plans and of suppressed faults."""

from typing import Any

from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.faults.storms.plan_pages import (
    SuppressedFault,
    in_pages,
    plan_rows,
    read_planned,
    read_suppressed,
    suppressed_page,
    suppressed_pages,
    suppressed_row,
)
from kwokctl.faults.storms.schedule_schema import FaultScheduleSpec
from kwokctl.faults.storms.storm_faults import storm_fault
from kwokctl.faults.storms.storm_plan import PlannedFault
from kwokctl.faults.storms.suppressed_truth import suppressed_entry

META = ObjectMeta(name="night", uid="u-1")


def planned(number: int, *nodes: str, **more: Any) -> PlannedFault:
    fields: dict[str, Any] = {
        "process": "p", "class_name": "xid-79", "unit": "n-0/gpu-1", "level": None, "gpu": 1, "lasts": 90.0, "seed": 5,
    }  # fmt: skip
    return PlannedFault(at=float(number), nodes=nodes or ("n-0",), **(fields | more))


def test_a_plan_is_the_same_after_it_was_stored() -> None:
    faults = [planned(n, parameters={"a": [n]}, gang=True, racks=("r",)) for n in range(1200)]

    pages = [*in_pages(plan_rows(faults))]

    assert [read_planned(row) for page in pages for row in page] == faults
    assert all(len(page) <= 500 and sum(map(len, page)) <= 57_000 for page in pages)


def test_a_fault_of_a_large_unit_has_a_page_of_its_own() -> None:
    names = [f"a-node-with-a-long-name-{number}" for number in range(5000)]
    faults = [planned(0), planned(1, *names, gpu=None), planned(2)]

    assert [len(page) for page in in_pages(plan_rows(faults))] == [1, 1, 1]


def test_a_fault_of_the_plan_becomes_a_fault_of_its_schedule() -> None:
    spec = FaultScheduleSpec(horizon="1h", dialects=("eks",), time_scale=60.0)

    body = storm_fault(META, spec, planned(3), 17, ["n-0"])

    assert body["metadata"]["name"] == "night-000017"
    assert body["metadata"]["labels"] == {"kwokctl.dev/fault-schedule": "night"}
    assert [each["uid"] for each in body["metadata"]["ownerReferences"]] == ["u-1"]
    assert body["spec"] == {
        "class": "xid-79", "target": {"nodes": ["n-0"]}, "dialects": ["eks"], "parameters": {"gpu": 1},
        "seed": 5, "for": "1.5s", "timeScale": 60.0,
    }  # fmt: skip


def test_a_fault_of_more_nodes_than_an_object_may_name_names_their_unit() -> None:
    names = [f"n-{number}" for number in range(10_001)]
    fault = planned(0, *names, unit="zone-1", gpu=None, level="zone")

    body = storm_fault(META, FaultScheduleSpec(horizon="1h"), fault, 0, names)

    assert body["spec"]["target"] == {"unit": "zone-1"}


def test_a_suppressed_fault_is_the_same_after_it_was_stored_and_in_the_log() -> None:
    fault = SuppressedFault(
        number=3, at=12.5, class_name="xid-79", unit="n-0/gpu-1", reason="Rack", wall="2026-01-01T00:00:00Z"
    )  # fmt: skip

    entry = suppressed_entry("night", fault)

    assert read_suppressed(suppressed_row(fault)) == fault
    assert (entry.fault, entry.phase, entry.node, entry.gpu, entry.signal) == (
        "night-000003", "suppressed", "n-0", 1, "Rack",
    )  # fmt: skip


def test_only_the_pages_with_new_suppressed_faults_are_read() -> None:
    def page(number: int) -> str:
        return suppressed_page("s", "u", number)

    assert [*suppressed_pages("s", "u", 0, 251)] == [(page(0), 0), (page(1), 250)]
    assert [*suppressed_pages("s", "u", 250, 251)] == [(page(1), 250)]
    assert [*suppressed_pages("s", "u", 250, 250)] == []
