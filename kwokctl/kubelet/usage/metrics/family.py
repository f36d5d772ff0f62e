"""One metric of a node: its series, ready to be read at any time."""

from collections.abc import Iterator, Sequence

from kwokctl.errors import ExpressionError
from kwokctl.kubelet.usage.metrics.sources import Source


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
