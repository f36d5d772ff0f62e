"""Histories of a control plane whose samples are written by hand, or were taken of real components."""

from pathlib import Path

from kwokctl.kube.collections.metrics_text import MetricValue, read_metrics
from kwokctl.measure.figures.values import Missing, Value
from kwokctl.measure.record.plane_lines import ClientCount, MetricsSample, ProcessSample
from kwokctl.measure.record.record_lines import Lines, RecordText
from kwokctl.measure.sampling.sampled_metrics import SAMPLED
from kwokctl.model import ComponentName
from tests.support.measured import SECOND

TEXTS = Path(__file__).parents[1] / "golden/metrics"
EARLIER = -100 * SECOND


class Sampled:
    """Lines about components, with the texts that they need."""

    def __init__(self) -> None:
        self.lines: list[Lines] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = 100 + len(self._numbers)
            self.lines.append(RecordText(self._numbers[text], text))
        return self._numbers[text]

    def values(
        self,
        component: str,
        time: int,
        values: dict[str, MetricValue],
        *,
        start: int = EARLIER,
        is_whole: bool = True,
    ) -> "Sampled":
        series = tuple(map(self.number, values))
        named, found = self.number(component), tuple(values.values())
        self.lines.append(MetricsSample(time, named, start, is_whole, series, found))
        return self

    def text(self, component: str, time: int, when: str, *, start: int = EARLIER) -> "Sampled":
        text = (TEXTS / f"{component}-{when}.txt").read_bytes()
        values = read_metrics(text, SAMPLED[ComponentName(component)])
        return self.values(component, time, values, start=start)

    def processes(self, time: int, **rows: tuple[int, float, int]) -> "Sampled":
        """Note the start, the CPU time and the memory of components."""
        names = tuple(self.number(name.replace("_", "-")) for name in rows)
        starts, cpu, memory = zip(*rows.values(), strict=True)
        self.lines.append(ProcessSample(time, names, starts, cpu, memory))
        return self

    def client(self, time: int, client: str, code: int, count: int) -> "Sampled":
        self.lines.append(ClientCount(time, self.number(client), code, count))
        return self


def missing(value: Value) -> str:
    assert isinstance(value, Missing), value
    return value.why
