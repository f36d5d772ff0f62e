"""Records of faults and of reactions to them, written by hand."""

from collections.abc import Sequence
from typing import Any

from kwokctl.measure.histories.history import History
from kwokctl.measure.record.fault_lines import FaultGone, FaultSeen
from kwokctl.measure.record.fleet_lines import (
    NodeChange,
    NodeGone,
    NodeSeen,
    OtherRequests,
    PodInterruption,
)
from kwokctl.measure.record.incident_lines import (
    FaultTruth,
    FaultUnitState,
    GuardedPodEnds,
    NodeAct,
    PhaseReached,
    RepairState,
    ScheduleState,
    SentAct,
    WatchLag,
)
from kwokctl.measure.record.record_lines import Lines, RecordText, RunMoment
from kwokctl.measure.scoring.score_words import ScoreWords
from kwokctl.measure.scoring.scorecard import Scorecard
from tests.support.measured import SECOND, header

WALL = 1_767_323_045 * SECOND
"""The time of day at which the record of `header` begins, in nanoseconds since 1970."""
GOOD = "GpuMissing=False,Ready=True"
BAD = "GpuMissing=True,Ready=True"
SICK = "GpuMissing=False,Ready=Unknown"
AKS: dict[str, tuple[str, ...]] = {"aks": ("GpuMissing=True",)}


class Story:
    """Lines of a record, told in whole seconds."""

    def __init__(self, nodes: int = 3, *, gpus: int = 8, cordoned: Sequence[int] = ()) -> None:
        """Begin with nodes `n1`, `n2` and so on, which are good."""
        self.lines: list[tuple[int, Lines]] = []
        self.missing: dict[str, str] = {}
        """Why parts of the record are not there."""
        self._texts: dict[str, int] = {"": 0}
        self._states: dict[int, dict[str, Any]] = {}
        self._faults = 0
        self._repairs = 0
        for number in range(1, nodes + 1):
            state = {
                "gpus": gpus,
                "taints": "",
                "ready": True,
                "cordoned": number in cordoned,
                "shows": GOOD,
            }
            self._states[number] = state
            self._seen(0, number, f"n{number}", is_listed=True)

    def text(self, text: str) -> int:
        """Return the number of a text."""
        if text not in self._texts:
            self._texts[text] = len(self._texts)
            self.lines.append((-1, RecordText(self._texts[text], text)))
        return self._texts[text]

    def _add(self, time: int, line: Lines) -> None:
        self.lines.append((time, line))

    def _fields(self, state: dict[str, Any]) -> tuple[Any, ...]:
        has = f"cpu=64,nvidia.com/gpu={state['gpus']}" if state["gpus"] else "cpu=64"
        return (
            self.text(has), 0, self.text(state["taints"]), state["ready"], state["cordoned"],
            self.text(state["shows"]),
        )  # fmt: skip

    def node(self, time: int, number: int, **changed: Any) -> None:
        """Change a node: `gpus`, `taints`, `ready`, `cordoned`, or what it `shows`."""
        self._states[number] |= changed
        fields = self._fields(self._states[number])
        self._add(time, NodeChange(time * SECOND, number, *fields))

    def cordon(self, time: int, number: int, who: str = "medic") -> None:
        """Let somebody cordon a node."""
        self.node(time, number, cordoned=True)
        self.act(time, number, "cordon", who)

    def uncordon(self, time: int, number: int) -> None:
        """Let somebody uncordon a node."""
        self.node(time, number, cordoned=False)
        self.act(time, number, "uncordon", "")

    def act(self, time: int, number: int, act: str, who: str) -> None:
        """Note an act on a node."""
        self._add(time, NodeAct(time * SECOND, number, self.text(act), self.text(who)))

    def again(self, time: int, number: int, name: str) -> None:
        """Make a node with the name of one that was deleted."""
        self._states[number] = {**self._states[1], "shows": GOOD, "cordoned": False}
        self._seen(time, number, name, is_listed=False)

    def _seen(self, time: int, number: int, name: str, *, is_listed: bool) -> None:
        has, labels, taints, ready, cordoned, shows = self._fields(self._states[number])
        self._add(time, NodeSeen(
            time * SECOND, number, name, is_listed, has, labels, taints, ready, cordoned, 0, shows
        ))  # fmt: skip

    def gone(self, time: int, number: int) -> None:
        """Delete a node."""
        self._add(time, NodeGone(time * SECOND, number))

    def fault(
        self,
        time: int,
        *nodes: int,
        end: int | None = None,
        gpus: Sequence[int] = (2,),
        marks: dict[str, tuple[str, ...]] | None = None,
        **fields: Any,
    ) -> str:
        """Break GPUs of some nodes, or the nodes themselves, until `end`; return the name of the Fault."""
        self._faults += 1
        number = self._faults
        usual = {
            "severity": "fatal",
            "scope": "device",
            "problem": "",
            "landed": 1.0,
            "of": "xid-79",
            "schedule": "",
        }
        found = {**usual, **fields}
        name = f"fault-{number}"
        shown = AKS if marks is None else marks
        self._add(
            time,
            FaultSeen(
                time * SECOND,
                number,
                name,
                found["of"],
                "Landed",
                len(nodes),
                False,
                found["schedule"],
            ),
        )
        truth = (number, found["severity"], found["scope"], WALL + time * SECOND)
        self._add(time, FaultTruth(time * SECOND, *truth, 0, shown))
        for node in nodes:
            for gpu in gpus or (None,):
                unit = (f"n{node}", gpu, found["landed"], found["problem"])
                self._add(time, FaultUnitState(time * SECOND, number, *unit))
        if end is not None:
            self._add(end, FaultTruth(end * SECOND, *truth, WALL + end * SECOND, shown))
            self._add(end, FaultGone(end * SECOND, number))
        return name

    def repair(self, begin: int, end: int | None, node: int, *cleared: str, **fields: Any) -> None:
        """Repair a node from when it is accepted to its end."""
        self._repairs += 1
        done = "Succeeded" if cleared else "Failed"
        phase = "Running" if end is None else done
        usual = {"action": "reboot", "phase": phase, "trigger": "label", "by": "medic"}
        found = {**usual, **fields}
        ended = 0 if end is None else WALL + end * SECOND
        at = WALL + begin * SECOND
        self._add(begin if end is None else end, RepairState(
            begin * SECOND, self._repairs, f"repair-{self._repairs}", f"n{node}", found["action"],
            found["phase"], found["trigger"], found["by"], at, at, ended, cleared, (),
        ))  # fmt: skip

    def request(
        self,
        time: float,
        user: str,
        name: str,
        what: str = "change node",
        *,
        took: float = 0.01,
        refused: bool = False,
        namespace: str = "",
    ) -> None:
        """Let the audit log say that a user has sent a request."""
        begin, end = round(time * SECOND), round((time + took) * SECOND)
        texts = (self.text(what), self.text(user))
        line = SentAct(begin, end, texts[0], namespace, name, texts[1], refused)
        self.lines.append((100, line))  # an audit log is read later than what it tells

    def lag(self, seconds: float) -> None:
        """Let a probe of the watch take so long."""
        self._add(1, WatchLag(SECOND, round(seconds * SECOND)))

    def guarded(self, time: float, name: str, namespace: str = "default") -> None:
        """Delete a pod that a budget protects."""
        self.lines.append(
            (round(time), GuardedPodEnds(round(time * SECOND), namespace, name, "guard"))
        )

    def others(self, time: int, node: int, pods: int, movable: int) -> None:
        """Let pods of before be on a node."""
        self._add(time, OtherRequests(time * SECOND, f"n{node}", pods, 0, movable))

    def evicted(
        self, time: int, node: int, reason: str = "EvictionByEvictionAPI", devices: str = ""
    ) -> None:
        """Evict a pod from a node."""
        texts = (self.text(reason), self.text(f"n{node}"), self.text(devices))
        self._add(time, PodInterruption(time * SECOND, 0, 0, *texts))

    def schedule(self, planned: int, time_scale: float = 1.0, **suppressed: int) -> None:
        """Play a schedule."""
        injected = planned - sum(suppressed.values())
        self._add(1, ScheduleState(
            SECOND, 1, "storm", "Running", planned, injected, suppressed, 1.0, time_scale
        ))  # fmt: skip

    def phase(self, time: int, node: int, *, holds: bool = True, number: int = 0) -> None:
        """Let a phase be over for a node."""
        self._add(time, PhaseReached(time * SECOND, number, f"n{node}", holds))

    def add(self, time: int, *lines: Lines) -> None:
        """Add other lines."""
        for line in lines:
            self._add(time, line)

    def history(self, end: int = 100, phases: tuple[str, ...] = (), **fields: Any) -> History:
        """Return what the record says that ends after so many seconds."""
        ordered = [line for _, line in sorted(self.lines, key=lambda each: each[0])]
        over = RunMoment(end * SECOND, "end")
        return History.of(
            header(phases=phases, missing=self.missing, **fields),
            [RunMoment(0, "begin"), *ordered, over],
        )

    def card(self, end: int = 100, **words: Any) -> Scorecard:
        """Judge it."""
        return Scorecard(self.history(end), ScoreWords(**words))
