"""The Repairs and policies that a controller knows: the newest state of each, and why a policy cannot be used."""

from typing import Any

from kwokctl.controller.repairs.known_repairs import KnownRepairs, StoredPolicy
from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.faults.repairs.repair_schema import (
    RepairMeta,
    RepairPhase,
    RepairSpec,
    RepairStatus,
    StoredRepair,
)


def repair(version: int, phase: RepairPhase, uid: str = "u", node_uid: str = "") -> StoredRepair:
    return StoredRepair(
        metadata=RepairMeta(name="r", uid=uid, resource_version=str(version)),
        spec=RepairSpec(node="n-0", action="reboot"),
        status=RepairStatus(phase=phase, node_uid=node_uid),
    )


def policy(name: str = "p", **spec: Any) -> StoredPolicy:
    return StoredPolicy(metadata=ObjectMeta(name=name), spec=spec)


def phase(known: KnownRepairs) -> str:
    found = known.get("r")
    assert found is not None
    return found.status.phase


def test_an_older_state_that_comes_late_is_ignored() -> None:
    known = KnownRepairs(lambda: None)
    known.note(repair(12, "Running"))
    known.note(repair(7, "Queued"))
    assert phase(known) == "Running"
    known.note(repair(13, "Succeeded"))
    assert phase(known) == "Succeeded"
    assert [*known.open()] == []


def test_an_object_that_was_made_anew_counts_whatever_its_version_is() -> None:
    known = KnownRepairs(lambda: None)
    known.note(repair(12, "Running"))
    known.note(repair(7, "Queued", uid="v"))
    assert phase(known) == "Queued"
    known.drop("r", "u")
    assert len(known) == 1, "that was the one before"
    known.drop("r", "v")
    assert len(known) == 0


def test_a_node_is_in_repair_while_its_repair_goes_on() -> None:
    known = KnownRepairs(lambda: None)
    known.note(repair(1, "Queued", node_uid="n"))
    assert not known.is_in_repair("n")
    known.note(repair(2, "Running", node_uid="n"))
    assert known.is_in_repair("n")
    assert not known.is_in_repair("other")
    known.note(repair(3, "Failed", node_uid="n"))
    assert not known.is_in_repair("n")


def test_a_policy_that_makes_no_sense_is_known_with_its_problem_until_it_is_corrected() -> None:
    calls: list[int] = []
    known = KnownRepairs(lambda: calls.append(len(known)))
    known.note_policy(policy(where="gpus >"))
    assert (known.policies, [*known.problems]) == ({}, ["p"])
    assert "spec.where" in known.problems["p"]
    known.note_policy(policy(where="gpus > 0", slots=2))
    assert known.problems == {}
    assert known.policy("p").slots == 2
    before = len(calls)
    known.note_policy(policy(where="gpus > 0", slots=2))
    assert len(calls) == before, "nothing has changed"
    known.drop_policy("p")
    assert known.policy("p").slots is None
