"""What is recorded of the units of Faults, of acts on nodes, of Repairs and of FaultSchedules."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kwokctl.errors import UsageError
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import FaultPageSpec
from kwokctl.faults.overlays.definitions import definition_of, read_definition
from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.measure.record.incident_lines import (
    FaultTruth,
    FaultUnitState,
    NodeAct,
    PhaseReached,
    RepairState,
    ScheduleState,
)
from kwokctl.measure.record.record_lines import Lines, RecordText
from kwokctl.measure.watching.faults import FaultTracker
from kwokctl.measure.watching.node_acts import NodeActs, NodeBarriers
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.phases import IncidentPhase, PhaseTracker
from kwokctl.measure.watching.recorder import Tracker
from kwokctl.measure.watching.repair_lines import repair_tracker, schedule_tracker
from kwokctl.measure.watching.seen_faults import (
    FaultPageTracker,
    FaultTruths,
    SeenFaultPage,
    marks_of,
)

MOMENT = "2026-01-02T03:04:05.250000Z"
WALL = 1_767_323_045_250_000_000
ROW = "n-1 uid-1 3 - - - -"
LANDED = "n-1 uid-1 3 - - 0.250 -"


class Written:
    """The trackers of Faults and of their pages, and the lines that they write of units."""

    def __init__(self) -> None:
        self.lines: list[Lines] = []
        truths = FaultTruths(self._emit)
        self.faults, self.pages = FaultTracker(self._emit, truths), FaultPageTracker(truths)

    def _emit(self, line: Lines) -> None:
        if isinstance(line, FaultTruth | FaultUnitState):
            self.lines.append(line)

    def fault(
        self, time: int, uid: str = "u", *, labels: dict[str, str] | None = None, **status: Any
    ) -> None:
        named = {"name": "lost", "uid": uid} | ({"labels": labels} if labels else {})
        body = {"metadata": named, "spec": {"class": "xid-79"}, "status": status}
        show(self.faults, body, time)

    def page(self, time: int, *rows: str, number: int = 0, fault: str = "u") -> None:
        spec = FaultPageSpec(fault=fault, number=number, rows=rows)
        page = SeenFaultPage(Metadata(name=f"page-{number}"), spec)
        self.pages.see(page, b"", time, listed=False)

    def take(self) -> list[Lines]:
        taken, self.lines[:] = [*self.lines], []
        return taken


def show(tracker: Tracker, body: dict[str, Any], time: int) -> None:
    raw = msgspec.json.encode(body)
    tracker.see(tracker.decode(raw), raw, time, listed=False)


def test_units_are_written_when_they_are_hit_and_when_they_show_the_fault() -> None:
    written = Written()
    written.fault(1, phase="Pending")
    assert written.take() == []

    written.fault(2, phase="Injecting", injectedAt=MOMENT, rows=[ROW, "not a row"])
    written.fault(3, phase="Injecting", injectedAt=MOMENT, rows=[ROW])
    assert written.take() == [
        FaultTruth(2, 1, "", "", WALL, 0, {}),
        FaultUnitState(2, 1, "n-1", 3, None, ""),
    ]

    written.fault(4, phase="Cleared", injectedAt=MOMENT, clearedAt=MOMENT, rows=[LANDED])
    assert written.take() == [
        FaultTruth(4, 1, "", "", WALL, WALL, {}),
        FaultUnitState(4, 1, "n-1", 3, 0.25, ""),
    ]


def test_pages_that_come_before_their_fault_are_kept_for_it() -> None:
    written = Written()
    written.page(1, ROW)
    written.page(2, LANDED)
    written.page(2, "n-2 uid-2 - - - - NodeGone", number=1)
    written.page(2, ROW, fault="another")
    assert written.take() == []

    written.fault(3, phase="Injecting", injectedAt=MOMENT)
    written.page(4, LANDED)

    assert written.take() == [
        FaultUnitState(3, 1, "n-1", 3, 0.25, ""),
        FaultUnitState(3, 1, "n-2", None, None, "NodeGone"),
        FaultTruth(3, 1, "", "", WALL, 0, {}),
    ]


@pytest.mark.parametrize("is_first", [True, False])
def test_the_class_of_a_fault_is_written_whether_its_definition_comes_before_or_after_it(
    *, is_first: bool
) -> None:
    written = Written()
    definition = definition_of(FaultCatalogue([]), "gpu-missing", ["aks"])
    page = SeenFaultPage(Metadata(name="definition"), FaultPageSpec(definition=definition))
    steps: list[Callable[[], None]] = [
        lambda: written.pages.see(page, b"", 1, listed=False),
        lambda: written.fault(1, injectedAt=MOMENT, definition="definition"),
    ]
    for step in steps if is_first else reversed(steps):
        step()

    last = written.take()[-1]
    assert isinstance(last, FaultTruth)
    assert (last.severity, last.scope) == ("fatal", "device")
    assert last.marks["aks"] == ("GPUMissing=True",)


def test_a_fault_that_a_repair_shows_is_no_truth_to_react_to() -> None:
    written = Written()
    written.fault(1, labels={"kwokctl.dev/repair": "r"}, injectedAt=MOMENT, rows=[ROW])

    assert written.take() == []


@pytest.mark.parametrize(
    ("name", "dialects", "marks"),
    [
        ("gpu-missing", ["azurehpc"], {"azurehpc": ("GpuCount=True",)}),
        ("gpu-missing", ["device-plugin"], {"device-plugin": ("devices",)}),
        ("gpu-missing", ["eks"], {"eks": ("AcceleratedHardwareReady=False",)}),
        ("unreachable", ["npd"], {"kubelet": ("Ready=False", "Ready=Unknown")}),
        ("app-failed", ["npd"], {"pods": ("pods",)}),
    ],
)
def test_marks_are_what_each_dialect_shows_on_a_node(
    name: str, dialects: list[str], marks: dict[str, tuple[str, ...]]
) -> None:
    found = read_definition(definition_of(FaultCatalogue([]), name, dialects))

    shown = marks_of(found)

    assert {each: shown.get(each) for each in marks} == marks


def managed(manager: str, *fields: str) -> dict[str, Any]:
    return {"manager": manager, "fieldsV1": {"f:spec": {field: {} for field in fields}}}


def test_who_acts_on_a_node_is_the_manager_of_what_was_set() -> None:
    lines: list[Lines] = []
    acts = NodeActs(lines.append, Texts(lines.append))
    raw = msgspec.json.encode({
        "metadata": {"managedFields": [
            {"manager": "kubelet", "fieldsV1": {"f:status": {}}}, managed("medic", "f:unschedulable"),
            managed("tainter", "f:taints"),
        ]}
    })  # fmt: skip
    taint = "medic.example/bad:NoExecute"

    acts.note(1, NodeBarriers(False, frozenset()), b"", 1)
    acts.note(1, NodeBarriers(False, frozenset()), b"", 2)
    acts.note(1, NodeBarriers(True, frozenset({taint})), raw, 3)
    acts.note(1, NodeBarriers(False, frozenset()), raw, 4)
    acts.note(2, NodeBarriers(True, frozenset({taint})), raw, 5)
    acts.note(2, NodeBarriers(True, frozenset()), b'{"metadata":{}}', 6)

    texts = {line.number: line.text for line in lines if isinstance(line, RecordText)} | {0: ""}
    found = [
        (line.time, line.node, texts[line.act], texts[line.manager])
        for line in lines
        if isinstance(line, NodeAct)
    ]
    assert found == [
        (3, 1, "cordon", "medic"), (3, 1, f"taint {taint}", "tainter"), (4, 1, "uncordon", ""),
        (4, 1, f"untaint {taint}", ""), (6, 2, f"untaint {taint}", ""),
    ]  # fmt: skip


def test_a_node_that_is_gone_and_comes_again_with_its_number_has_no_act() -> None:
    lines: list[Lines] = []
    acts = NodeActs(lines.append, Texts(lines.append))
    acts.note(1, NodeBarriers(True, frozenset()), b"", 1)
    acts.forget(1)

    acts.note(1, NodeBarriers(False, frozenset()), b"", 2)

    assert lines == []


def test_a_repair_is_written_whole_with_each_change() -> None:
    lines: list[Lines] = []
    tracker = repair_tracker(lines.append)
    body: dict[str, Any] = {
        "metadata": {"name": "r", "uid": "u"},
        "spec": {"node": "n-1", "action": "reboot"},
    }
    done = {
        "phase": "Succeeded", "trigger": "label", "by": "medic", "acceptedAt": MOMENT, "startedAt": MOMENT,
        "endedAt": MOMENT, "cleared": ["lost"], "left": ["other"],
    }  # fmt: skip
    show(tracker, body, 1)
    show(tracker, body, 2)
    show(tracker, body | {"status": done}, 3)
    tracker.gone("u", 4)

    assert lines == [
        RepairState(1, 1, "r", "n-1", "reboot", "", "", "", 0, 0, 0, (), ()),
        RepairState(
            3,
            1,
            "r",
            "n-1",
            "reboot",
            "Succeeded",
            "label",
            "medic",
            WALL,
            WALL,
            WALL,
            ("lost",),
            ("other",),
        ),
    ]


def test_a_schedule_is_written_with_what_it_has_suppressed_and_why() -> None:
    lines: list[Lines] = []
    tracker = schedule_tracker(lines.append)
    status = {
        "phase": "Running",
        "planned": 9,
        "injected": 3,
        "suppressedBy": {"Limit": 2, "Gone": 0},
    }
    body: dict[str, Any] = {"metadata": {"name": "storm", "uid": "u"}, "spec": {"timeScale": 60}}
    show(tracker, body, 1)
    show(tracker, body | {"status": status}, 2)

    assert lines == [
        ScheduleState(1, 1, "storm", "", 0, 0, {}, 1.0, 60.0),
        ScheduleState(2, 1, "storm", "Running", 9, 3, {"Limit": 2}, 1.0, 60.0),
    ]


def labelled(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "labels": labels}}


def test_a_phase_of_nodes_is_over_while_its_expression_holds() -> None:
    lines: list[Lines] = []
    phase = IncidentPhase.read("away=self.metadata.labels.state == 'away'")
    tracker = PhaseTracker(lines.append, phase, 2)

    show(tracker, labelled("n-1", state="here"), 1)
    show(tracker, labelled("n-1", state="away"), 2)
    show(tracker, labelled("n-1", state="away", more="x"), 3)
    show(tracker, labelled("n-1"), 4)
    show(tracker, labelled("n-2", state="away"), 5)
    tracker.gone("uid-n-2", 6)

    assert lines == [
        PhaseReached(2, 2, "n-1", True), PhaseReached(4, 2, "n-1", False), PhaseReached(5, 2, "n-2", True),
        PhaseReached(6, 2, "n-2", False),
    ]  # fmt: skip


def test_a_phase_of_another_kind_is_over_for_the_node_that_an_object_names() -> None:
    lines: list[Lines] = []
    phase = IncidentPhase.read("asked=rebootnodes.janitor.example, self.metadata.labels.node")
    tracker = PhaseTracker(lines.append, phase, 0)

    show(tracker, labelled("first"), 1)
    show(tracker, labelled("first", node="n-1"), 2)
    tracker.gone("uid-first", 3)
    show(tracker, labelled("second", node="n-2"), 4)

    assert phase.kind == "rebootnodes.janitor.example"
    assert str(phase) == "asked=rebootnodes.janitor.example,self.metadata.labels.node"
    assert lines == [PhaseReached(2, 0, "n-1", True), PhaseReached(4, 0, "n-2", True)]


@pytest.mark.parametrize(
    "text", ["", "a", "a=", "a b=true", "a=1 +", "a=pods,", "a=other.x", "=true"]
)
def test_what_is_no_phase_is_an_error_that_shows_one(text: str) -> None:
    with pytest.raises(UsageError, match="--phase"):
        IncidentPhase.read(text)
