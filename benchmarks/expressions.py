"""What the expressions of Stages cost: CPU for each evaluation, as the controller evaluates them."""

import json
import time
from collections.abc import Callable
from typing import Any

from benchmarks.report import Row, report
from kwokctl.expr import cel, jq
from tests.support.cel_cases import OBJECTS

_TURNS, _TIMES = 5, 20_000
_SHOWN = 60
_CEL = (
    ("Pod", "self.status.podIP == ''"),
    ("Pod", "!has(self.metadata.deletionTimestamp) && self.status.phase == 'Pending'"),
    ("Pod", "self.metadata.ownerReferences.exists(o, o.kind == 'Job')"),
    ("Pod", "duration(self.metadata.annotations['delay'])"),
    ("Node", "self.SinceSecond() > 60.0"),
    ("Node", "self.status.allocatable['cpu'] > Quantity('2')"),
    ("Job", "self.spec.text == 'kwok-volume'"),
    ("Job", "!has(self.metadata.deletionTimestamp)"),
    ("Job", "!(self.status.phase in ['Bound', 'Released', 'Failed'])"),
)
"""The last three are of kwok's stages for volumes, whose objects are plain data."""
_JQ = (".status.phase", '.metadata.ownerReferences.[].kind | select(. == "Job")')


def main() -> None:
    """Measure and print."""
    objects = json.loads(json.dumps(OBJECTS))
    rows = [_row(f"cel: {text}", _cel(kind, text), objects[kind], goal=1.0) for kind, text in _CEL]
    rows += [_row(f"jq: {text}", jq.compile(text).values, objects["Pod"]) for text in _JQ]
    report("expressions of Stages, an evaluation", rows)


def _cel(kind: str, text: str) -> Callable[[Any], Any]:
    struct: cel.StructKind | None = "Node" if kind == "Node" else "Pod" if kind == "Pod" else None
    return cel.compile_cel(text, struct).evaluate


def _row(what: str, evaluate: Callable[[Any], Any], value: Any, goal: float | None = None) -> Row:
    shown = what if len(what) <= _SHOWN else f"{what[: _SHOWN - 1]}…"
    return Row(shown, _least(evaluate, value) * 1e6, "us CPU", goal=goal)


def _least(evaluate: Callable[[Any], Any], value: Any) -> float:
    """Return the CPU seconds of an evaluation, the least of some turns."""
    turns = []
    for _ in range(_TURNS):
        began = time.process_time()
        for _ in range(_TIMES):
            evaluate(value)
        turns.append(time.process_time() - began)
    return min(turns) / _TIMES


if __name__ == "__main__":
    main()
