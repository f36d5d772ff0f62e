"""Documents of pages, made up: every type of item, faults, and names as strangers choose them."""

import random
import zlib
from base64 import b64encode
from collections.abc import Sequence

from kwokctl.measure.pages.page_data import (
    AnyItem,
    BarMark,
    BarsItem,
    BarValues,
    FleetFrame,
    FleetGroup,
    FleetItem,
    FleetState,
    HeadlineFigure,
    IntervalRow,
    IntervalsItem,
    LinesItem,
    LineValues,
    PageBand,
    PageData,
    PageDownload,
    PageSection,
    PageVerdict,
    TableCell,
    TableColumn,
    TableItem,
    TextItem,
    WaterfallItem,
    WaterfallPhase,
    WaterfallRow,
)
from kwokctl.replacing import replace
from tests.support import sample_items

HOSTILE = "<script>alert(1)</script></script><img src=x onerror=alert(2)>\"' \u202egnp.exe"
"""A name that would run, end a script, end an attribute, or read backwards."""


def run_page(*, jobs: int = 120, racks: int = 24, rack: int = 32, frames: int = 90) -> PageData:
    """Return the page of a run with faults: each type of item but intervals."""
    chance = random.Random(45)
    return PageData(
        kind="run",
        title="train-fleet on 768 GPU nodes",
        subtitle="28 November 2026, 12 minutes, kwok 1.34.1",
        verdict=PageVerdict(
            level="warning",
            text="All 2,400 pods ran, but gangs waited 41 s at p99 while a rack was down.",
            notes=[
                "One of the 3 assertions does not hold: pods.created_to_bound.p99 < 30 s.",
                "The scheduler used 38 % of its share of the processor: it did not limit the run.",
            ],
        ),
        headline=[
            HeadlineFigure(name="Pods bound per second", value="412.6", unit="pods/s"),
            HeadlineFigure(name="Created to bound, p99", value="41.2", unit="s", level="warning"),
            HeadlineFigure(name="Gangs completed", value="118 of 120", level="bad"),
            HeadlineFigure(name="GPUs in use, mean", value="87.4", unit="%", level="good"),
        ],
        conditions=[
            ("Kubernetes", "v1.34.1"),
            ("Nodes", "768 in 24 racks"),
            ("Runtime", "binary"),
            ("Processor", "AMD EPYC 7763, 8 cores"),
            ("Load", "gangs.yaml, seed 45"),
            ("Memory", "32 GiB"),
        ],
        bands=sample_items.bands(),
        sections=[
            PageSection(
                id="jobs",
                title="Jobs and gangs",
                lead="When each Job was queued, started and ran.",
                items=[sample_items.waterfall(chance, jobs), sample_items.job_table()],
            ),
            PageSection(
                id="rates",
                title="Rates and queues",
                items=[sample_items.rates(chance), sample_items.queue(chance), sample_items.use(chance)],
            ),
            PageSection(
                id="latencies", title="Latencies", items=[sample_items.latency(chance), sample_items.latencies(chance)]
            ),
            PageSection(id="control-plane", title="Control plane", items=[sample_items.control_plane(chance)]),
            PageSection(
                id="fleet", title="Fleet", items=[sample_items.fleet(chance, racks, rack, frames)]
            ),
            PageSection(id="again", title="Run it again", items=[sample_items.commands()]),
        ],
    )  # fmt: skip


def comparison_page() -> PageData:
    """Return the page of a comparison: an item of intervals and a distribution of both sides."""
    rows = [
        sample_items.interval("Pods bound per second", ("398.1", "412.6"), (1.9, 3.6, 5.4), "better", "good"),
        sample_items.interval("Created to bound, p50", ("1.92 s", "1.88 s"), (-5.8, -2.1, 1.4), "no difference", "neutral"),
        sample_items.interval("Created to bound, p99", ("33.0 s", "41.2 s"), (11.2, 24.8, 39.9), "worse", "bad"),
        sample_items.interval("API server, processor time", ("81 s", "86 s"), (-1.2, 6.2, 14.0), "undecided", "warning"),
        IntervalRow(name="Gangs timed out", a="0", b="2", low=None, middle=None, high=None, verdict="not compared"),
    ]  # fmt: skip
    chance = random.Random(7)
    return PageData(
        kind="comparison",
        title="main against coscheduling-0.32",
        subtitle="5 runs each",
        verdict=PageVerdict(level="bad", text="B is worse: its p99 of binding is 24.8 % higher."),
        sections=[
            PageSection(
                id="differences",
                title="Differences",
                lead="Change from A to B, with intervals of 95 %.",
                items=[
                    IntervalsItem(id="intervals", title="Change from A to B", rows=rows),
                    sample_items.latencies(chance, ("A", "B")),
                ],
            )
        ],
    )


def hostile_page() -> PageData:
    """Return a page on which every text is hostile."""
    page = run_page(jobs=3, racks=2, rack=4, frames=2)
    lines = LinesItem(
        id="hostile-lines", title=HOSTILE, note=HOSTILE, unit=HOSTILE, start=0, step=1, count=2,
        series=[LineValues(name=HOSTILE, values=[1.0, 2.0])],
    )  # fmt: skip
    table = TableItem(
        id="hostile-table", title=HOSTILE, columns=[TableColumn(title=HOSTILE)],
        rows=[[HOSTILE], [TableCell(text=HOSTILE, level="bad")]],
    )  # fmt: skip
    rows = [WaterfallRow(name=HOSTILE, spans=[(0, 0.0, 1.0)])]
    jobs = WaterfallItem(
        id="hostile-jobs", title=HOSTILE, phases=[WaterfallPhase(name=HOSTILE)], rows=rows, end=2.0
    )
    nodes = FleetItem(
        id="hostile-nodes", title=HOSTILE, groups=[FleetGroup(name=HOSTILE, nodes=[HOSTILE])],
        states=[FleetState(name=HOSTILE, level="bad", code="<")], start=0, step=1, count=1,
        frames=[FleetFrame(changes=[(0, "<")])],
    )  # fmt: skip
    text = TextItem(id="hostile-text", title=HOSTILE, lines=[HOSTILE], copyable=True)
    interval = sample_items.interval(HOSTILE, (HOSTILE, HOSTILE), (-1.0, 0.0, 1.0), HOSTILE, "bad")
    intervals = IntervalsItem(id="hostile-intervals", title=HOSTILE, rows=[interval], unit=HOSTILE)
    bars = BarsItem(
        id="hostile-bars", title=HOSTILE, unit=HOSTILE, edges=[0, 1, 2],
        series=[BarValues(name=HOSTILE, values=[1, 2])], marks=[BarMark(name=HOSTILE, at=1.5)],
    )  # fmt: skip
    items: Sequence[AnyItem] = [lines, table, jobs, nodes, text, intervals, bars]
    return PageData(
        kind="run", title=HOSTILE, subtitle=HOSTILE,
        verdict=PageVerdict(level="bad", text=HOSTILE, notes=[HOSTILE]),
        headline=[HeadlineFigure(name=HOSTILE, value=HOSTILE, unit=HOSTILE)],
        conditions=[(HOSTILE, HOSTILE)], bands=[PageBand(name=HOSTILE, start=0, end=1)],
        sections=[PageSection(id="all", title=HOSTILE, lead=HOSTILE, items=items), *page.sections],
    )  # fmt: skip


def with_download(page: PageData, name: str, content: bytes) -> PageData:
    """Return the page with a file in it."""
    data = b64encode(zlib.compress(content)).decode()
    file = PageDownload(name=name, title="Every pod", size=len(content), data=data)
    return replace(page, downloads=[file])


def live_page(racks: int = 313, rack: int = 32) -> PageData:
    """Return a live page of 10,000 nodes."""
    chance = random.Random(3)
    return PageData(
        kind="live",
        title="cluster kwok",
        verdict=PageVerdict(level="good", text="All nodes are ready."),
        headline=[HeadlineFigure(name="Pods waiting", value="0")],
        sections=[
            PageSection(id="now", title="Now", items=[sample_items.fleet(chance, racks, rack, 1), sample_items.rates(chance), sample_items.queue(chance)]),
        ],
    )  # fmt: skip
