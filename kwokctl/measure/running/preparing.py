"""Asks a cluster for all that a run needs, so that what is refused is refused before anything begins."""

from collections.abc import Mapping, Sequence
from itertools import count

from kwokctl import __version__
from kwokctl.clusters.objects.kinds import KindFinder
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, one_page
from kwokctl.kube.resource import (
    FAULT_PAGES,
    FAULT_SCHEDULES,
    FAULTS,
    JOBS,
    NODES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPAIRS,
    Resource,
)
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.figures.latencies import PREFIX
from kwokctl.measure.histories.history import LOAD_LABEL, RUN_LABEL
from kwokctl.measure.record.fleet_lines import ZONE
from kwokctl.measure.record.record_lines import Header, RunScope
from kwokctl.measure.record.run_clock import RunClock
from kwokctl.measure.running.conditions import conditions_of
from kwokctl.measure.running.one_run import OneRun
from kwokctl.measure.running.request import MeasuredCluster, MeasureRequest
from kwokctl.measure.running.served_gangs import served_gangs
from kwokctl.measure.running.served_kinds import why_not_watched
from kwokctl.measure.sampling.metric_sources import Sources
from kwokctl.measure.sampling.plane import PlaneSampler, looked_at
from kwokctl.measure.watching.budgets import BudgetTracker
from kwokctl.measure.watching.faults import FaultTracker
from kwokctl.measure.watching.gangs import GANG_KINDS, GangTracker
from kwokctl.measure.watching.jobs import JobTracker
from kwokctl.measure.watching.kinds import KindTracker
from kwokctl.measure.watching.node_acts import NodeActs
from kwokctl.measure.watching.nodes import NodeTracker
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.phases import PhaseTracker
from kwokctl.measure.watching.pods import PodTracker
from kwokctl.measure.watching.recorder import Followed, Tracker
from kwokctl.measure.watching.repair_lines import repair_tracker, schedule_tracker
from kwokctl.measure.watching.seen_faults import FaultPageTracker, FaultTruths
from kwokctl.model import KUBE_APISERVER
from kwokctl.replacing import replace

_REFUSED = (403, 404)
_OWN_KINDS = (FAULTS, FAULT_PAGES, REPAIRS, FAULT_SCHEDULES)
"""kwokctl's own kinds: a cluster serves them once they are needed."""


async def prepared(
    cluster: MeasuredCluster,
    request: MeasureRequest,
    sources: Sources,
    clock: RunClock,
    missing: dict[str, str],
) -> OneRun:
    """Return a run that can begin; what will not be in its record is added to `missing`.

    Raises ApiError or NotFoundError for what the cluster refuses or lacks.
    """
    pool = sources[KUBE_APISERVER].pool
    client = Client(pool)
    finder = KindFinder(client)
    resources = [await finder.find(each.kind) for each in request.latencies]
    of_phases = [await finder.find(each.kind) for each in request.phases]
    await one_page(pool, _query(PODS, request.scope).path(limit="1"))
    missing |= await _missing(pool, request, [*resources, *of_phases])
    gangs = await served_gangs(client, request.scope.namespace)
    missing |= {name: why for name, why in gangs.items() if isinstance(why, str)}
    unwatched = {each: await why_not_watched(pool, each) for each in _OWN_KINDS}
    missing |= {each.plural: why for each, why in unwatched.items() if why}
    plane = await looked_at(sources, cluster.components, request.metrics, missing)
    header = Header(
        wall=clock.wall.isoformat(timespec="microseconds"),
        kwokctl=__version__,
        scope=request.scope,
        conditions=await conditions_of(cluster, request, client),
        labels=(RUN_LABEL, LOAD_LABEL, *request.labels),
        latencies=tuple(map(str, request.latencies)),
        topology=tuple(dict.fromkeys((ZONE, *request.topology))),
        phases=tuple(map(str, request.phases)),
        metrics=tuple(map(str, plane.metrics)),
        missing=missing,
        warm_up=request.is_warm_up,
    )
    run = OneRun(request, header, pool, cluster, clock)
    texts = Texts(run.emit)
    budgets = None if POD_DISRUPTION_BUDGETS.plural in missing else BudgetTracker(run.emit)
    run.kinds = _followed(run, request, resources, texts, budgets)
    run.kinds += _followed_gangs(run, gangs, header.labels)
    run.kinds += _followed_phases(run, request, of_phases)
    own = _followed_own(run)
    run.kinds += [each for each in own if unwatched[each.resource] is None]
    run.later = [each for each in own if unwatched[each.resource] == ""]
    run.plane = PlaneSampler(plane, run.emit, texts, clock, run.history.plane)
    return run


def _followed(
    run: OneRun,
    request: MeasureRequest,
    resources: Sequence[Resource],
    texts: Texts,
    budgets: BudgetTracker | None,
) -> list[Followed]:
    scope, labels = request.scope, run.history.header.labels
    existing = scope.takes_existing
    pods = PodTracker(
        run.emit, texts, labels=labels, takes_existing=existing, gang_label=request.gang_label, budgets=budgets
    )  # fmt: skip
    kinds = [_follow(PODS, pods, scope)]
    if budgets is not None:
        kinds = [replace(kinds[0], deleted=budgets.pod_gone)]
        kinds.append(_follow(POD_DISRUPTION_BUDGETS, budgets, RunScope(namespace=scope.namespace)))
    missing = run.history.header.missing
    if "jobs" not in missing:
        jobs = JobTracker(run.emit, labels=labels, takes_existing=existing)
        kinds.append(_follow(JOBS, jobs, scope))
    if "nodes" not in missing:
        acts = NodeActs(run.emit, texts)
        nodes = NodeTracker(run.emit, texts, labels=run.history.header.topology, acts=acts)
        kinds.append(Followed(resource=NODES, tracker=nodes))
    for number, (latency, resource) in enumerate(zip(request.latencies, resources, strict=True)):
        plural = PREFIX + latency.name
        if plural not in missing:
            tracker = KindTracker(run.emit, latency, number, plural)
            kinds.append(_follow(resource, tracker, RunScope(namespace=scope.namespace)))
    return kinds


def _followed_gangs(
    run: OneRun, gangs: Mapping[str, Resource | str], labels: Sequence[str]
) -> list[Followed]:
    """Return the objects of gangs that are watched, without the selector: that is one of pods."""
    numbers, scope = count(1), RunScope(namespace=run.history.header.scope.namespace)
    return [
        _follow(resource, GangTracker(run.emit, kind, numbers, labels=labels), scope)
        for kind in GANG_KINDS
        if isinstance(resource := gangs.get(kind.name), Resource)
    ]


def _followed_phases(
    run: OneRun, request: MeasureRequest, resources: Sequence[Resource]
) -> list[Followed]:
    """Return the kinds of the phases of incidents, each followed for itself."""
    trackers = [
        PhaseTracker(run.emit, phase, number) for number, phase in enumerate(request.phases)
    ]
    missing = run.history.header.missing
    return [
        Followed(resource=resource, tracker=tracker)
        for resource, tracker in zip(resources, trackers, strict=True)
        if tracker.plural not in missing
    ]


def _followed_own(run: OneRun) -> list[Followed]:
    """Return kwokctl's own kinds, whether they are served yet or not."""
    truths = FaultTruths(run.emit)
    trackers: Mapping[Resource, Tracker] = {
        FAULTS: FaultTracker(run.emit, truths),
        FAULT_PAGES: FaultPageTracker(truths),
        REPAIRS: repair_tracker(run.emit),
        FAULT_SCHEDULES: schedule_tracker(run.emit),
    }
    return [Followed(resource=each, tracker=trackers[each]) for each in _OWN_KINDS]


def _follow(resource: Resource, tracker: Tracker, scope: RunScope) -> Followed:
    return Followed(
        resource=resource,
        tracker=tracker,
        namespace=scope.namespace or None,
        selector=scope.selector,
    )


def _query(resource: Resource, scope: RunScope) -> ListQuery:
    return ListQuery(
        resource=resource, namespace=scope.namespace or None, label_selector=scope.selector
    )


async def _missing(
    pool: Pool, request: MeasureRequest, resources: Sequence[Resource]
) -> dict[str, str]:
    """Return why parts of the record will not be there: what may not be listed, or is not asked for."""
    names = [
        "jobs",
        "nodes",
        POD_DISRUPTION_BUDGETS.plural,
        *(PREFIX + each.name for each in request.latencies),
        *(f"phase.{each.name}" for each in request.phases),
    ]
    found: dict[str, str] = {}
    if request.scope.selector or request.scope.namespace:
        found["requests"] = (
            "with '--selector' or '--namespace' the other pods of the nodes are not seen"
        )
    kinds = (JOBS, NODES, POD_DISRUPTION_BUDGETS, *resources)
    for name, resource in zip(names, kinds, strict=True):
        try:
            scope = request.scope if resource.namespaced else RunScope()
            await one_page(pool, _query(resource, scope).path(limit="1"))
        except ApiError as e:
            if e.status not in _REFUSED:
                raise
            found[name] = f"the API server refused to list {resource.plural}"
    return found
