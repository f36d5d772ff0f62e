"""Writes what was measured as a page for people, and the growth as a drawing. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from benchmarks.fit import Point, fit
from benchmarks.goals import DOUBLED, GROWTH, ROWS, Row, growth_row
from benchmarks.plot import Panel, draw
from benchmarks.report import shown
from benchmarks.results import Figure, Results

PATHS = ("etcd", "api")
DRAWING = "performance.svg"
_COLOURS = {"etcd": "#3b82c4", "api": "#d9772b"}
_NONE = "-"
_NOT_YET = "Not measured yet"

_HEAD = """\
# Performance

<!-- Written by docs/render_performance.py from performance.json, which `make bench` writes. -->

What nodes and pods cost on both [data paths](data-paths.md), in new clusters of `kwokctl create cluster` with all
components. A time is measured from the start of the command until an independent watch has seen the last object in its
final state.
"""
_TABLE = """\
## Goals and results

The goals are for the default, `etcd`. "Go" is the original kwokctl with kwok v0.8 on a similar machine; `python -m benchmarks.beside`
measures both in turns, for the table in the README. Where the API path was measured with fewer objects, the table gives their number.

Machines of this size differ. On an AMD EPYC, alternating, medians of 19, `scale node --replicas 10000` took 8.69 s, and 8.87 s with the
version of 2026-11-22 that copied Ready nodes and did not play their Stages: the one that took 5.41 s on the Intel Xeon. The 6.06 s
in the table are from a run in which a client watched all nodes. A rewind of 100 objects until the controller-manager acts took
0.245 to 0.261 s on the Intel Xeon (four medians of twenty), and 0.31 to 0.35 s in its slower minutes.
"""
_ENDED = """\
## Terminated watchers

The API server ends a watcher that does not keep up; the client then resumes, or lists again. In a new cluster the queues of
watchers are ten events long, on both paths; in an established one none should be ended
([why](data-paths.md#not-faster-than-watchers-can-follow)). The numbers include the watches that measure.
"""
_CPU = """\
## CPU of each program

Milliseconds per object during the work, including the heartbeats of the nodes; `kwokctl` is the command, and the watches
that measure ran on the same cores.

`make bench B=stages` plays Stages without the transport: choose, render, patch, check, encode. The goals are 18,000 transitions per
second and core with the fast set, and 16,000 with the general one: 55.6 and 62.5 µs each. Pods that are alike are played by plans
([ADR 61](../adr/0061-what-is-alike-is-played-by-plans.md)): a quiet machine reached 19,800 and 16,800; the version without plans had
reached 9,200 and 6,200 just before. There the controller took 0.38 ms and 336 MB for 100,000 pods of the general set in a cluster, which
ran after 144 s. Figures marked AMD EPYC are of another machine, and cannot be compared with these.

Tried: 35 modules on the way of a play, compiled with mypyc as they are, took 0.6 to 0.8 of the CPU (nine rounds: 1.2 to 1.7 times as
fast, 1.4 in the median). That would need a wheel for each version of Python and each platform, so it is not done.

`make bench B=lifecycle` does the same with pods that live as on a kubelet ([ADR 52](../adr/0052-pods-that-live-as-on-a-kubelet.md)):

| 2,500 pods, alternating with the previous version, on two processors with much other work; medians of three | CPU of a write | beside that of the general set | CPU of a change with its Events |
|---|---|---|---|
| `pod-general` | 47 µs (before: 52 µs) | 1 | 57 µs |
| `pod-kubelet`, where plans are traced, too | 37 µs (before: 109 µs) | 0.8 (before: 2.1); the goal is 1.3 | 81 µs (before: 240 µs) |

A write is a change of a pod or an Event. Most writes of kubelets are Events, which cost less than a change, so a change with
its Events costs 1.4 times one of the general set. Pods that begin at different moments took 54 µs a write instead of 124 µs, with 600 of
them; pods of which no two are alike took what they did before. In a cluster with 2,000 pods that crash, transport and watches included,
a write took 0.8 of the CPU before. Without transport, 10,000 that crash for ten minutes took 15 s of CPU and 112 MB, which grew by 0.02 MB
a minute (before: 41 s, 240 MB, 0.1 MB). Starts and ends were late, with 200 pods that crash at the same moments on a machine with ten
times as much work as it has processors, by 0.3 to 0.5 s for 99 of 100 (the goal is 1 s), and by 0.1 to 0.2 s in the median.
"""
_REST = """\
## Idle CPU, and memory

Percent of one core, and MB of resident memory.
"""
_GROWTH = """\
## Growth

Nodes from 1,000 to 20,000, each number in a new cluster. The two diagrams have different scales.

![Seconds until all nodes are Ready, by data path](performance.svg)
"""
_SOAK = """\
## Half an hour

10,000 nodes, and 100 pods per second that are created and deleted: one half by `scale`, the other by a client through the
API. Memory in MB per minute:
"""


def drawing(results: Results) -> str:
    """Return the growth as SVG; an empty drawing if it was not measured."""
    return draw(
        [
            Panel(f"data path {path}", "nodes", _COLOURS[path], points, fit(points))
            for path in PATHS
            if (points := _growth(results, path))
        ]
    )


def page(results: Results) -> str:
    """Return the text of the page."""
    return "\n".join(
        [
            _HEAD,
            *_circumstances(results),
            *_section(_TABLE, _goals(results)),
            *_section(_ENDED, _watchers(results)),
            *_section(_CPU, _shares(results, lambda row: bool(row.each))),
            *_section(_REST, _shares(results, lambda row: not row.each)),
            *_section(_GROWTH, _growing(results)),
            *_section(_SOAK, _soak(results)),
        ]
    )


def _section(head: str, lines: Iterable[str]) -> Iterator[str]:
    """Begin a section with its head, unless nothing would follow."""
    if body := list(lines):
        yield from (head, *body, "")


def _circumstances(results: Results) -> Iterator[str]:
    here = results.machine
    versions = ", ".join(f"{name} {version}" for name, version in results.versions.items())
    dates = sorted({figure.date for figure in results.figures})
    when = f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))}" if dates else _NOT_YET
    yield (
        f"{when} on {here.cores} cores ({here.processor}), {here.memory_gib} GiB, {here.system}; "
        f"{versions}. Figures marked with another processor were measured on another machine of that size.\n"
    )


def _goals(results: Results) -> Iterator[str]:
    yield "| work | goal | Go | etcd | api |"
    yield "|---|---|---|---|---|"
    for name, row in ROWS.items():
        figures = [results.find(name, path) for path in PATHS]
        goal = _number(row.goal, row.unit) if row.goal is not None else _NONE
        cells = (goal, row.original or _NONE, *(_value(row, figure) for figure in figures))
        yield f"| {_what(row, figures)} | {' | '.join(cells)} |"


def _watchers(results: Results) -> Iterator[str]:
    counted = {row for row in ROWS if any(_is_counted(results.find(row, p)) for p in PATHS)}
    if not counted:
        return
    yield "| watchers ended during | etcd | api |"
    yield "|---|---|---|"
    for name, row in ROWS.items():
        if name in counted:
            figures = [results.find(name, path) for path in PATHS]
            cells = [_ended(figure) for figure in figures]
            yield f"| {_what(row, figures)} | {' | '.join(cells)} |"


def _shares(results: Results, is_shown: Callable[[Row], bool]) -> Iterator[str]:
    shown = [
        (row, figure)
        for name, row in ROWS.items()
        for path in PATHS
        if is_shown(row) and (figure := results.find(name, path)) and figure.programs
    ]
    names = list(dict.fromkeys(name for _, figure in shown for name in figure.programs))
    if not names:
        return
    yield f"| work | path | {' | '.join(names)} |"
    yield f"|---|---|{'---|' * len(names)}"
    for row, figure in shown:
        cells = [_number(figure.programs.get(name)) for name in names]
        yield f"| {_what(row, [figure])} | {figure.path} | {' | '.join(cells)} |"


def _growing(results: Results) -> Iterator[str]:
    measured = {path: points for path in PATHS if (points := _growth(results, path))}
    if not measured:
        return
    for path, points in measured.items():
        if line := fit(points):
            yield (
                f"* {path}: {line.slope * 1000:.2f} s for a thousand nodes more; a straight line "
                f"explains {line.determination:.1%} of the differences."
            )
        if ratio := _largest_beside_half(dict(points)):
            yield f"* {path}: {ratio}"
        largest = results.find(growth_row(GROWTH[-1]), path)
        if largest and largest.note:
            yield f"* {path}, {largest.count:,} nodes: {largest.note}."
    yield ""
    yield f"| nodes | {' | '.join(measured)} |"
    yield f"|---|{'---|' * len(measured)}"
    for nodes in GROWTH:
        figures = [results.find(growth_row(nodes), path) for path in measured]
        cells = [_number(figure.value, "s") if figure else _NONE for figure in figures]
        yield f"| {nodes:,} | {' | '.join(cells)} |"


def _soak(results: Results) -> Iterator[str]:
    if not results.soak:
        return
    minutes = _shown_minutes(max(len(sizes) for sizes in results.soak.values()))
    yield f"| minute | {' | '.join(str(minute) for minute in minutes)} |"
    yield f"|---|{'---|' * len(minutes)}"
    for name, sizes in results.soak.items():
        cells = [_number(sizes[m - 1]) if m <= len(sizes) else _NONE for m in minutes]
        yield f"| {name} | {' | '.join(cells)} |"


def _shown_minutes(last: int) -> Sequence[int]:
    """Choose the minutes that a table has room for: the first, each fifth, the last."""
    return sorted({1, *range(5, last + 1, 5), last})


def _growth(results: Results, path: str) -> list[Point]:
    figures = [results.find(growth_row(nodes), path) for nodes in GROWTH]
    return [(figure.count, figure.value) for figure in figures if figure]


def _largest_beside_half(seconds: Mapping[float, float]) -> str:
    """Compare the largest fleet with the one of half its size; nothing if one was not measured."""
    most = GROWTH[-1]
    if not seconds.keys() >= {most, most // 2}:
        return ""
    ratio = _number(seconds[most] / seconds[most // 2])
    return f"{most:,} nodes take {ratio} times as long as {most // 2:,}; the goal is {DOUBLED:g}."


def _what(row: Row, figures: Sequence[Figure | None]) -> str:
    """Name the work, with the numbers of the first figure there is."""
    figure = next((each for each in figures if each), None)
    count, nodes = (figure.count, figure.nodes) if figure else (row.count, row.nodes)
    return row.what.format(count=f"{count:,}", nodes=f"{nodes:,}")


def _value(row: Row, figure: Figure | None) -> str:
    """Write a figure, with how many objects it is of if the goal is for another number."""
    if figure is None:
        return _NONE
    remarks = [f"{figure.count:,} of them"] if figure.count != row.count else []
    remarks += [figure.note] if figure.note else []
    shown = _number(figure.value, row.unit)
    return f"{shown} ({', '.join(remarks)})" if remarks else shown


def _is_counted(figure: Figure | None) -> bool:
    return figure is not None and figure.ended is not None


def _ended(figure: Figure | None) -> str:
    return _NONE if figure is None or figure.ended is None else f"{figure.ended:,}"


def _number(value: float | None, unit: str = "") -> str:
    return _NONE if value is None else shown(value, unit)
