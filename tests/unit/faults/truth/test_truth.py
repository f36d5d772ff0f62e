"""The log of faults, computed from what the cluster stores."""

from typing import Any

import msgspec
import pytest

from kwokctl.config.config_documents import Document
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import (
    FaultSpec,
    FaultStatus,
    FaultTarget,
    ObjectMeta,
    StoredFault,
)
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow
from kwokctl.faults.overlays.definitions import definition_of, read_definition
from kwokctl.faults.overlays.fault_course import ClassDefinition
from kwokctl.faults.truth.fault_truth import KnownFault, TruthEntry, truth
from kwokctl.replacing import replace

START = "2026-01-01T12:00:00.500000000Z"
CLASS: dict[str, Any] = {
    "apiVersion": "kwokctl.dev/v1alpha1",
    "kind": "FaultClass",
    "metadata": {"name": "mine"},
    "spec": {
        "summary": "x", "layer": "gpu", "scope": "device", "severity": "fatal", "causes": ["hardware"],
        "lifetime": "latched", "clearedBy": ["reboot"],
        "cascades": [{"class": "xid-154", "hits": "nvlink-peers", "after": "30s"}],
        "signals": {
            "kubelet": [
                {
                    "delay": "10s", "pollInterval": "0s",
                    "conditions": [{"type": "Broken", "reason": "R"}], "events": [{"reason": "Gone"}],
                    "taints": [{"key": "a/b", "effect": "NoSchedule"}], "labels": {"l": "x"},
                    "annotations": {"a": "x"}, "devices": "unhealthy",
                    "deviceTaints": [{"key": "d", "effect": "NoExecute"}],
                },
                {"delay": "20s", "pollInterval": "0s", "conditions": [{"type": "Sure", "status": "False", "reason": "R"}]},
            ]
        },
    },
}  # fmt: skip


def definition(**spec: Any) -> ClassDefinition:
    body = {**CLASS, "spec": {**CLASS["spec"], **spec}}
    document = Document(
        kind="FaultClass", api_version=body["apiVersion"], name="mine", body=body, source="a test"
    )
    return read_definition(definition_of(FaultCatalogue([document]), "mine", ["kubelet"]))


def known(
    *rows: UnitRow,
    of: ClassDefinition | None = None,
    age: float = 1000.0,
    uid: str = "u",
    **fields: Any,
) -> KnownFault:
    """Return a fault that began at START, with these fields of spec and status."""
    spec = {each: fields.pop(each) for each in ("lasts", "until", "seed") if each in fields}
    status = FaultStatus(**{"injected_at": START, "clock": 5.0, **fields})
    return KnownFault(
        fault=StoredFault(
            metadata=ObjectMeta(name="f", uid=uid),
            spec=FaultSpec(class_name="mine", target=FaultTarget(percent=100), **spec),
            status=status,
        ),
        definition=of or definition(cascades=[]),
        rows=rows or (row(),),
        gpus={"n-0": 2, "n-1": 2},
        age=age,
    )


def row(node: str = "n-0", gpu: int | None = 1, **fields: Any) -> UnitRow:
    unit = {key: fields.pop(key) for key in ("pod", "pod_uid") if key in fields}
    return UnitRow(unit=FaultUnit(node=node, node_uid="x", gpu=gpu, **unit), **fields)


def told(entries: Any) -> list[tuple[float, str, str]]:
    return [(each.t, each.phase, each.class_name) for each in entries]


def test_a_unit_is_injected_shows_signals_and_has_landed() -> None:
    entries = truth(known(row(landed=20.25)))

    assert told(entries) == [
        (0.0, "injected", "mine"),
        (10.0, "signal", "mine"),
        (20.0, "signal", "mine"),
        (20.0, "landed", "mine"),
    ]
    assert [each.wall[11:23] for each in entries] == [
        "12:00:00.500", "12:00:10.500", "12:00:20.500", "12:00:20.750",
    ]  # fmt: skip
    assert entries[1] == TruthEntry(
        t=10.0, wall="2026-01-01T12:00:10.500000000Z", fault="f", uid="u", class_name="mine",
        phase="signal", node="n-0", gpu=1, dialect="kubelet",
        signal="condition Broken, event Gone, taint a/b:NoSchedule, label l, annotation a, "
        "device taint d:NoExecute, device unhealthy",
    )  # fmt: skip
    assert entries[2].signal == "condition Sure=False"


def test_late_signals_are_recorded_as_late() -> None:
    entries = truth(known(row(landed=27.5, late=7.5)))

    assert [each.late for each in entries if each.phase != "landed"] == [0.0, 0.0, 0.0]
    assert entries[-1].late == 7.5


def test_a_line_has_all_keys() -> None:
    line = msgspec.json.decode(msgspec.json.encode(truth(known())[0]))

    assert [*line] == [
        "t", "wall", "fault", "uid", "class", "phase", "node", "gpu", "pod", "dialect", "signal",
        "late",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("age", "number"), [(0.0, 1), (9.9, 1), (10.0, 2), (19.9, 2), (20.0, 3), (99.0, 3)]
)
def test_what_is_to_come_is_not_told(age: float, number: int) -> None:
    assert len(truth(known(age=age))) == number


def test_what_follows_is_told_with_its_class_and_its_gpu() -> None:
    entries = [each for each in truth(known(of=definition())) if each.class_name == "xid-154"]

    assert (entries[0].phase, entries[0].t, entries[0].gpu) == ("followed", 30.0, 0)
    assert truth(known(of=definition(), age=29.9))[-1].class_name == "mine"


def test_a_unit_that_cannot_show_it_says_why() -> None:
    entry = truth(known(row(problem="NodeGone"), age=0.0))[-1]

    assert (entry.phase, entry.signal, entry.wall) == ("failed", "NodeGone", "")


def test_one_that_has_landed_has_not_failed() -> None:
    phases = [each.phase for each in truth(known(row(landed=1.0, problem="NodeGone")))]

    assert "failed" not in phases


def test_a_fault_shows_nothing_after_its_end() -> None:
    over = known(lasts="15s", cleared_at="2026-01-01T12:00:16Z", phase="Cleared")

    assert told(truth(over)) == [
        (0.0, "injected", "mine"),
        (10.0, "signal", "mine"),
        (15.0, "cleared", "mine"),
    ]
    assert truth(over)[-1].wall == "2026-01-01T12:00:16Z"


@pytest.mark.parametrize(
    ("end", "seconds"),
    [
        ({"until": "2026-01-01T12:00:08.5Z"}, 8.0),
        ({"until": "2026-01-01T12:00:08.5Z", "lasts": "5s"}, 5.0),
        ({"until": "2026-01-01T12:00:08.5Z", "lasts": "50s"}, 8.0),
        ({}, 12.0),
        ({"lasts": "1m"}, 60.0),
    ],
)
def test_the_end_is_the_first_of_those_that_are_given_or_that_of_the_class(
    end: dict[str, Any], seconds: float
) -> None:
    of_class = definition(cascades=[], lasts="12s")
    over = known(of=of_class, cleared_at="2026-01-01T12:02:00Z", **end)

    assert truth(over)[-1].t == seconds
    assert truth(over)[-1].phase == "cleared"


def test_logs_of_equal_seeds_are_equal_but_for_time_of_day_and_uid() -> None:
    polled = definition(signals={"kubelet": [{"pollInterval": "60s", "labels": {"a": "b"}}]})
    rows = (row(), row("n-1", 0, landed=3.0))
    one = truth(known(*rows, of=polled, seed=7))
    rows = (row(), row("n-1", 0, landed=4.0))
    later = "2027-01-01T00:00:00.000000000Z"
    other = truth(known(*rows, of=polled, seed=7, uid="v", injected_at=later, clock=900.0))

    def bare(entries: Any) -> list[TruthEntry]:
        return [replace(each, wall="", uid="") for each in entries]

    assert bare(one) == bare(other)
    assert bare(one) != bare(truth(known(*rows, of=polled, seed=8)))


def test_what_a_node_shows_is_told_once_for_several_pods() -> None:
    pods = [row(gpu=None, pod=f"default/{name}", pod_uid=name) for name in ("a", "b")]
    entries = truth(known(*pods))

    assert [(each.phase, each.pod) for each in entries] == [
        ("injected", "default/a"), ("injected", "default/b"),
        ("signal", "default/a"), ("signal", "default/a"),
    ]  # fmt: skip


def test_lines_come_by_time_then_by_node_and_gpu() -> None:
    entries = truth(known(row("n-1", 0), row("n-0", 1), row("n-0", 0), age=10.0))

    assert [(each.t, each.node, each.gpu) for each in entries] == [
        (time, node, gpu) for time in (0.0, 10.0) for node, gpu in (("n-0", 0), ("n-0", 1), ("n-1", 0))
    ]  # fmt: skip


def test_without_a_definition_only_the_units_are_told() -> None:
    unknown = msgspec.structs.replace(known(), definition=None)

    assert told(truth(unknown)) == [(0.0, "injected", "mine")]


def test_a_fault_that_has_not_begun_has_no_lines() -> None:
    assert not truth(known(injected_at="", clock=None))
