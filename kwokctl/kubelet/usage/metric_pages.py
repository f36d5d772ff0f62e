"""The pages of Metric documents: finds the one for a path, and keeps those that are requested.

A page is the text of a Metric for one node, in the Prometheus text format, version 0.0.4. Labels, and values that stay,
are made once for the pods that a node has; a scrape reads the rest.
"""

from collections.abc import Iterable, Iterator, Sequence

from kwokctl import assets
from kwokctl.config.config_documents import Document
from kwokctl.errors import ExpressionError
from kwokctl.expr import yaml
from kwokctl.kubelet.documents.in_force import DocumentsInForce
from kwokctl.kubelet.usage.cel_expressions import UsageLanguage, number
from kwokctl.kubelet.usage.metric_documents import (
    METRIC,
    FamilyShape,
    MetricDocument,
    MetricSpec,
    by_path,
    read_metric,
    read_metrics,
)
from kwokctl.kubelet.usage.metric_series import Labelled, Reading, SeriesPlaces, Source
from kwokctl.kubelet.usage.node_meters import FleetMeters, NodeMeters


class SeriesRows:
    """The series of a counter or a gauge."""

    __slots__ = ("_fixed", "_labels", "_name", "_sources")

    def __init__(self, name: str, fixed: str) -> None:
        """Have no series yet but those whose values stay: `fixed` is their text."""
        self._name = name
        self._fixed = fixed
        self._labels: list[str] = []
        self._sources: list[Source] = []

    def add(self, labels: str, source: Source) -> None:
        """Add a series, with labels such as `{pod="a"}`."""
        self._labels.append(labels)
        self._sources.append(source)

    def lines(self, now: float, end: str) -> Iterator[str]:
        """Return the lines, as they are now; those whose expressions fail are left out."""
        yield self._fixed
        name, pairs = self._name, zip(self._labels, self._sources, strict=True)
        try:
            yield "".join([f"{name}{labels} {read(now)!r}{end}" for labels, read in pairs])
        except ExpressionError:
            yield from self._careful_lines(now, end)

    def _careful_lines(self, now: float, end: str) -> Iterator[str]:
        for labels, read in zip(self._labels, self._sources, strict=True):
            try:
                yield f"{self._name}{labels} {read(now)!r}{end}"
            except ExpressionError:
                continue


class HistogramRows:
    """The series of a histogram."""

    __slots__ = ("_bounds", "_name", "_rows")

    def __init__(self, name: str, bounds: Sequence[tuple[float, bool]]) -> None:
        """Have no series yet; `bounds` are those of the buckets, and whether each is shown."""
        self._name = name
        self._bounds = bounds
        self._rows: list[tuple[str, Sequence[Source]]] = []

    def add(self, labels: str, sources: Sequence[Source]) -> None:
        """Add a histogram, with a source for the number in each bucket alone."""
        self._rows.append((labels, sources))

    def lines(self, now: float, end: str) -> Iterator[str]:
        """Return the lines as they are now; a histogram is left out if a part of it fails."""
        for labels, sources in self._rows:
            try:
                counts = [max(int(read(now)), 0) for read in sources]
            except (ExpressionError, ValueError, OverflowError):
                continue
            yield from self._histogram(labels, counts, end)

    def _histogram(self, labels: str, counts: Sequence[int], end: str) -> Iterator[str]:
        name, before = self._name, f"{labels[:-1]}," if labels else "{"
        total, amount = 0, 0.0
        for (bound, is_shown), count in zip(self._bounds, counts, strict=True):
            total, amount = total + count, amount + bound * count
            if is_shown:
                yield f'{name}_bucket{before}le="{bound!r}"}} {total}{end}'
        yield f'{name}_bucket{before}le="+Inf"}} {total}{end}'
        yield f"{name}_sum{labels} {amount!r}{end}"
        yield f"{name}_count{labels} {total}{end}"


class MetricPage:
    """The text for one node, as long as it has the same pods."""

    def __init__(self, spec: MetricSpec, node: NodeMeters, language: UsageLanguage) -> None:
        self.meters = node
        self.version = node.version
        self._language = language
        self._is_timed = spec.timestamps
        places = SeriesPlaces(node, language)
        self._families = [(_head(s), self._rows(s, places.labelled(s))) for s in spec.metrics]

    def text(self, now: float) -> str:
        """Return the text at a time."""
        end = f" {now * 1000:.0f}\n" if self._is_timed else "\n"
        parts: list[str] = []
        for head, rows in self._families:
            if lines := "".join(rows.lines(now, end)):
                parts += (head, lines)
        return "".join(parts)

    def _rows(self, shape: FamilyShape, labelled: Labelled) -> SeriesRows | HistogramRows:
        if shape.kind == "histogram":
            return self._histogram(shape, labelled)
        program = self._language.compile(shape.value)
        if program.is_repeatable:
            return SeriesRows(shape.name, "".join(self._fixed(shape, labelled)))
        rows, reading = SeriesRows(shape.name, ""), Reading(program)
        for labels, place in labelled:
            rows.add(labels, reading.source(place))
        return rows

    def _fixed(self, shape: FamilyShape, labelled: Labelled) -> Iterator[str]:
        program = self._language.compile(shape.value)
        for labels, place in labelled:
            try:
                yield f"{shape.name}{labels} {number(program, *place.values)!r}\n"
            except ExpressionError as e:
                self._language.complain(f"metric '{shape.name}': {e}")

    def _histogram(self, shape: FamilyShape, labelled: Labelled) -> HistogramRows:
        buckets = sorted(shape.buckets, key=lambda bucket: bucket.le)
        rows = HistogramRows(shape.name, [(b.le, not b.hidden) for b in buckets])
        readings = [Reading(self._language.compile(bucket.value)) for bucket in buckets]
        for labels, place in labelled:
            rows.add(labels, [reading.source(place) for reading in readings])
        return rows


def _head(shape: FamilyShape) -> str:
    text_of = " ".join(shape.help.split()).replace("\\", r"\\")
    help_line = f"# HELP {shape.name} {text_of}\n" if text_of else ""
    return f"{help_line}# TYPE {shape.name} {shape.kind}\n"


_USUAL = "metrics/resource.yaml"
_RESOURCE = "/metrics/nodes/{nodeName}/metrics/resource"
"""The path of what metrics-server reads, which a kubelet has at `/metrics/resource`."""


def usual_metrics() -> Document:
    """Return the Metric that every node has, where metrics-server expects it."""
    body = yaml.load(assets.text(_USUAL))
    return Document(
        kind="Metric", api_version=body["apiVersion"], name=body["metadata"]["name"],
        body=body, source=_USUAL,
    )  # fmt: skip


class MetricPages:
    """The pages at the paths of Metric documents."""

    def __init__(self, documents: Iterable[Document], meters: FleetMeters) -> None:
        """Serve the pages of the documents; the last document counts for a path.

        Raises ConfigError that names file and field of what is wrong with one.
        """
        known = [each for each in documents if each.kind == METRIC]
        self._metrics = read_metrics(known)
        self._meters = meters
        self._pages: dict[tuple[str, str], MetricPage] = {}
        named = ((each.name, each) for each in known)
        self.in_force = DocumentsInForce(METRIC, named, read_metric, self._put)
        """Takes custom resources."""

    def _put(self, custom: Sequence[MetricDocument], files: Sequence[MetricDocument]) -> None:
        before, self._metrics = self._metrics, by_path([*files, *custom])
        same = {path for path, metric in self._metrics.items() if metric == before.get(path)}
        self._pages = {key: page for key, page in self._pages.items() if key[0] in same}

    def metrics(self) -> Iterable[MetricDocument]:
        """Return all documents."""
        return self._metrics.values()

    def at(self, path: str) -> str | None:
        """Return the text for a path, None if there is no such path or no such node."""
        found = ((metric, metric.node_in(path)) for metric in self._metrics.values())
        return next((self._text(metric, node) for metric, node in found if node), None)

    def resource(self, node: str) -> str | None:
        """Return what a node uses, None if there is no such node or no such metric."""
        if _RESOURCE not in self._metrics:
            return None
        return self._text(self._metrics[_RESOURCE], node)

    def _text(self, metric: MetricDocument, node: str) -> str | None:
        key = (metric.spec.path, node)
        meters = self._meters.node(node)
        if meters is None:
            self._pages.pop(key, None)
            return None
        page = self._pages.get(key)
        if page is None or page.meters is not meters or page.version != meters.version:
            page = MetricPage(metric.spec, meters, self._meters.language)
            self._pages[key] = page
        return page.text(self._meters.now())

    def forget(self, node: str) -> None:
        """Drop the pages of a node that is gone."""
        for metric in self._metrics:
            self._pages.pop((metric, node), None)
