"""Items of made-up pages: each as a run of twelve minutes with faults might have it."""

import math
import random
from collections.abc import Sequence

from kwokctl.measure.pages.page_data import (
    BarMark,
    BarsItem,
    BarValues,
    FleetFrame,
    FleetGroup,
    FleetItem,
    FleetState,
    IntervalRow,
    LinesItem,
    LineValues,
    PageBand,
    TableCell,
    TableColumn,
    TableItem,
    TextItem,
    WaterfallItem,
    WaterfallPhase,
    WaterfallRow,
)

SECONDS = 720.0
_STATES = (
    FleetState(name="Ready", level="good", code="r"),
    FleetState(name="Ready, full", level="good", code="f"),
    FleetState(name="Cordoned", level="warning", code="c"),
    FleetState(name="NotReady", level="bad", code="n"),
    FleetState(name="Not there", level="neutral", code="-"),
)
_PHASES = (
    WaterfallPhase(name="Queued", level="neutral"),
    WaterfallPhase(name="Starting", level="neutral"),
    WaterfallPhase(name="Running", level="good"),
    WaterfallPhase(name="Failed", level="bad"),
)


def waterfall(chance: random.Random, jobs: int) -> WaterfallItem:
    """Return Jobs that wait for each other, some of which fail or have not ended."""
    rows = []
    for job in range(jobs):
        queued = SECONDS * 0.75 * job / jobs
        starting = queued + chance.expovariate(1 / 20) + (40 if 250 < queued < 380 else 1)
        running = starting + chance.uniform(1, 6)
        ended = running + chance.uniform(40, 160)
        spans: list[tuple[int, float, float | None]] = [
            (0, _at(queued), _at(starting)),
            (1, _at(starting), _at(running)),
            (2, _at(running), _at(ended) if ended < SECONDS else None),
        ]
        if ended < SECONDS and chance.random() < 0.05:
            spans.append((3, _at(ended), _at(min(SECONDS, ended + 25))))
        rows.append(WaterfallRow(name=f"team-{job % 4}/pretrain-{job:05d}", spans=spans))
    note = "A row is a Job." if jobs <= 400 else "A row is a Job; scroll for the others."
    return WaterfallItem(
        id="jobs-over-time", title="Jobs over time", note=note, phases=_PHASES, rows=rows, end=SECONDS
    )  # fmt: skip


def fleet(chance: random.Random, racks: int, rack: int, frames: int) -> FleetItem:
    """Return racks of nodes that come, fill, and of which one fails for a while."""
    groups = [
        FleetGroup(name=f"rack-{r:02d}", nodes=[f"gpu-{r:02d}-{n:02d}" for n in range(rack)])
        for r in range(racks)
    ]
    count = racks * rack
    state = ["-"] * count if frames > 1 else ["r"] * count
    made = [FleetFrame(changes=list(enumerate(state)))]
    ill = range(min(3, racks - 1) * rack, min(3, racks - 1) * rack + rack)
    for frame in range(1, frames):
        after = [_next_state(chance, each, frame / frames) for each in state]
        for node in ill:
            after[node] = "n" if 0.36 < frame / frames < 0.55 else after[node].replace("n", "r")
        changes = [
            (i, new) for i, (old, new) in enumerate(zip(state, after, strict=True)) if old != new
        ]
        made.append(FleetFrame(changes=changes))
        state = after
    return FleetItem(
        id="fleet-map", title="Nodes by rack", note="A cell is a node.", groups=groups, states=_STATES,
        start=0, step=_at(SECONDS / max(1, frames)), count=frames, frames=made,
    )  # fmt: skip


def _next_state(chance: random.Random, state: str, time: float) -> str:
    if state == "-":
        return "r" if chance.random() < 0.25 else "-"
    draw = chance.random()
    if state == "r":
        return "f" if draw < 0.12 else "c" if draw < 0.122 else "r"
    if state == "f":
        return "r" if draw < 0.04 + 0.3 * (time > 0.85) else "n" if draw < 0.041 else "f"
    return "r" if draw < 0.1 else state


def _at(number: float) -> float:
    return round(number, 3)


def bands() -> list[PageBand]:
    return [
        PageBand(name="RackPowerLoss rack-03", start=260.0, end=395.5, level="bad"),
        PageBand(name="SlowEtcd", start=310.0, end=350.0, level="warning"),
        PageBand(name="XidError gpu-11-04", start=540.0, end=None, level="bad"),
    ]


def _curve(chance: random.Random, peak: float, *, dip: bool = True) -> list[float | None]:
    values: list[float | None] = []
    for i in range(144):
        share = i / 144
        base = peak * min(1.0, share * 8) * (1 - max(0.0, share - 0.8) * 4.5)
        low = 0.35 if dip and 0.36 < share < 0.55 else 1.0
        values.append(_at(max(0.0, base * low * chance.uniform(0.86, 1.06))))
    return values


def rates(chance: random.Random) -> LinesItem:
    bound: Sequence[float | None] = _curve(chance, 410)
    created = [
        None if 70 <= i < 74 else value for i, value in enumerate(_curve(chance, 430, dip=False))
    ]
    return LinesItem(
        id="rates-of-pods", title="Rates of pods", unit="pods/s", start=0.0, step=5.0, count=144,
        note="Bins of 5 s. The gap: the record has no samples there.",
        series=[
            LineValues(name="Created", values=created),
            LineValues(name="Bound", values=bound),
            LineValues(name="Started", values=[None if v is None else _at(v * 0.92) for v in bound]),
        ],
    )  # fmt: skip


def queue(chance: random.Random) -> LinesItem:
    values = [
        _at(40 + 900 * math.exp(-(((i - 68) / 16) ** 2)) + chance.uniform(0, 30))
        for i in range(144)
    ]
    return LinesItem(
        id="queue", title="Pods waiting", unit="pods", start=0.0, step=5.0, count=144,
        series=[LineValues(name="Waiting", values=values)],
    )  # fmt: skip


def use(chance: random.Random) -> LinesItem:
    return LinesItem(
        id="gpus", title="GPUs in use by model", unit="GPUs", start=0.0, step=5.0, count=144, stacked=True,
        series=[
            LineValues(name="nvidia-h100", values=_curve(chance, 3100)),
            LineValues(name="nvidia-a100", values=_curve(chance, 1700)),
            LineValues(name="amd-mi300x", values=_curve(chance, 700)),
        ],
    )  # fmt: skip


def latency(chance: random.Random) -> BarsItem:
    edges = [0.0, *(_at(0.01 * 1.35**i) for i in range(29))]
    values = [
        float(round(420 * math.exp(-(((i - 15) / 5) ** 2)))) + chance.randint(0, 3)
        for i in range(29)
    ]
    return BarsItem(
        id="created-to-bound", title="Created to bound", unit="s", note="Pods by the time until they were bound.",
        edges=edges, series=[BarValues(name="Pods", values=values)],
        marks=[BarMark(name="p50", at=0.92), BarMark(name="p90", at=5.4), BarMark(name="p99", at=41.2)],
    )  # fmt: skip


def latencies(chance: random.Random, names: tuple[str, str] = ("Gangs", "Single pods")) -> BarsItem:
    edges = [float(i) for i in range(41)]
    series = [
        BarValues(
            name=name,
            values=[
                float(round(90 * math.exp(-(((i - middle) / 6) ** 2)) + chance.random() * 4))
                for i in range(40)
            ],
        )
        for name, middle in zip(names, (9, 14), strict=True)
    ]
    return BarsItem(
        id="bound-to-ready", title="Bound to ready", unit="s", edges=edges, series=series,
        marks=[BarMark(name="p99", at=27.25)],
    )  # fmt: skip


def control_plane(chance: random.Random) -> LinesItem:
    names = (
        "kube-apiserver",
        "etcd",
        "kube-scheduler",
        "kube-controller-manager",
        "kwok-controller",
    )
    return LinesItem(
        id="processors", title="Processor time by component", unit="%", start=0.0, step=5.0, count=144,
        series=[LineValues(name=name, values=_curve(chance, 80 / (i + 1))) for i, name in enumerate(names)],
    )  # fmt: skip


def job_table() -> TableItem:
    columns = [
        TableColumn(title="Team"),
        *(TableColumn(title=title, align="right") for title in ("Jobs", "Completed", "Waited, p50 (s)", "Waited, p99 (s)")),
        TableColumn(title="Verdict"),
    ]  # fmt: skip
    rows: list[list[str | TableCell]] = [
        ["team-0", "30", "30", "4.1", "19.8", TableCell(text="holds", level="good")],
        ["team-1", "30", "30", "4.4", "22.6", TableCell(text="holds", level="good")],
        ["team-2", "30", "28", "6.9", "57.3", TableCell(text="2 Jobs failed", level="bad")],
        ["team-3", "30", "30", "5.0", "41.2", TableCell(text="waited long", level="warning")],
    ]
    return TableItem(id="jobs-by-team", title="Jobs by team", columns=columns, rows=rows)


def commands() -> TextItem:
    lines = [
        "kwokctl measure --load gangs.yaml --seed 45 --report run.html",
        "kwokctl measure compare run.json other.json -o html",
    ]
    return TextItem(id="commands", title="Commands", lines=lines, copyable=True)


def interval(
    name: str, sides: tuple[str, str], ends: tuple[float, float, float], verdict: str, level: str
) -> IntervalRow:
    low, middle, high = ends
    return IntervalRow(
        name=name, a=sides[0], b=sides[1], low=low, middle=middle, high=high, verdict=verdict,
        level=level,  # type: ignore[arg-type]
    )  # fmt: skip
