"""The document that a page shows: sections of generic items, which the front end draws as it finds them.

The front end in `templates/report` knows these types and nothing of Kubernetes; what is shown is decided in
Python. Times are seconds since the run began. Names in it are those of users and strangers: `join.py` makes
them harmless, and the front end sets them as text only. Pure.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

VERSION = 1

PageKind = Literal["run", "repeated", "comparison", "live"]
PageLevel = Literal["good", "warning", "bad", "neutral"]
"""The judgement that a colour and a word stand for."""


class PageVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict: the first thing on the page."""

    level: PageLevel = "neutral"
    text: str
    notes: Sequence[str] = ()


class HeadlineFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that people quote, in large digits."""

    name: str
    value: str
    unit: str = ""
    level: PageLevel = "neutral"


class PageBand(msgspec.Struct, frozen=True, kw_only=True):
    """A time that is marked in all charts over time, such as that of a fault."""

    name: str
    start: float
    end: float | None = None
    """None if it goes on."""
    level: PageLevel = "bad"


class TableColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A column of a table."""

    title: str
    align: Literal["left", "right"] = "left"


class TableCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell with a judgement."""

    text: str
    level: PageLevel = "neutral"


class PageItem(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A part of a section. Its `id` is unique in the page: small letters, digits and hyphens."""

    id: str
    title: str
    note: str = ""


class TableItem(PageItem, frozen=True, kw_only=True, tag="table"):
    """A table."""

    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[str | TableCell]]


class LineValues(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a chart: a value for each bin, None where there is none."""

    name: str
    values: Sequence[float | None]


class LinesItem(PageItem, frozen=True, kw_only=True, tag="lines"):
    """Values over time, in bins of equal length: bin i is from `start + i * step` to `start + (i + 1) * step`."""

    unit: str
    start: float
    step: float
    count: int
    """The number of bins, at most `MOST_BINS`."""
    series: Sequence[LineValues]
    stacked: bool = False


class BarValues(msgspec.Struct, frozen=True, kw_only=True):
    """A number for each class of a distribution."""

    name: str
    values: Sequence[float]


class BarMark(msgspec.Struct, frozen=True, kw_only=True):
    """A value that is marked in a distribution, such as its p99."""

    name: str
    at: float


class BarsItem(PageItem, frozen=True, kw_only=True, tag="bars"):
    """A distribution: n numbers between n + 1 edges."""

    unit: str
    edges: Sequence[float]
    series: Sequence[BarValues]
    marks: Sequence[BarMark] = ()


class WaterfallPhase(msgspec.Struct, frozen=True, kw_only=True):
    """A phase that rows of a waterfall can be in."""

    name: str
    level: PageLevel = "neutral"


class WaterfallRow(msgspec.Struct, frozen=True, kw_only=True):
    """One Job or gang, or a group of them: the number of a phase, its start, and its end or None."""

    name: str
    spans: Sequence[tuple[int, float, float | None]]


class WaterfallItem(PageItem, frozen=True, kw_only=True, tag="waterfall"):
    """Rows over time, each with its phases one after the other."""

    phases: Sequence[WaterfallPhase]
    rows: Sequence[WaterfallRow]
    aggregated: bool = False
    """Whether a row is a group of them."""
    end: float
    """The time to which open phases are drawn."""


class FleetGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes of a rack or a zone."""

    name: str
    nodes: Sequence[str]


class FleetState(msgspec.Struct, frozen=True, kw_only=True):
    """A state of nodes, and the character that stands for it in frames."""

    name: str
    level: PageLevel = "neutral"
    code: str


class FleetFrame(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes that have changed since the frame before, each with its new state; the first frame has all."""

    changes: Sequence[tuple[int, str]]


class FleetItem(PageItem, frozen=True, kw_only=True, tag="fleet"):
    """A cell for each node, over time. Nodes are numbered through the groups in order."""

    groups: Sequence[FleetGroup]
    states: Sequence[FleetState]
    start: float
    step: float
    count: int
    frames: Sequence[FleetFrame]


class IntervalRow(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of two sides, and the interval of their difference."""

    name: str
    a: str
    b: str
    low: float | None
    middle: float | None
    high: float | None
    """None if there is no interval."""
    verdict: str
    level: PageLevel = "neutral"


class IntervalsItem(PageItem, frozen=True, kw_only=True, tag="intervals"):
    """Differences with their intervals."""

    rows: Sequence[IntervalRow]
    unit: str = "%"


class TextItem(PageItem, frozen=True, kw_only=True, tag="text"):
    """Lines in letters of equal width, such as commands."""

    lines: Sequence[str]
    copyable: bool = False


AnyItem = (
    TableItem | LinesItem | BarsItem | WaterfallItem | FleetItem | IntervalsItem | TextItem
)  # fmt: skip


class PageSection(msgspec.Struct, frozen=True, kw_only=True):
    """Items below a heading."""

    id: str
    title: str
    lead: str = ""
    items: Sequence[AnyItem] = ()


class PageDownload(msgspec.Struct, frozen=True, kw_only=True):
    """A file inside the page, which the page offers."""

    name: str
    """Of the file, such as `pods.csv`."""
    title: str
    media: str = "text/csv"
    size: int
    """Its bytes."""
    data: str
    """Its bytes, compressed by zlib (the browser's `DecompressionStream("deflate")`), in base64."""


class PageData(msgspec.Struct, frozen=True, kw_only=True):
    """All that a page shows."""

    version: int = VERSION
    kind: PageKind
    title: str
    subtitle: str = ""
    verdict: PageVerdict
    headline: Sequence[HeadlineFigure] = ()
    conditions: Sequence[tuple[str, str]] = ()
    sections: Sequence[PageSection] = ()
    bands: Sequence[PageBand] = ()
    downloads: Sequence[PageDownload] = ()
