"""Taints, labels and annotations of faults, beside those of others."""

import json
from typing import Any

from kwokctl.faults.classes.class_schema import FaultSignal
from kwokctl.faults.journal import JOURNAL
from kwokctl.faults.overlays.overlay import overlay
from tests.support.faults import NOON, fault, node
from tests.support.overlaid import LATER, LATEST, says, taints


def relabelled(found: Any, **labels: str) -> Any:
    metadata = found["metadata"]
    return {**found, "metadata": {**metadata, "labels": {**metadata["labels"], **labels}}}


def tainted(found: Any, *own: dict[str, str]) -> Any:
    return {**found, "spec": {"taints": [*own]}}


def test_a_taint_has_the_time_since_when_it_is_there() -> None:
    faults = [fault(taints("bad", value="yes"))]
    shown = overlay(node(), faults, NOON)
    again = overlay(shown, [*faults, fault(says("X"))], LATER)

    expected = {
        "key": "bad", "value": "yes", "effect": "NoSchedule", "timeAdded": "2026-01-01T12:00:00Z",
    }  # fmt: skip
    assert shown["spec"]["taints"] == again["spec"]["taints"] == [expected]
    assert overlay(again, [], LATEST) == node()


def test_a_taint_without_a_value_has_none() -> None:
    shown = overlay(node(), [fault(taints("bad"))], NOON)

    assert "value" not in shown["spec"]["taints"][0]


def test_a_taint_with_another_value_has_a_time_of_its_own() -> None:
    shown = overlay(node(), [fault(taints("bad", value="a"))], NOON)
    again = overlay(shown, [fault(taints("bad", value="b"))], LATER)

    (taint,) = again["spec"]["taints"]
    assert (taint["value"], taint["timeAdded"]) == ("b", "2026-01-01T12:01:00Z")


def test_a_taint_of_somebody_else_is_left_alone() -> None:
    own = {"key": "bad", "effect": "NoSchedule", "value": "mine"}
    beneath = tainted(node(), own)
    faults = [fault(taints("bad", value="fault"))]
    shown = overlay(beneath, faults, NOON)

    assert shown == beneath
    assert overlay(shown, [], LATER) == beneath


def test_a_taint_that_a_client_put_in_place_of_a_faults_is_the_clients() -> None:
    faults = [fault(taints("bad"))]
    shown = overlay(node(), faults, NOON)
    own = {"key": "bad", "value": "own", "effect": "NoSchedule"}
    again = overlay(tainted(shown, own), faults, LATER)

    assert again["spec"]["taints"] == [own]
    assert overlay(again, [], LATEST)["spec"]["taints"] == [own]


def test_taints_of_one_key_with_other_effects_are_different_ones() -> None:
    own = {"key": "bad", "effect": "NoExecute"}
    shown = overlay(tainted(node(), own), [fault(taints("bad"))], NOON)

    assert [each["effect"] for each in shown["spec"]["taints"]] == ["NoExecute", "NoSchedule"]
    assert overlay(shown, [], LATER)["spec"]["taints"] == [own]


def test_labels_and_annotations_are_put_back() -> None:
    signal = FaultSignal(labels={"a": "1", "b": "2"}, annotations={"c": "{{.gpu}}"})
    beneath = node(labels={"a": "own"})
    shown = overlay(beneath, [fault(signal, gpu=3)], NOON)

    assert shown["metadata"]["labels"]["a"] == "1"
    assert shown["metadata"]["labels"]["b"] == "2"
    assert shown["metadata"]["annotations"]["c"] == "3"
    assert overlay(shown, [], LATER) == beneath


def test_a_clients_own_label_meanwhile_is_kept() -> None:
    faults = [fault(FaultSignal(labels={"a": "1"}))]
    shown = overlay(node(), faults, NOON)
    again = overlay(relabelled(shown, a="mine", other="too"), faults, LATER)
    cleared = overlay(again, [], LATEST)

    assert again["metadata"]["labels"]["a"] == "1"
    assert cleared["metadata"]["labels"]["a"] == "mine"
    assert cleared["metadata"]["labels"]["other"] == "too"


def test_a_taint_stays_that_of_the_fault_when_it_was_written_at_another_time() -> None:
    faults = [fault(taints("gpu"))]
    shown = overlay(node(), faults, NOON)
    beneath = overlay(shown, [], LATER)
    written = {**overlay(beneath, faults, LATER), "spec": shown["spec"]}

    assert overlay(written, faults, LATEST) == written
    assert overlay(written, [], LATEST)["spec"].get("taints", []) == []


def test_a_taint_that_a_client_removed_is_shown_again() -> None:
    faults = [fault(taints("gpu"))]
    shown = overlay(node(), faults, NOON)
    again = overlay(tainted(shown), faults, LATER)

    assert [each["timeAdded"] for each in again["spec"]["taints"]] == ["2026-01-01T12:01:00Z"]
    assert overlay(tainted(shown), [], LATER)["spec"].get("taints", []) == []


def test_a_label_may_have_any_text() -> None:
    beneath = node()
    shown = overlay(beneath, [fault(FaultSignal(labels={"a": "timeAdded"}))], NOON)

    assert shown["metadata"]["labels"]["a"] == "timeAdded"
    assert overlay(shown, [], LATER) == beneath


def test_the_journal_has_no_time_of_a_taint() -> None:
    shown = overlay(node(), [fault(taints("gpu"))], NOON)

    assert json.loads(shown["metadata"]["annotations"][JOURNAL]) == {
        "taints": {"gpu:NoSchedule": [None, {"key": "gpu", "effect": "NoSchedule"}]}
    }
