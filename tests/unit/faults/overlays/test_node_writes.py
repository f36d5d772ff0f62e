"""The writes that bring a node to what its faults show, and what is left of a program that is killed between them."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kwokctl.faults.classes.class_schema import (
    FaultCondition,
    FaultEffects,
    FaultSignal,
    FaultTaint,
)
from kwokctl.faults.journal import JOURNAL, journal_of
from kwokctl.faults.overlays.effects import OpenFault
from kwokctl.faults.overlays.node_writes import (
    NodeWrite,
    change_of,
    node_writes,
    started_anew,
    with_boot,
    with_transitions,
)
from kwokctl.faults.overlays.open_entries import FaultIdentity, KubeletState
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.kube.client import PatchType
from kwokctl.kube.patching.apply_patch import apply_patch
from kwokctl.replacing import replace
from tests.support.faults import NOON, fault, node

TAINT = FaultSignal(taints=(FaultTaint(key="gpu", effect="NoSchedule"),))
OTHER = FaultSignal(taints=(FaultTaint(key="net", effect="NoExecute"),))
READY = FaultSignal(conditions=(FaultCondition(type="Ready", status="False", reason="Bad"),))
NEW = FaultSignal(conditions=(FaultCondition(type="New", status="True", reason="Bad"),))
LABEL = FaultSignal(labels={"broken": "yes"})


def written(found: Mapping[str, Any], write: NodeWrite) -> Any:
    """Return a node after one write."""
    return apply_patch(copy.deepcopy(dict(found)), write.document, PatchType.MERGE, "Node")


def brought(found: Mapping[str, Any], faults: Sequence[OpenFault], stop: int = 99) -> Any:
    """Return a node after the first writes of those that its faults need."""
    for number, write in enumerate(node_writes(found, overlay(found, faults, NOON))):
        if number == stop:
            break
        found = written(found, write)
    return found


def parts(found: Mapping[str, Any], faults: Sequence[OpenFault]) -> list[str]:
    return [each.subresource for each in node_writes(found, overlay(found, faults, NOON))]


def test_a_node_that_shows_its_faults_needs_no_write() -> None:
    faults = [fault(TAINT, READY)]

    assert parts(brought(node(), faults), faults) == []
    assert parts(node(), []) == []


def test_the_journal_is_written_before_a_taint_and_after_it() -> None:
    assert parts(node(), [fault(TAINT, READY)]) == ["status", ""]
    assert parts(brought(node(), [fault(TAINT)]), []) == ["", "status"]
    assert parts(brought(node(), [fault(TAINT)]), [fault(READY)]) == ["status", "", "status"]
    assert parts(node(), [fault(READY, LABEL)]) == ["status"]
    assert parts(brought(node(), [fault(READY, LABEL)]), []) == ["status"]
    assert parts(brought(node(), [fault(TAINT)]), [fault(TAINT), fault(READY)]) == ["status"]


@pytest.mark.parametrize(
    "before", [[], [fault(TAINT)], [fault(TAINT, READY)], [fault(OTHER, LABEL)]]
)
@pytest.mark.parametrize(
    "after", [[], [fault(TAINT)], [fault(OTHER, READY)], [fault(TAINT, OTHER)]]
)
@pytest.mark.parametrize("stop", [0, 1, 2])
def test_after_any_of_the_writes_another_program_goes_on(
    before: list[OpenFault], after: list[OpenFault], stop: int
) -> None:
    start = brought(node(), before)
    killed = brought(start, after, stop)

    assert brought(killed, after) == brought(start, after)
    assert timeless(brought(brought(killed, after), [])) == timeless(node())


def timeless(found: Any) -> Any:
    """Return a node without the times of its conditions."""
    conditions = [
        {name: value for name, value in each.items() if not name.startswith("last")}
        for each in found["status"]["conditions"]
    ]
    return {**found, "status": {**found["status"], "conditions": conditions}}


def test_everything_is_gone_when_the_faults_are() -> None:
    plain = node()
    plain["spec"] = {"taints": [{"key": "own", "effect": "NoSchedule"}]}
    back = brought(brought(plain, [fault(TAINT, OTHER, LABEL)]), [])

    assert back["spec"] == plain["spec"]
    assert back["metadata"].get("annotations", {}) == {}
    assert back["metadata"]["labels"] == plain["metadata"]["labels"]


def test_a_status_keeps_its_transition_time_through_a_write_beneath() -> None:
    shown = brought(node(), [fault(READY)])
    again = overlay(overlay(shown, [], NOON + 60), [fault(READY)], NOON + 60)
    since = [each["lastTransitionTime"] for each in shown["status"]["conditions"]]

    assert [each["lastTransitionTime"] for each in again["status"]["conditions"]] != since
    kept = with_transitions(shown, again)
    assert [each["lastTransitionTime"] for each in kept["status"]["conditions"]] == since


def test_a_change_of_the_status_keeps_what_the_journal_says_of_a_taint() -> None:
    shown = brought(node(), [fault(TAINT, READY)])
    change = change_of(shown, overlay(shown, [], NOON), "status")
    left = written(shown, NodeWrite("status", change))

    assert [each["key"] for each in left["spec"]["taints"]] == ["gpu"]
    assert brought(left, [])["spec"].get("taints") is None


def test_a_change_has_only_what_its_subresource_takes() -> None:
    before = node()
    after = overlay(before, [fault(TAINT, READY, LABEL)], NOON)

    assert change_of(before, after, "status").keys() == {"metadata", "status"}
    assert change_of(before, after, "").keys() == {"metadata", "spec"}
    assert change_of(before, before, "status") == {}


def test_taints_and_what_else_is_shown_are_in_different_writes() -> None:
    found = node()
    status, spec = node_writes(found, overlay(found, [fault(TAINT, READY)], NOON))

    assert "spec" not in status.document
    assert spec.document.keys() == {"spec"}


def test_a_node_without_a_spec_is_written_like_others() -> None:
    found = {name: part for name, part in node().items() if name != "spec"}
    faults = [fault(TAINT, LABEL)]
    shown = overlay(found, faults, NOON)

    assert parts(found, []) == []
    assert parts(found, [fault(LABEL)]) == ["status"]
    status, spec = node_writes(found, shown)
    assert "spec" not in status.document
    assert spec.document == {"spec": {"taints": shown["spec"]["taints"]}}
    assert change_of(found, shown, "").keys() == {"metadata", "spec"}
    assert change_of(shown, found, "")["spec"] is None


def test_a_journal_that_cannot_be_read_stays_until_there_is_one() -> None:
    found = node()
    found["metadata"]["annotations"] = {JOURNAL: "{"}

    assert parts(found, []) == []
    assert change_of(found, found, "status") == {}


def test_a_new_condition_keeps_its_own_transition_time() -> None:
    shown = overlay(node(), [fault(NEW)], NOON)

    assert with_transitions(node(), shown) == shown


def test_another_status_keeps_its_own_transition_time() -> None:
    shown = overlay(node(), [fault(READY)], NOON)

    assert with_transitions(node(), shown) == shown


def test_a_status_that_had_no_transition_time_gets_none() -> None:
    before = node()
    del before["status"]["conditions"][0]["lastTransitionTime"]
    (ready,) = with_transitions(before, node())["status"]["conditions"]

    assert "lastTransitionTime" not in ready
    assert ready.keys() == node()["status"]["conditions"][0].keys() - {"lastTransitionTime"}


def test_a_node_without_conditions_is_returned_itself() -> None:
    found = {name: part for name, part in node().items() if name != "status"}

    assert with_transitions(node(), found) is found


def test_a_reboot_changes_only_the_boot_id_and_does_so_once() -> None:
    found = node()
    found["status"]["nodeInfo"] = {"bootID": "first", "kernelVersion": "6.1"}
    info = with_boot(found, "a")["status"]["nodeInfo"]

    assert info["kernelVersion"] == "6.1"
    assert info["bootID"] not in ("first", with_boot(found, "b")["status"]["nodeInfo"]["bootID"])
    assert with_boot(with_boot(found, "a"), "a") == with_boot(found, "a")


def stage_on(
    found: Mapping[str, Any], faults: Sequence[OpenFault], subresource: str, **labels: str
) -> Any:
    """Return a node after a Stage has set labels on it, while the faults that are open were shown or not yet."""
    beneath = overlay(found, [], NOON)
    meta = beneath["metadata"]
    played = {**beneath, "metadata": {**meta, "labels": {**meta["labels"], **labels}}}
    after = started_anew(found, overlay(played, faults, NOON))
    return written(found, NodeWrite(subresource, change_of(found, after, subresource)))


@pytest.mark.parametrize("subresource", ["", "status"])
@pytest.mark.parametrize("after", [[], [fault(OTHER, NEW)], [fault(TAINT, READY)]])
def test_a_stage_that_writes_when_faults_come_and_go_leaves_none_of_them(
    after: list[OpenFault], subresource: str
) -> None:
    shown = brought(node(), [fault(TAINT, READY, LABEL)])

    left = stage_on(shown, after, subresource, by="stage")

    assert left["metadata"]["labels"]["by"] == "stage"
    waits = {
        field.surface for field in journal_of(left).keys() - journal_of(brought(node(), after))
    }
    assert waits <= ({"taints"} if subresource else {"taints", "conditions"})
    bare = stage_on(node(), [], subresource, by="stage")
    assert timeless(brought(left, after)) == timeless(brought(bare, after))
    assert timeless(brought(brought(left, after), [])) == timeless(bare)


def test_a_stage_of_the_node_itself_keeps_a_journal_that_cannot_be_read() -> None:
    found = node()
    found["metadata"]["annotations"] = {JOURNAL: "{"}

    assert change_of(found, found, "") == {}


@pytest.mark.parametrize("subresource", ["", "status"])
def test_a_machine_has_another_boot_when_its_reboot_is_over_whoever_writes_first(
    subresource: str,
) -> None:
    reboot, other = with_kubelet("rebooting", "r"), with_kubelet("not-ready", "o")
    shown = brought(node(), [reboot, other])
    boots = {boot(brought_anew(shown, each)) for each in ([], [other])}
    assert len(boots - {boot(shown)}) == 1

    left = stage_on(shown, [other], subresource, by="stage")

    assert boot(left) == (boot(shown) if not subresource else boots.copy().pop())
    assert {boot(brought_anew(left, [other]))} == boots
    assert boot(brought_anew(shown, [reboot])) == boot(shown)
    assert boot(brought_anew(brought(node(), [other]), [])) == boot(shown)


def with_kubelet(kubelet: KubeletState, uid: str) -> OpenFault:
    """Return a fault of a class with such a kubelet."""
    shown = fault(READY)
    identity = FaultIdentity(fault=uid, uid=uid, class_name=kubelet, since=NOON)
    return replace(shown, effects=FaultEffects(kubelet=kubelet), identity=identity)


def brought_anew(found: Mapping[str, Any], faults: Sequence[OpenFault]) -> Any:
    """Return a node after the writes that its faults need, with those of a machine that has started anew."""
    for write in node_writes(found, started_anew(found, overlay(found, faults, NOON))):
        found = written(found, write)
    return found


def boot(found: Mapping[str, Any]) -> str:
    return str((found["status"].get("nodeInfo") or {}).get("bootID", ""))
