"""Figures of the fleet: what was requested of it, what was left, its nodes, and what happened to pods against their will."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import msgspec

from kwokctl.measure.figures.figure import Figure, RunView, missing
from kwokctl.measure.figures.fleet_replay import DeviceRoom
from kwokctl.measure.figures.gangs import gangs_in
from kwokctl.measure.figures.levels import after_steps, levels
from kwokctl.measure.figures.values import (
    Levels,
    Missing,
    SingleNumber,
    Value,
    distribution_of,
)
from kwokctl.measure.histories.fleet_history import NodeHistory, NodeMoment

_REQUESTED, _FRAGMENTATION, _LARGEST = (
    "fleet.requested.",
    "fleet.fragmentation.",
    "fleet.largest_gang.",
)
_SPREAD = "fleet.spread."
_PREEMPTED = ("PreemptionByScheduler", "Preempting")
"""The reasons of pods that make room for others: for the scheduler, or for a kubelet."""
_EVICTED = (
    "DeletionByTaintManager", "EvictionByEvictionAPI", "DeletionByPodGC", "TerminationByKubelet",
    "DeletionByDeviceTaintManager", "Evicted",
)  # fmt: skip
_BY_STATE = ("not-ready", "unreachable", "unschedulable")
"""The taints, of `node.kubernetes.io`, that say again that a node is not Ready or is cordoned."""
_HARD = (":NoSchedule", ":NoExecute")


def _nodes(holds: Callable[[NodeMoment], bool], view: RunView) -> Value:
    history = view.history
    steps = (step for node in history.fleet.nodes.values() for step in _steps(node, holds))
    return levels(after_steps(steps), history.begin, history.end)


def _steps(node: NodeHistory, holds: Callable[[NodeMoment], bool]) -> Iterator[tuple[int, float]]:
    """Yield when a node begins to count, and when it counts no longer."""
    before = False
    for state in node.states:
        now = holds(state)
        if now != before:
            yield state.time, 1 if now else -1
        before = now
    if node.gone is not None and before:
        yield node.gone, -1


def is_tainted(state: NodeMoment) -> bool:
    """Return whether a node has taints that keep pods away, beside those that say that it is not Ready or cordoned."""
    return any(
        taint.endswith(_HARD)
        and not taint.startswith(tuple(f"node.kubernetes.io/{name}:" for name in _BY_STATE))
        for taint in state.taints.split(",")
    )


def _requested(resource: str, view: RunView) -> Value:
    if why := missing(view, "requests"):
        return Missing(why)
    meter = view.fleet.shares.get(resource)
    return meter.value(f"no node has '{resource}'") if meter else _without(resource)


def _without(device: str) -> Missing:
    return Missing(f"no node has '{device}'")


def _fragmentation(device: str, view: RunView) -> Value:
    room = _room(device, view)
    return room if isinstance(room, Missing) else room.fragmentation.value()


def _largest_gang(device: str, view: RunView) -> Value:
    room = _room(device, view)
    if isinstance(room, Missing):
        return room
    found = room.most.value()
    if not isinstance(found, Levels):
        return found
    detail: dict[str, int] = {}
    for size, last, least in zip(room.sizes, room.fit, room.least, strict=True):
        detail |= {f"pods of {size} at the end": last, f"pods of {size} at worst": least}
    size = room.sizes[room.largest]
    return msgspec.structs.replace(found, detail=detail, note=f"pods of {size}")


def _room(device: str, view: RunView) -> DeviceRoom | Missing:
    if why := missing(view, "requests"):
        return Missing(why)
    fleet = view.fleet
    if device not in fleet.shares:
        return _without(device)
    return fleet.rooms.get(device) or Missing(f"no pod of the run requests '{device}'")


def _endings(counts: Callable[[str], bool], view: RunView) -> Value:
    """Return how many pods were to end before their time, by reasons."""
    texts = view.history.texts
    reasons = Counter(
        texts[each.reason] for each in view.history.fleet.interruptions if not each.restarts
    )
    found = {reason: count for reason, count in reasons.most_common() if counts(reason)}
    return SingleNumber(sum(found.values()), detail=found)


def _is_preemption(reason: str) -> bool:
    return any(word in _PREEMPTED for word in reason.split())


def _is_eviction(reason: str) -> bool:
    return not _is_preemption(reason) and any(word in _EVICTED for word in reason.split())


def _is_other(reason: str) -> bool:
    return not _is_preemption(reason) and not _is_eviction(reason)


def _restarts(view: RunView) -> Value:
    reasons: Counter[str] = Counter()
    for each in view.history.fleet.interruptions:
        if each.restarts:
            reasons[view.history.texts[each.reason]] += each.restarts
    return SingleNumber(reasons.total(), detail=dict(reasons.most_common()))


def _spread(key: str, view: RunView) -> Value:
    """Return how many values of a label of nodes the pods of each gang have that run at once."""
    nodes = view.history.fleet.node_of
    spans: list[int] = []
    left_out = still_open = 0
    for gang in view.once(gangs_in):
        if gang.size < 2:
            continue
        bound = sorted(
            (pod for pod in gang.pods if pod.node), key=lambda pod: pod.bound or pod.seen
        )
        found = [nodes.get(pod.node) for pod in bound[: gang.size]]
        values = {node.label(key) if node else "" for node in found}
        if len(found) < gang.size:
            still_open += 1
        elif "" in values:
            left_out += 1
        else:
            spans.append(len(values))
    if not spans:
        return Missing(f"no gang had all of its pods on nodes with '{key}'")
    return distribution_of(spans, left_out=left_out, still_open=still_open)


def _node_figure(name: str, title: str, holds: Callable[[NodeMoment], bool]) -> Figure:
    compute = partial(_nodes, holds)
    return Figure(
        name=f"fleet.{name}", unit="", title=title, compute=compute, form="levels", needs="nodes"
    )


def _ending_figure(name: str, title: str, counts: Callable[[str], bool]) -> Figure:
    return Figure(
        name=f"fleet.{name}",
        unit="",
        title=title,
        compute=partial(_endings, counts),
        needs="interruptions",
        better="less",
    )


def _requested_figure(resource: str) -> Figure:
    return Figure(
        name=f"{_REQUESTED}{resource}",
        unit="%",
        title=f"share of the nodes' allocatable {resource} that pods requested, over time",
        compute=partial(_requested, resource),
        form="levels",
        needs="nodes",
        needs_end=True,
    )


def figures_of_devices(devices: Iterable[str]) -> Iterator[Figure]:
    """Yield the figures of each device, such as `nvidia.com/gpu`."""
    for device in devices:
        yield _requested_figure(device)
        yield Figure(
            name=f"{_FRAGMENTATION}{device}",
            unit="%",
            title=f"share of the free {device} that pods of the run's sizes could not use, over time",
            compute=partial(_fragmentation, device),
            form="levels",
            needs="nodes",
            needs_end=True,
            better="less",
        )
        yield Figure(
            name=f"{_LARGEST}{device}",
            unit="",
            title=f"pods of the run's largest size of {device} that would have fitted at once, over time",
            compute=partial(_largest_gang, device),
            form="levels",
            needs="nodes",
            needs_end=True,
            better="more",
        )


def figure_of_device(name: str) -> Figure | None:
    """Return the figure of a device that has this name; None if none can have it."""
    for prefix in (_REQUESTED, _FRAGMENTATION, _LARGEST):
        device = name.removeprefix(prefix)
        if device != name and "/" in device:
            return next(each for each in figures_of_devices([device]) if each.name == name)
    return None


def figures_of_topology(labels: Iterable[str]) -> Iterator[Figure]:
    """Yield a figure for each label of nodes."""
    for key in labels:
        yield Figure(
            name=f"{_SPREAD}{key}",
            unit="",
            title=f"values of {key} that the nodes of a gang's pods have",
            compute=partial(_spread, key),
            form="distribution",
            needs="nodes",
        )


FIGURES = (
    _node_figure("nodes", "nodes, over time", lambda _: True),
    _node_figure("not_ready", "nodes that were not Ready, over time", lambda state: not state.ready),
    _node_figure("cordoned", "nodes that were cordoned, over time", lambda state: state.cordoned),
    _node_figure("tainted", "nodes with other taints that keep pods away, over time", is_tainted),
    _requested_figure("cpu"),
    _requested_figure("memory"),
    _ending_figure("preemptions", "pods that ended to make room for others", _is_preemption),
    _ending_figure("evictions", "pods that were evicted from their nodes", _is_eviction),
    _ending_figure("failures", "pods that ended for other reasons in their status", _is_other),
    Figure(name="fleet.restarts", unit="", title="restarts of containers, by how they had ended",
           compute=_restarts, needs="interruptions", better="less"),
)  # fmt: skip
