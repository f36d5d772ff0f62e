"""The control plane in a record: metrics, processes, and requests by client."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from kwokctl.kube.collections.metrics_text import Labels, MetricValue, read_series
from kwokctl.measure.record.plane_lines import ClientCount, MetricsSample, ProcessSample

RESTARTED, ENDED = "was started again", "ended"
WHY_ENDED = "why it ended: "
"""Before the name of a component, the moment of a run that says why."""
PROFILES = "profiles"
"""The moment that says which CPU profiles were kept."""


class ComponentSample(msgspec.Struct, gc=False, frozen=True):
    """The metrics of a component at one time."""

    time: int
    start: int
    """The time at which its process began."""
    is_whole: bool
    values: Mapping[str, MetricValue]
    """By the texts of series."""


class Spent(msgspec.Struct, gc=False, frozen=True):
    """The CPU time and the memory of a component at one time."""

    time: int
    process: int
    """A number that no other process has."""
    cpu: float
    memory: int


class SeriesChange(msgspec.Struct, frozen=True):
    """The difference of a counter or a histogram between the end of a record and its beginning."""

    labels: Labels
    value: MetricValue

    @property
    def number(self) -> float:
        """The count; of a histogram the number of all its values."""
        return self.value if isinstance(self.value, float | int) else self.value[-1]


class PlaneHistory:
    """The samples of a record."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        """Look up the numbers of texts in `texts`."""
        self._texts = texts
        self.samples: dict[str, list[ComponentSample]] = {}
        """By component, in the order of their times."""
        self.spent: dict[str, list[Spent]] = {}
        self.stopped: dict[str, int] = {}
        """Of each component that a signal has stopped: for how many nanoseconds, to a sample."""
        self.last_spent = 0
        """The time at which processes were looked at last."""
        self.requests: dict[str, dict[int, int]] = {}
        """By client and status."""
        self.takers: dict[type, Callable[[Any], None]] = {
            MetricsSample: self._metrics,
            ProcessSample: self._processes,
            ClientCount: self._clients,
        }

    def changes(self, component: str, metric: str) -> list[SeriesChange]:
        """Return how much each series of a counter or a histogram has counted between two whole samples.

        A process that was started meanwhile counts from 0. What its predecessor counted after it was sampled last
        is lost.
        """
        whole = self.whole(component)
        found: dict[str, MetricValue] = {}
        for start in dict.fromkeys(sample.start for sample in whole):
            own = [sample for sample in whole if sample.start == start]
            before = _of(own[0], metric) if own[0] is whole[0] else {}
            for text, value in _of(own[-1], metric).items():
                counted = _minus(value, before[text]) if text in before else value
                found[text] = _plus(counted, found[text]) if text in found else counted
        return [SeriesChange(_labels(text), value) for text, value in found.items()]

    def whole(self, component: str) -> list[ComponentSample]:
        """Return the samples of a component that have all metrics of the record."""
        return [each for each in self.samples.get(component, ()) if each.is_whole]

    def has(self, component: str, metric: str) -> bool:
        """Return whether a component has shown a metric at any time of the run."""
        return any(_of(sample, metric) for sample in self.samples.get(component, ()))

    def gauges(
        self, component: str, metric: str
    ) -> Iterator[tuple[Labels, list[tuple[int, float]]]]:
        """Yield the labels of each series of a metric, and its values with their times."""
        found: dict[str, list[tuple[int, float]]] = {}
        for sample in self.samples.get(component, ()):
            for text, value in _of(sample, metric).items():
                if not isinstance(value, tuple):
                    found.setdefault(text, []).append((sample.time, value))
        for text, values in found.items():
            yield _labels(text), values

    def interrupted(self) -> dict[str, str]:
        """Return which components did not run all the time, each with `RESTARTED` or `ENDED`."""
        found: dict[str, str] = {}
        for name, spent in self.spent.items():
            if spent[-1].time < self.last_spent:
                found[name] = ENDED
            elif len({each.process for each in spent}) > 1:
                found[name] = RESTARTED
        for name, samples in self.samples.items():
            if any(sample.start > samples[0].time for sample in samples):
                found.setdefault(name, RESTARTED)
        return found

    def has_several(self, component: str) -> bool:
        """Return whether samples of a component came from processes that ran beside each other."""
        samples = self.samples.get(component, [])
        return len({each.start for each in samples if each.start <= samples[0].time}) > 1

    def _metrics(self, line: MetricsSample) -> None:
        texts = map(self._texts.__getitem__, line.series)
        values = dict(zip(texts, line.values, strict=True))
        sample = ComponentSample(line.time, line.start, line.is_whole, values)
        self.samples.setdefault(self._texts[line.component], []).append(sample)

    def _processes(self, line: ProcessSample) -> None:
        for number in line.stopped:
            name = self._texts[number]
            self.stopped[name] = self.stopped.get(name, 0) + line.time - self.last_spent
        self.last_spent = line.time
        rows = zip(line.components, line.processes, line.cpu, line.memory, strict=True)
        for number, process, cpu, memory in rows:
            spent = Spent(line.time, process, cpu, memory)
            self.spent.setdefault(self._texts[number], []).append(spent)

    def _clients(self, line: ClientCount) -> None:
        codes = self.requests.setdefault(self._texts[line.client], {})
        codes[line.code] = codes.get(line.code, 0) + line.count


def _of(sample: ComponentSample, metric: str) -> dict[str, MetricValue]:
    """Return the series of one metric."""
    start = f"{metric}{{"
    return {
        text: value
        for text, value in sample.values.items()
        if text == metric or text.startswith(start)
    }


def _labels(text: str) -> Labels:
    return read_series(text)[1]


def _minus(value: MetricValue, before: MetricValue) -> MetricValue:
    if isinstance(value, tuple) and isinstance(before, tuple):
        return tuple(now - then for now, then in zip(value, before, strict=True))
    assert not isinstance(value, tuple)
    assert not isinstance(before, tuple)
    return value - before


def _plus(value: MetricValue, other: MetricValue) -> MetricValue:
    if isinstance(value, tuple) and isinstance(other, tuple):
        return tuple(one + another for one, another in zip(value, other, strict=True))
    assert not isinstance(value, tuple)
    assert not isinstance(other, tuple)
    return value + other
