"""Figures of the API server, of etcd and of the scheduler, from what they count themselves."""

from collections.abc import Callable, Iterable
from functools import partial

from kwokctl.kube.collections.metrics_text import BOUND, Labels
from kwokctl.measure.figures.bounds import Classes, bound_of, bounds, classes_of
from kwokctl.measure.figures.figure import METRICS, Figure, RunView
from kwokctl.measure.figures.parts import levels_of_parts
from kwokctl.measure.figures.values import Missing, SingleNumber, Value
from kwokctl.measure.histories.plane_history import SeriesChange
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.sampling.sampled_metrics import (
    ATTEMPTS,
    COMMIT,
    ENDED_WATCHES,
    FSYNC,
    HELD_BACK,
    IN_USE,
    LATENCIES,
    PENDING,
    REQUESTS,
    SEATS,
    SIZE,
)
from kwokctl.model import ETCD, KUBE_APISERVER, KUBE_SCHEDULER
from kwokctl.replacing import replace

_MUTATING = ("POST", "PUT", "PATCH", "APPLY", "DELETE")
_QUICK, _SLOW = 1.0, 30.0
"""Seconds in which 99 % of requests are answered: those for a single object, and lists
(https://github.com/kubernetes/community/blob/master/sig-scalability/slos/slos.md)."""
_BOUND, _REFUSED = "201", 400
_Chosen = Callable[[Labels], bool]


def request_of(labels: Labels) -> str:
    """Return what was asked for: `POST pods/binding`."""
    names = filter(None, (labels.get("resource"), labels.get("subresource")))
    return f"{labels.get('verb', '')} {'/'.join(names)}".strip()


def _sums(changes: Iterable[SeriesChange], name: Callable[[Labels], str]) -> dict[str, int]:
    """Return counts by name, the largest first."""
    sums: dict[str, float] = {}
    for each in changes:
        if each.number:
            key = name(each.labels)
            sums[key] = sums.get(key, 0.0) + each.number
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return {key: round(count) for key, count in ordered}


def _number(component: str, metric: str, label: str, view: RunView) -> Value:
    changes = view.history.plane.changes(component, metric)
    return SingleNumber(
        round(sum(each.number for each in changes)),
        detail=_sums(changes, lambda labels: labels.get(label, "")),
    )


def _requests(view: RunView) -> Value:
    changes = view.history.plane.changes(KUBE_APISERVER, REQUESTS)
    return SingleNumber(
        round(sum(each.number for each in changes)), detail=_sums(changes, request_of)
    )


def _refusals(view: RunView) -> Value:
    changes = view.history.plane.changes(KUBE_APISERVER, REQUESTS)
    refused = [each for each in changes if int(each.labels.get("code", "0")) >= _REFUSED]
    return SingleNumber(
        round(sum(each.number for each in refused)),
        detail=_sums(refused, lambda labels: labels["code"]),
    )


def _bindings(view: RunView) -> dict[str, int]:
    """Return how often pods were bound, by the code of the answer."""
    return _sums(
        (
            each
            for each in view.history.plane.changes(KUBE_APISERVER, REQUESTS)
            if request_of(each.labels) == "POST pods/binding"
        ),
        lambda labels: labels.get("code", ""),
    )


def _bound(view: RunView) -> Value:
    codes = _bindings(view)
    return SingleNumber(codes.get(_BOUND, 0), detail=codes)


def _binding_rate(view: RunView) -> Value:
    first, *_, last = view.history.plane.whole(KUBE_APISERVER)
    return SingleNumber(_bindings(view).get(_BOUND, 0) * SECOND / (last.time - first.time))


def _is_mutating(labels: Labels) -> bool:
    return labels.get("verb") in _MUTATING


def _is_read(labels: Labels) -> bool:
    return labels.get("verb") == "GET" and labels.get("scope") == "resource"


def _is_list(labels: Labels) -> bool:
    return labels.get("verb") == "LIST"


def _classes(view: RunView, component: str, metric: str, chosen: _Chosen) -> dict[str, Classes]:
    """Return the classes of a histogram, by request."""
    found: dict[str, Classes] = {}
    for each in view.history.plane.changes(component, metric):
        if not chosen(each.labels) or not isinstance(each.value, tuple):
            continue
        name, (limits, counts) = request_of(each.labels), classes_of(each.labels[BOUND], each.value)
        before = found.get(name, (limits, (0.0,) * len(counts)))[1]
        found[name] = (limits, tuple(map(sum, zip(before, counts, strict=True))))
    return found


def _latencies(chosen: _Chosen, view: RunView) -> Value:
    if why := _without_objective(view):
        return Missing(why)
    return bounds(
        _classes(view, KUBE_APISERVER, LATENCIES, chosen), what="there was no such request"
    )


def _without_objective(view: RunView) -> str:
    plane = view.history.plane
    if not plane.changes(KUBE_APISERVER, LATENCIES):
        return f"this API server has no '{LATENCIES}', which came with Kubernetes 1.26"
    return ""


def _misses(view: RunView) -> Value:
    """Count the kinds of requests whose p99 is above the objective."""
    if why := _without_objective(view):
        return Missing(why)
    missed: dict[str, int] = {}
    for chosen, limit in ((_is_mutating, _QUICK), (_is_read, _QUICK), (_is_list, _SLOW)):
        for name, classes in _classes(view, KUBE_APISERVER, LATENCIES, chosen).items():
            if classes[1][-1] and bound_of(classes, 99) > limit:
                missed[name] = round(classes[1][-1])
    return SingleNumber(len(missed), detail=missed)


def _held_back(view: RunView) -> Value:
    if not any(True for _ in view.history.plane.gauges(KUBE_APISERVER, SEATS)):
        return Missing("flow control is off in this cluster")
    return _number(KUBE_APISERVER, HELD_BACK, "reason", view)


def _waits(metric: str, view: RunView) -> Value:
    return bounds(_classes(view, ETCD, metric, lambda _: True), what="etcd wrote nothing")


def _level(component: str, metric: str, label: str, view: RunView) -> Value:
    series = view.history.plane.gauges(component, metric)
    parts = {labels.get(label, ""): values for labels, values in series}
    return levels_of_parts(parts, view.history.begin, view.history.end)


def _figure(component: str, name: str, title: str, compute: Callable[[RunView], Value]) -> Figure:
    return Figure(name=name, unit="", title=title, compute=compute, needs=f"{METRICS}{component}")


def _counter(component: str, metric: str, label: str, name: str, title: str) -> Figure:
    figure = _figure(component, name, title, partial(_number, component, metric, label))
    return replace(figure, parts=label)


def _latency(name: str, title: str, chosen: _Chosen) -> Figure:
    figure = _figure(KUBE_APISERVER, f"api.{name}", title, partial(_latencies, chosen))
    return replace(figure, unit="s", form="bounds", parts="request")


def _wait(name: str, title: str, metric: str) -> Figure:
    return replace(
        _figure(ETCD, f"etcd.{name}", title, partial(_waits, metric)), unit="s", form="bounds"
    )


def _size(name: str, title: str, metric: str) -> Figure:
    figure = _figure(ETCD, f"etcd.{name}", title, partial(_level, ETCD, metric, ""))
    return replace(figure, unit="B", form="levels", better="less")


FIGURES = (
    replace(_figure(KUBE_APISERVER, "api.requests", "requests that the API server has answered", _requests), parts="request"),
    replace(_figure(KUBE_APISERVER, "api.refusals", "those that it has answered with an error, by code", _refusals), parts="code"),
    replace(_figure(KUBE_APISERVER, "api.bindings", "pods that were bound through the API, and attempts by code", _bound), parts="code"),
    replace(_figure(KUBE_APISERVER, "api.binding_rate", "pods that were bound a second, on average", _binding_rate), unit="/s", better="more"),
    _latency("mutating", "latency of writes of single objects, at most (objective: p99 of 1 s)", _is_mutating),
    _latency("reads", "latency of reads of single objects, at most (objective: p99 of 1 s)", _is_read),
    _latency("lists", "latency of lists, at most (objective: p99 of 30 s)", _is_list),
    replace(_figure(KUBE_APISERVER, "api.missed_objectives", "kinds of requests whose p99 was above the objective", _misses), parts="request", better="less"),
    _counter(KUBE_APISERVER, ENDED_WATCHES, "resource", "api.ended_watches",
             "watches that the API server has ended because their clients were too slow"),
    replace(_figure(KUBE_APISERVER, "api.held_back", "requests that flow control has refused", _held_back), parts="reason", better="less"),
    _size("size", "size of etcd's file", SIZE),
    _size("in_use", "size of what etcd's file holds", IN_USE),
    _wait("fsync", "time until etcd's log was on the disk, at most", FSYNC),
    _wait("commit", "time until etcd's file was written, at most", COMMIT),
    _counter(KUBE_SCHEDULER, ATTEMPTS, "result", "scheduler.attempts", "attempts to place a pod, by result"),
    replace(_figure(KUBE_SCHEDULER, "scheduler.pending", "pods in the scheduler's queues",
                    partial(_level, KUBE_SCHEDULER, PENDING, "queue")), form="levels", parts="queue"),
)  # fmt: skip
