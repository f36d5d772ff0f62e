"""Random faults, writes of Stages and clients, and clears: nothing is left, and nothing foreign is lost."""

import copy
import json
from random import Random
from typing import Any

import pytest

from kwokctl.faults.classes.class_schema import FaultCondition, FaultSignal, FaultTaint
from kwokctl.faults.journal import JOURNAL
from kwokctl.faults.overlays.effects import OpenFault
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.fleet.device_health import DEVICE_HEALTH, read_health
from tests.support.faults import NOON, condition, fault, node

TYPES = ("Ready", "GpuXid", "KernelDeadlock")
KEYS = ("a", "b")
GPU = "nvidia.com/gpu"
STEPS = 60
OF_FAULTS = "fault"
"""Begins every value that a fault shows, so that no client writes the same."""


def random_fault(random: Random, number: int) -> OpenFault:
    words = f"{OF_FAULTS} {number}"
    devices: Any = random.choice((None, "unhealthy", "missing", "plugin-gone"))
    signal = FaultSignal(
        conditions=tuple(
            FaultCondition(
                type=kind, status=random.choice(("True", "False")), reason=words, message=words
            )
            for kind in TYPES
            if random.random() < 0.4
        ),
        taints=tuple(
            FaultTaint(key=key, value=words, effect="NoSchedule")
            for key in KEYS
            if random.random() < 0.3
        ),
        labels={key: words for key in KEYS if random.random() < 0.3},
        annotations={key: words for key in KEYS if random.random() < 0.3},
        devices=devices,
    )
    return fault(signal, gpu=random.randrange(8))


class Model:
    """What Stages and clients have written, as if there were no faults."""

    def __init__(self) -> None:
        self.conditions: dict[str, Any] = {"Ready": ("True", "KubeletReady", "fine")}
        self.taints: dict[str, Any] = {}
        self.labels: dict[str, Any] = {"nvidia.com/gpu.count": "8"}
        self.annotations: dict[str, Any] = {}

    def shown(self, faults: list[OpenFault]) -> dict[str, Any]:
        """Return what a node has to show, computed in another way: fault after fault over all of it."""
        conditions, taints = dict(self.conditions), dict(self.taints)
        labels, annotations = dict(self.labels), dict(self.annotations)
        at_fault: dict[str, set[str]] = {"unhealthy": set(), "missing": set(), "gone": set()}
        for each in faults:
            (due,) = each.due
            for one in due.signal.conditions:
                conditions[one.type] = (one.status, one.reason, one.message)
            for taint in due.signal.taints:
                if taint.key not in self.taints:
                    taints[taint.key] = taint.value
            labels |= due.signal.labels
            annotations |= due.signal.annotations
            match due.signal.devices:
                case "unhealthy" | "missing" as state:
                    at_fault[state].add(str(each.gpu))
                case "plugin-gone":
                    at_fault["gone"].add(GPU)
                case _:
                    pass
        if any(at_fault.values()):
            own = read_health(annotations.get(DEVICE_HEALTH, ""))
            annotations[DEVICE_HEALTH] = {
                "unhealthy": {*own.unhealthy} | at_fault["unhealthy"],
                "missing": {*own.missing} | at_fault["missing"],
                "gone": {*own.gone} | at_fault["gone"],
            }
        elif DEVICE_HEALTH in annotations:
            annotations[DEVICE_HEALTH] = as_sets(annotations[DEVICE_HEALTH])
        return {
            "conditions": conditions,
            "taints": taints,
            "labels": labels,
            "annotations": annotations,
        }


def as_sets(text: str) -> dict[str, set[str]]:
    """Return the devices that a text of the annotation names."""
    health = read_health(text)
    return {"unhealthy": {*health.unhealthy}, "missing": {*health.missing}, "gone": {*health.gone}}


def seen(found: Any) -> dict[str, Any]:
    """Return the same parts of a node."""
    status, metadata = found["status"], found["metadata"]
    return {
        "conditions": {
            each["type"]: (each["status"], each["reason"], each["message"])
            for each in status.get("conditions", ())
        },
        "taints": {each["key"]: each["value"] for each in found["spec"].get("taints", ())},
        "labels": dict(metadata.get("labels", {})),
        "annotations": {
            key: as_sets(value) if key == DEVICE_HEALTH else value
            for key, value in metadata.get("annotations", {}).items()
            if key != JOURNAL
        },
    }


class Writer:
    """A Stage or a client, which writes the node as it is shown, and the model as it is beneath."""

    def __init__(self, random: Random, model: Model) -> None:
        self.random, self.model = random, model
        self.number = 0

    def write(self, found: Any) -> Any:
        self.number += 1
        found = copy.deepcopy(found)
        self.random.choice(
            (
                self._condition,
                self._heartbeat,
                self._taint,
                self._label,
                self._annotation,
                self._health,
            )
        )(found)
        return found

    def _condition(self, found: Any) -> None:
        kind, status = self.random.choice(TYPES), self.random.choice(("True", "False", "Unknown"))
        others = [each for each in found["status"].get("conditions", ()) if each["type"] != kind]
        if self.random.random() < 0.3:
            self.model.conditions.pop(kind, None)
        else:
            words = (status, f"own{self.number}", f"own {self.number}")
            self.model.conditions[kind] = words
            others.append(condition(kind, *words))
        found["status"]["conditions"] = others

    def _heartbeat(self, found: Any) -> None:
        for each in found["status"].get("conditions", ()):
            each["lastHeartbeatTime"] = "2026-01-01T13:00:00Z"

    def _taint(self, found: Any) -> None:
        key = self.random.choice(KEYS)
        others = [each for each in found["spec"].get("taints", ()) if each["key"] != key]
        if self.random.random() < 0.5:
            self.model.taints.pop(key, None)
        else:
            self.model.taints[key] = f"own {self.number}"
            others.append({"key": key, "value": f"own {self.number}", "effect": "NoSchedule"})
        found["spec"]["taints"] = others

    def _label(self, found: Any) -> None:
        self._in_map(found["metadata"].setdefault("labels", {}), self.model.labels)

    def _annotation(self, found: Any) -> None:
        self._in_map(found["metadata"].setdefault("annotations", {}), self.model.annotations)

    def _in_map(self, shown: dict[str, Any], beneath: dict[str, Any]) -> None:
        key = self.random.choice((*KEYS, "foreign"))
        if self.random.random() < 0.4:
            shown.pop(key, None)
            beneath.pop(key, None)
        else:
            shown[key] = beneath[key] = f"own {self.number}"

    def _health(self, found: Any) -> None:
        annotations = found["metadata"].setdefault("annotations", {})
        if self.random.random() < 0.4:
            annotations.pop(DEVICE_HEALTH, None)
            self.model.annotations.pop(DEVICE_HEALTH, None)
        else:
            # A device that no fault hits: a write of exactly what is shown is not noticed.
            text = f"unhealthy=8{self.number} gone=rdma/ib"
            annotations[DEVICE_HEALTH] = self.model.annotations[DEVICE_HEALTH] = text


def moved(before: Any, after: Any, now: str) -> bool:
    """Return whether times of transition are now for what changed its status, and else as they were."""
    was = {each["type"]: each for each in before["status"].get("conditions", ())}
    return all(
        each["lastTransitionTime"]
        == (
            now
            if each["type"] not in was or was[each["type"]]["status"] != each["status"]
            else was[each["type"]]["lastTransitionTime"]
        )
        for each in after["status"].get("conditions", ())
    )


@pytest.mark.parametrize("seed", range(25))
def test_faults_compose_and_give_back_what_others_have_written(seed: int) -> None:
    random, model = Random(seed), Model()
    writer, faults, found = Writer(random, model), list[OpenFault](), node()
    for step in range(STEPS):
        match random.randrange(3):
            case 0:
                faults.append(random_fault(random, step))
            case 1 if faults:
                faults.remove(random.choice(faults))
            case _:
                found = writer.write(found)
        now = NOON + step
        shown = overlay(found, faults, now)

        assert seen(shown) == model.shown(faults), step
        assert moved(found, shown, f"2026-01-01T12:00:{step:02}Z"), step
        assert overlay(shown, faults, now + 1) == shown, step
        found = json.loads(json.dumps(shown))

    cleared = overlay(found, [], NOON)
    assert seen(cleared) == model.shown([])
    assert JOURNAL not in cleared["metadata"].get("annotations", {})
    assert overlay(cleared, [], NOON) is cleared
