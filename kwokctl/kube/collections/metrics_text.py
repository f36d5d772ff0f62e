"""Reads chosen metrics from text in Prometheus' format while it comes: an API server's has megabytes.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format describes the format.
"""

import re
from collections.abc import Mapping, Sequence
from math import isfinite, nan

import msgspec

from kwokctl.kube.transport.stream import Lines

_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_BUCKET = "_bucket"
BOUND = "le"
"""The label with the upper bound of a class of a histogram."""

MetricValue = float | tuple[float, ...]
"""The value of a series; of a histogram the numbers of values up to each bound."""
Labels = Mapping[str, str]


class WantedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric that is read."""

    name: str
    keeps: tuple[str, ...] = ()
    """The labels that tell its series apart; those that differ in others are added up."""
    where: tuple[tuple[str, str], ...] = ()
    """The labels that a series must have."""
    is_histogram: bool = False

    @property
    def series_name(self) -> str:
        """The name of its samples in the text."""
        return f"{self.name}{_BUCKET}" if self.is_histogram else self.name


class MetricsReader:
    """Takes text in pieces, and keeps the values of the wanted metrics."""

    def __init__(self, wanted: Sequence[WantedMetric]) -> None:
        self._lines = Lines()
        self._sums = [(each, dict[tuple[str, ...], float]()) for each in wanted]
        names = {each.series_name for each in wanted}
        self._starts = tuple(f"{name}{end}".encode() for name in names for end in "{ ")

    def feed(self, piece: bytes) -> None:
        """Read a piece of the text; ValueError for a value that is no number."""
        starts = self._starts
        for line in self._lines.feed(piece):
            if line.startswith(starts):
                self._take(line.decode("utf-8", "replace"))

    def values(self) -> dict[str, MetricValue]:
        """Return what was found, by the texts of series, such as `up{job="x"}`.

        The text of a histogram has all its bounds: `took{le="0.1,1,+Inf"}`.
        """
        found: dict[str, MetricValue] = {}
        for wanted, sums in self._sums:
            found |= _histograms(wanted, sums) if wanted.is_histogram else _plain(wanted, sums)
        return found

    def _take(self, line: str) -> None:
        head, _, rest = line.rpartition("}")
        name, _, inner = head.partition("{") if head else line.partition(" ")
        labels = _labels(inner) if head else {}
        words = (rest if head else inner).split()
        value = float(words[0]) if words else nan
        if not isfinite(value):
            return
        for wanted, sums in self._sums:
            if wanted.series_name == name and _has(labels, wanted.where):
                kept = (*wanted.keeps, BOUND) if wanted.is_histogram else wanted.keeps
                key = tuple(labels.get(label, "") for label in kept)
                sums[key] = sums.get(key, 0.0) + value


def read_metrics(text: bytes, wanted: Sequence[WantedMetric]) -> dict[str, MetricValue]:
    """Return the wanted metrics of a whole text."""
    reader = MetricsReader(wanted)
    reader.feed(text)
    return reader.values()


def series_text(name: str, labels: Labels) -> str:
    """Write the name and the labels of a series as Prometheus does."""
    if not labels:
        return name
    marks = ",".join(f'{label}="{_with_escapes(value)}"' for label, value in labels.items())
    return f"{name}{{{marks}}}"


def read_series(text: str) -> tuple[str, dict[str, str]]:
    """Return the name and the labels of a series."""
    name, _, inner = text.partition("{")
    return name, _labels(inner)


def _plain(wanted: WantedMetric, sums: Mapping[tuple[str, ...], float]) -> dict[str, MetricValue]:
    return {
        series_text(wanted.name, {**dict(wanted.where), **_without_empty(wanted.keeps, key)}): value
        for key, value in sums.items()
    }


def _histograms(
    wanted: WantedMetric, sums: Mapping[tuple[str, ...], float]
) -> dict[str, MetricValue]:
    groups: dict[tuple[str, ...], dict[str, float]] = {}
    for (*key, bound), value in sums.items():
        groups.setdefault(tuple(key), {})[bound] = value
    found: dict[str, MetricValue] = {}
    for group, counts in groups.items():
        bounds = sorted(counts, key=float)
        labels = {**dict(wanted.where), **_without_empty(wanted.keeps, group)}
        text = series_text(wanted.name, {**labels, BOUND: ",".join(bounds)})
        found[text] = tuple(counts[bound] for bound in bounds)
    return found


def _without_empty(names: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    """Return labels; an empty one is as good as none."""
    return {name: value for name, value in zip(names, values, strict=True) if value}


def _has(labels: Labels, where: tuple[tuple[str, str], ...]) -> bool:
    return all(labels.get(label) == value for label, value in where)


def _labels(text: str) -> dict[str, str]:
    return {label: _plain_text(value) for label, value in _LABEL.findall(text)}


def _plain_text(value: str) -> str:
    if "\\" not in value:
        return value
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], value)


def _with_escapes(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
