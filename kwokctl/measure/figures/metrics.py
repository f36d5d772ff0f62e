"""Figures of any metric of a component: those that were asked for with `--metric`."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from kwokctl.kube.collections.metrics_text import BOUND, Labels
from kwokctl.measure.figures.bounds import bound_of, classes_of
from kwokctl.measure.figures.figure import METRICS, Figure, RunView, missing
from kwokctl.measure.figures.values import Missing, SingleNumber, Value
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.sampling.metric import Metric

_SECONDS = "_seconds"
_UNITS = {"rate": "/s", "delta": "", "max": ""}


def figures_of_metrics(texts: Iterable[str]) -> Sequence[Figure]:
    """Return a figure for each metric, in their order."""
    return tuple(map(_figure, map(Metric.read, texts)))


def _figure(metric: Metric) -> Figure:
    in_seconds = "s" if metric.name.endswith(_SECONDS) else ""
    return Figure(
        name=f"metrics.{metric.field}",
        unit=_UNITS.get(metric.statistic, in_seconds),
        title=str(metric),
        compute=partial(_value, metric),
    )


def _value(metric: Metric, view: RunView) -> Value:
    """Return the value of a metric; of one that came into being meanwhile the component is found now."""
    plane = view.history.plane
    component = metric.component or next(
        (name for name in plane.samples if plane.has(name, metric.name)), ""
    )
    if not component:
        return Missing(f"no component has a metric '{metric.name}'")
    if why := missing(view, f"{METRICS}{component}"):
        return Missing(why)
    return (
        _max(metric, component, view)
        if metric.statistic == "max"
        else _counted(metric, component, view)
    )


def _max(metric: Metric, component: str, view: RunView) -> Value:
    series = view.history.plane.gauges(component, metric.name)
    values = [value for labels, each in series if _is_of(metric, labels) for _, value in each]
    if not values:
        return _unseen(metric, component)
    return SingleNumber(max(values), note=f"of {len(values):,} samples")


def _counted(metric: Metric, component: str, view: RunView) -> Value:
    plane = view.history.plane
    changes = plane.changes(component, metric.name)
    own = [each for each in changes if _is_of(metric, each.labels)]
    if not own:
        return _unseen(metric, component)
    change = own[0]
    if isinstance(change.value, tuple):
        return _p99(change.labels, change.value)
    if metric.statistic == "rate":
        first, *_, last = plane.whole(component)
        return SingleNumber(change.value * SECOND / (last.time - first.time))
    return SingleNumber(change.value)


def _p99(labels: Mapping[str, str], counts: tuple[float, ...]) -> Value:
    limits, numbers = classes = classes_of(labels[BOUND], counts)
    if not numbers[-1]:
        return Missing("it has counted nothing")
    bound = bound_of(classes, 99)
    if bound > limits[-2]:
        return Missing(f"it is above {limits[-2]:g}, the largest class of the metric")
    return SingleNumber(bound, note=f"at most; of {numbers[-1]:,.0f}")


def _is_of(metric: Metric, labels: Labels) -> bool:
    """Return whether a series is the one that was read for this metric."""
    own = {label: value for label, value in labels.items() if label != BOUND}
    return own == dict(metric.labels) and (BOUND in labels) is (metric.statistic == "p99")


def _unseen(metric: Metric, component: str) -> Missing:
    what = "histogram" if metric.statistic == "p99" else "metric"
    return Missing(f"{component} has no such {what}: {metric.name}")
