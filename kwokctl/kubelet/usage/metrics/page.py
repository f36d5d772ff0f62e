"""The page of a Metric document for one node, in the Prometheus text format, version 0.0.4.

Labels, and values that stay, are made once for the pods that a node has; a scrape reads the rest.
"""

from collections.abc import Iterator

from kwokctl.errors import ExpressionError
from kwokctl.kubelet.usage.expressions.language import UsageLanguage, number
from kwokctl.kubelet.usage.meters.node import NodeMeters
from kwokctl.kubelet.usage.metrics.family import HistogramRows, SeriesRows
from kwokctl.kubelet.usage.metrics.places import Labelled, SeriesPlaces
from kwokctl.kubelet.usage.metrics.schema import FamilyShape, MetricSpec
from kwokctl.kubelet.usage.metrics.sources import Reading


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
