"""Figures of metrics that were asked for with `--metric`."""

import pytest

from kwokctl.measure.figures.figure_catalogue import FIGURES, figures_of, whole_run
from kwokctl.measure.figures.values import SingleNumber, Value
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.assertions import AssertionReader, judge
from kwokctl.measure.sampling.metric import Metric
from tests.support.measured import BEGIN, SECOND, header, history
from tests.support.sampled_plane import Sampled, missing


def asked(text: str, sampled: Sampled) -> Value:
    metric = Metric.read(text)
    found = History.of(header(metrics=(str(metric),)), [BEGIN, *sampled.lines])
    (wanted,) = (
        each for each in figures_of(found.header) if each.name == f"metrics.{metric.field}"
    )
    return wanted.value(whole_run(found))


_DEPTH = 'workqueue_depth{name="job"}'
_OTHER = 'workqueue_depth{name="node"}'


@pytest.mark.parametrize(
    ("statistic", "value"),
    [("rate", 2.5), ("delta", 5.0), ("max", 9.0)],
)
def test_a_metric_that_was_asked_for_is_a_figure(statistic: str, value: float) -> None:
    sampled = Sampled().values("c", 0, {_DEPTH: 2, _OTHER: 100})
    sampled.values("c", SECOND, {_DEPTH: 9}, is_whole=False)
    sampled.values("c", 2 * SECOND, {_DEPTH: 7, _OTHER: 900})

    found = asked(f"c:{_DEPTH} {statistic}", sampled)

    assert isinstance(found, SingleNumber)
    assert found.value == value
    assert isinstance(asked(f"{_DEPTH} {statistic}", sampled), SingleNumber)


def test_a_percentile_of_a_metric_is_the_bound_of_its_class() -> None:
    text = 'took_seconds{le="0.1,1,+Inf"}'
    before, after, above = (5.0, 5.0, 5.0), (95.0, 105.0, 105.0), (95.0, 95.0, 105.0)
    inside = Sampled().values("c", 0, {text: before}).values("c", 5, {text: after})
    outside = Sampled().values("c", 0, {text: before}).values("c", 5, {text: above})

    assert asked("c:took_seconds p99", inside) == SingleNumber(1.0, note="at most; of 100")
    assert missing(asked("c:took_seconds p99", outside)).startswith("it is above 1")
    assert missing(asked("c:took_seconds delta", inside)) == "c has no such metric: took_seconds"
    assert missing(asked("others p99", inside)) == "no component has a metric 'others'"


def test_a_histogram_that_nobody_has_at_the_beginning_is_found_at_the_end() -> None:
    text = 'took_seconds{le="0.1,1,+Inf"}'
    sampled = Sampled().values("a", 0, {"x": 1.0}).values("c", 0, {"x": 1.0})
    sampled.values("a", 5, {"x": 1.0}).values("c", 5, {"x": 1.0, text: (5.0, 5.0, 5.0)})

    assert asked("took_seconds p99", sampled) == SingleNumber(0.1, note="at most; of 5")


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("components.memory[component=etcd].max <= 1Ki", True),
        ("components.memory[component=etcd].max <= 1000", False),
        ("components.memory.max == 2024", True),
        ("clients.requests[client=kubectl] == 3", True),
        ("clients.conflicts[client=kubectl] == 0", True),
        ("clients.requests[client=nobody] == 0", False),
    ],
)
def test_parts_of_figures_can_be_asserted(text: str, *, passed: bool) -> None:
    sampled = Sampled().client(1, "kubectl", 200, 3)
    sampled.processes(0, etcd=(7, 0.0, 1024), kube_apiserver=(7, 0.0, 1000))
    reader = AssertionReader(FIGURES)

    (judged,) = judge([reader.read(text)], whole_run(history(sampled.lines)))

    assert judged.passed is passed
