"""What open faults show on a node, and what is left of them."""

import copy
import json
from typing import Any

import pytest

from kwokctl.faults.classes.class_schema import FaultSignal
from kwokctl.faults.journal import JOURNAL
from kwokctl.faults.overlays.node_fields import with_entries
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS, OpenEntry
from kwokctl.faults.overlays.overlay import overlay
from tests.support.faults import NOON, condition, dialect, fault, node, shipped
from tests.support.overlaid import LATER, LATEST, of_type, says, taints


def edited(found: Any, **status: Any) -> Any:
    """Return a copy of a node in which a client has replaced fields of the status."""
    return {**found, "status": {**found["status"], **status}}


def test_a_node_without_faults_is_returned_itself() -> None:
    found = node()

    assert overlay(found, [], NOON) is found


def test_a_given_node_is_not_changed() -> None:
    found = node()
    before = copy.deepcopy(found)
    shown = overlay(found, [shipped("gpu-missing", ["aks", "device-plugin"])], NOON)
    at_first = copy.deepcopy(shown)
    overlay(shown, [], LATER)

    assert found == before
    assert shown == at_first


def test_a_condition_is_shown_with_what_lies_beneath_in_the_journal() -> None:
    shown = overlay(node(), [fault(says("Ready", "False"))], NOON)

    assert of_type(shown, "Ready") == {
        "type": "Ready",
        "status": "False",
        "reason": "Bad",
        "message": "bad",
        "lastHeartbeatTime": "2026-01-01T12:00:00Z",
        "lastTransitionTime": "2026-01-01T12:00:00Z",
    }
    assert json.loads(shown["metadata"]["annotations"][JOURNAL]) == {
        "conditions": {
            "Ready": [
                {"status": "True", "reason": "KubeletReady", "message": "fine"},
                {"status": "False", "reason": "Bad", "message": "bad"},
            ]
        }
    }


def test_clearing_gives_back_the_words_and_moves_the_time_with_the_status() -> None:
    shown = overlay(node(), [fault(says("Ready", "False"))], NOON)
    cleared = overlay(shown, [], LATER)

    assert of_type(cleared, "Ready") == {
        **condition("Ready", "True", "KubeletReady", "fine"),
        "lastHeartbeatTime": "2026-01-01T12:01:00Z",
        "lastTransitionTime": "2026-01-01T12:01:00Z",
    }
    assert "annotations" not in cleared["metadata"]


def test_the_time_stays_where_the_status_does() -> None:
    """Both with a fault that only says why, and afterwards."""
    beneath = node(condition("KernelDeadlock", "True", "DockerHung", "hung"))
    shown = overlay(beneath, [fault(says("KernelDeadlock"))], NOON)
    cleared = overlay(shown, [], LATER)

    for each in (shown, cleared):
        assert of_type(each, "KernelDeadlock")["lastTransitionTime"] == "2026-01-01T00:00:00Z"
    assert of_type(shown, "KernelDeadlock")["reason"] == "Bad"
    assert of_type(cleared, "KernelDeadlock")["reason"] == "DockerHung"


def test_a_condition_without_a_message_gets_none_from_a_fault() -> None:
    beneath = node()
    del beneath["status"]["conditions"][0]["message"]
    shown = overlay(beneath, [fault(says("Ready", "True"))], NOON)
    cleared = of_type(overlay(shown, [], LATER), "Ready")

    assert "message" not in cleared
    assert cleared["reason"] == "KubeletReady"


def test_a_condition_that_is_new_comes_last_and_goes_again() -> None:
    beneath = node()
    shown = overlay(beneath, [fault(says("GpuXid"))], NOON)

    assert [each["type"] for each in shown["status"]["conditions"]] == ["Ready", "GpuXid"]
    assert of_type(shown, "GpuXid")["status"] == "True"
    assert overlay(shown, [], LATER) == beneath


def test_nothing_is_written_twice() -> None:
    faults = [shipped("gpu-missing", ["aks", "eks", "device-plugin"]), fault(taints("bad"))]
    shown = overlay(node(), faults, NOON)

    assert overlay(shown, faults, LATER) == shown


def test_a_shown_condition_without_a_message_is_not_taken_for_what_lies_beneath() -> None:
    hung = fault(says("Hung", "True", message=""))
    shown = overlay(node(), [hung], NOON)
    for each in shown["status"]["conditions"]:  # the API server gives none back that is empty
        assert each.get("message") != ""

    assert overlay(overlay(shown, [hung], LATER), [], LATEST) == node()


def test_a_heartbeat_of_what_is_shown_changes_nothing_beneath() -> None:
    faults = [fault(says("Ready", "False"))]
    shown = overlay(node(), faults, NOON)
    beating = {**of_type(shown, "Ready"), "lastHeartbeatTime": "2026-01-01T12:00:30Z"}
    again = overlay(edited(shown, conditions=[beating]), faults, LATER)

    assert of_type(again, "Ready") == beating
    assert of_type(overlay(again, [], LATEST), "Ready")["reason"] == "KubeletReady"


def test_a_write_beneath_a_fault_is_kept_for_afterwards() -> None:
    faults = [fault(says("Ready", "False"))]
    shown = overlay(node(), faults, NOON)
    other = condition("Ready", "Unknown", "NodeStatusUnknown", "silent")
    again = overlay(edited(shown, conditions=[other]), faults, LATER)
    cleared = overlay(again, [], LATEST)

    assert of_type(again, "Ready")["reason"] == "Bad"
    assert of_type(again, "Ready")["lastTransitionTime"] == "2026-01-01T12:01:00Z"
    assert of_type(cleared, "Ready")["reason"] == "NodeStatusUnknown"


def test_a_shown_condition_that_a_client_removed_is_shown_again_and_then_goes() -> None:
    faults = [fault(says("Ready", "False"))]
    shown = overlay(node(), faults, NOON)
    again = overlay(edited(shown, conditions=[]), faults, LATER)

    assert of_type(again, "Ready")["status"] == "False"
    assert "conditions" not in overlay(again, [], LATEST)["status"]


def test_of_two_faults_the_later_is_seen_and_each_is_cleared_alone() -> None:
    first, second = fault(says("X", reason="First")), fault(says("X", reason="Second"))
    shown = overlay(node(), [first, second], NOON)

    assert of_type(shown, "X")["reason"] == "Second"
    assert of_type(overlay(shown, [first], LATER), "X")["reason"] == "First"
    assert of_type(overlay(shown, [second], LATER), "X")["reason"] == "Second"
    assert overlay(overlay(shown, [first], LATER), [], LATEST) == node()


def test_an_agent_that_collects_messages_keeps_those_before() -> None:
    collecting = dialect(separator="; ")
    faults = [
        fault(says("X", reason=text, message=text), of=collecting)
        for text in ("a", "b", "a; b", "c")
    ]
    shown = of_type(overlay(node(), faults, NOON), "X")

    assert (shown["reason"], shown["message"]) == ("c", "a; b; c")


def test_messages_of_another_status_are_not_collected() -> None:
    collecting = dialect(separator="; ")
    faults = [
        fault(says("X", "True", message="a"), of=collecting),
        fault(says("X", "False", message="b"), of=collecting),
    ]

    assert of_type(overlay(node(), faults, NOON), "X")["message"] == "b"


def test_without_a_separator_the_last_message_stands_alone() -> None:
    faults = [fault(says("X", message="a")), fault(says("X", message="b"))]

    assert of_type(overlay(node(), faults, NOON), "X")["message"] == "b"


def test_a_message_is_cut_where_the_agent_cuts_it() -> None:
    shown = overlay(
        node(), [fault(says("X", message="a" * 90), of=dialect(longest_message=80))], NOON
    )

    assert of_type(shown, "X")["message"] == "a" * 80


def test_a_field_that_is_as_a_fault_shows_it_anyway_is_in_no_journal() -> None:
    beneath = node(labels={"a": "1"})
    shown = overlay(beneath, [fault(FaultSignal(labels={"a": "1"}))], NOON)

    assert shown == beneath


def test_facts_of_the_node_are_those_beneath() -> None:
    relabelling = fault(FaultSignal(labels={"nvidia.com/gpu.count": "7"}))
    faults = [relabelling, fault(says("X", message="{{.gpus}}"))]
    shown = overlay(node(), faults, NOON)

    assert of_type(shown, "X")["message"] == "8"
    assert overlay(shown, faults, LATER) == shown


def test_polarity_is_that_of_the_dialect() -> None:
    shown = overlay(node(), [shipped("xid-79", ["eks", "azurehpc"])], NOON)

    assert of_type(shown, "AcceleratedHardwareReady")["status"] == "False"
    assert of_type(shown, "GpuXid")["status"] == "True"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"conditions": 1}', '{"other": {}}'])
def test_an_annotation_that_is_no_journal_counts_as_none(text: str) -> None:
    beneath = node()
    beneath["metadata"]["annotations"] = {JOURNAL: text}
    faults = [fault(FaultSignal(labels={"a": "1"}))]
    shown = overlay(beneath, faults, NOON)

    assert shown["metadata"]["labels"]["a"] == "1"
    assert overlay(shown, [], LATER) == node()


def test_entries_go_with_their_faults_also_where_no_field_was_overlaid() -> None:
    left = OpenEntry(fault="f", uid="u", class_name="c", since=NOON)
    found = with_entries(node(), [left])

    assert OPEN_FAULTS in found["metadata"]["annotations"]
    assert overlay(found, [], LATER) == node()
