"""The documents that sinks get."""

import msgspec
import pytest

from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.classes.message_texts import HitNode
from kwokctl.faults.objects.fault_schema import (
    FaultSpec,
    FaultStatus,
    FaultTarget,
    ObjectMeta,
    StoredFault,
)
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow
from kwokctl.faults.overlays.definitions import definition_of, read_definition
from kwokctl.faults.truth.fault_truth import KnownFault, cleared_by_deletion, happenings
from kwokctl.faults.truth.sink_signals import SinkSignal, recommended_action, sink_signals
from kwokctl.replacing import replace

START = "2026-01-01T12:00:00.000000000Z"
NODE = HitNode(name="n-0", labels={}, capacity={"nvidia.com/gpu": 8})


def known(*dialects: str, found: str = "xid-48", **status: str) -> KnownFault:
    definition = read_definition(definition_of(FaultCatalogue([]), found, dialects))
    fault = StoredFault(
        metadata=ObjectMeta(name="f", uid="u"),
        spec=FaultSpec(class_name=found, target=FaultTarget(percent=100), lasts="10m"),
        status=FaultStatus(injected_at=START, clock=5.0, **status),  # type: ignore[arg-type]  # texts
    )
    row = UnitRow(unit=FaultUnit(node="n-0", node_uid="x", gpu=3), landed=1.0)
    return KnownFault(fault=fault, definition=definition, rows=(row,), gpus={"n-0": 8}, age=1000.0)


def told(found: KnownFault) -> list[SinkSignal]:
    return [signal for each in happenings(found) for signal in sink_signals(each, NODE)]


def test_a_signal_says_what_remediators_ask_for() -> None:
    of_dialect = [each for each in told(known("nvsentinel")) if each.dialect == "nvsentinel"]
    (signal,) = [each for each in of_dialect if each.xid == 48]

    assert (signal.phase, signal.fault, signal.class_name) == ("signal", "f", "xid-48")
    assert (signal.node, signal.gpu, signal.xid, signal.fatal) == ("n-0", 3, 48, True)
    assert (signal.check, signal.action) == ("SysLogsXIDError", "COMPONENT_RESET")
    assert signal.uuid.startswith("GPU-")
    assert signal.uuid in signal.message
    assert signal.kernel_line == (
        f"NVRM: Xid (PCI:{signal.pci}): 48, pid='<unknown>', name=<unknown>, Double Bit ECC Error."
    )
    assert signal.due == 1767268800.0


def test_what_the_controller_writes_is_not_told() -> None:
    assert {each.phase for each in told(known("nvsentinel"))} == {"injected", "followed", "signal"}


def test_the_end_is_told_of_each_signal_with_its_check() -> None:
    over = known("nvsentinel", "aks", cleared_at="2026-01-01T12:10:00Z")
    ends = [each for each in told(over) if each.phase == "cleared"]
    signals = [each for each in told(over) if each.phase == "signal"]

    assert sorted(each.check for each in ends) == sorted(each.check for each in signals)
    assert {each.time for each in ends} == {"2026-01-01T12:10:00Z"}
    assert len({each.id for each in told(over)}) == len(told(over))


def test_the_end_of_what_nobody_showed_is_told_once() -> None:
    over = known("gke", cleared_at="2026-01-01T12:10:00Z")
    assert [each.check for each in told(over) if each.phase == "cleared"] == [""]


def test_a_fault_that_was_deleted_has_the_same_ends() -> None:
    over = known("nvsentinel", cleared_at="2026-01-01T12:10:00Z")
    deleted = known("nvsentinel")
    ends = [
        signal
        for each in cleared_by_deletion(deleted, 1767268800.0 + 5)
        for signal in sink_signals(each, NODE)
    ]

    assert [each.id for each in ends] == [each.id for each in told(over) if each.phase == "cleared"]
    assert {each.time for each in ends} == {"2026-01-01T12:00:05.000000000Z"}
    assert [*cleared_by_deletion(over, 0.0)] == []


def test_a_node_or_a_class_that_is_gone_leaves_what_is_known() -> None:
    (first, *_) = happenings(known("nvsentinel"))
    (without_node,) = sink_signals(first, None)
    assert (without_node.node, without_node.gpu, without_node.uuid) == ("n-0", 3, "")
    (first, *_) = happenings(replace(known("nvsentinel"), definition=None))
    (without_class,) = sink_signals(first, NODE)
    assert (without_class.xid, without_class.kernel_line, without_class.fatal) == (None, "", False)


@pytest.mark.parametrize(
    ("found", "action"), [("xid-79", "RESTART_BM"), ("xid-13", "NONE"), ("gpu-missing", None)]
)
def test_the_action_is_that_of_the_class(found: str, action: str | None) -> None:
    assert recommended_action(FaultCatalogue([]).find(found)) == action


def test_a_document_has_all_keys() -> None:
    document = msgspec.json.decode(msgspec.json.encode(told(known("nvsentinel"))[0]))
    assert [*document] == [
        "id", "time", "phase", "fault", "uid", "class", "dialect", "node", "gpu", "uuid", "pci", "pod", "xid",
        "kernelLine", "check", "signal", "message", "fatal", "action",
    ]  # fmt: skip
