"""Figures of components as processes: CPU time and memory."""

from collections.abc import Callable, Sequence
from functools import partial

from kwokctl.measure.figures.figure import Figure, RunView
from kwokctl.measure.figures.parts import levels_of_parts
from kwokctl.measure.figures.values import Value
from kwokctl.measure.histories.plane_history import Spent
from kwokctl.measure.record.run_clock import SECOND

_SHORTEST = SECOND // 2
"""The kernel counts CPU time in hundredths of a second: over a shorter time that is no measure."""
_Levels = list[tuple[int, float]]


def _cpu(samples: Sequence[Spent]) -> _Levels:
    """Return the processors that a component took from each time on, until the next."""
    found: _Levels = []
    before = samples[0]
    for each in samples[1:]:
        if each.process != before.process:
            before = each
        elif each.time - before.time >= _SHORTEST:
            took = (each.cpu - before.cpu) * SECOND / (each.time - before.time)
            found.append((before.time, took))
            before = each
    return found


def _memory(samples: Sequence[Spent]) -> _Levels:
    return [(each.time, float(each.memory)) for each in samples]


def _levels(of: Callable[[Sequence[Spent]], _Levels], view: RunView) -> Value:
    plane = view.history.plane
    parts = {name: of(samples) for name, samples in plane.spent.items()}
    for name, samples in plane.spent.items():
        if samples[-1].time < plane.last_spent:  # it has ended
            parts[name].append((samples[-1].time, 0.0))
    return levels_of_parts(parts, view.history.begin, view.history.end)


FIGURES = (
    Figure(name="components.cpu", unit="", title="processors that the components took", compute=partial(_levels, _cpu),
           form="levels", needs="processes", parts="component", better="less"),
    Figure(name="components.memory", unit="B", title="memory of the components", compute=partial(_levels, _memory),
           form="levels", needs="processes", parts="component", better="less"),
)  # fmt: skip
