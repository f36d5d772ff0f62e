"""Asks a cluster for all that a run needs, so that what is refused is refused before anything begins."""

from collections.abc import Mapping, Sequence
from itertools import count

from kwokctl import __version__
from kwokctl.clusters.objects.kinds import KindFinder
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, one_page
from kwokctl.kube.resource import JOBS, NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure import conditions
from kwokctl.measure.clock import RunClock
from kwokctl.measure.figures.fleet import ZONE
from kwokctl.measure.figures.latencies import PREFIX
from kwokctl.measure.history import LOAD_LABEL, RUN_LABEL
from kwokctl.measure.one_run import OneRun
from kwokctl.measure.record.lines import Header, RunScope
from kwokctl.measure.request import MeasuredCluster, MeasureRequest
from kwokctl.measure.sampling.metric_sources import Sources
from kwokctl.measure.sampling.plane import PlaneSampler, looked_at
from kwokctl.measure.served_gangs import served_gangs
from kwokctl.measure.watching.gangs import GANG_KINDS, GangTracker
from kwokctl.measure.watching.jobs import JobTracker
from kwokctl.measure.watching.kinds import KindTracker
from kwokctl.measure.watching.nodes import NodeTracker
from kwokctl.measure.watching.pods import PodTracker
from kwokctl.measure.watching.recorder import Followed, Tracker
from kwokctl.measure.watching.texts import Texts
from kwokctl.model import KUBE_APISERVER

_REFUSED = (403, 404)


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
    await one_page(pool, _query(PODS, request.scope).path(limit="1"))
    missing |= await _missing(pool, request, resources)
    gangs = await served_gangs(client, request.scope.namespace)
    missing |= {name: why for name, why in gangs.items() if isinstance(why, str)}
    plane = await looked_at(sources, cluster.components, request.metrics, missing)
    known = dict(await conditions.of_cluster(client))
    if cluster.saved is not None:
        known |= conditions.of_own_cluster(cluster.saved)
    labels = (RUN_LABEL, LOAD_LABEL, *request.labels)
    topology = tuple(dict.fromkeys((ZONE, *request.topology)))
    header = Header(
        wall=clock.wall.isoformat(timespec="microseconds"),
        kwokctl=__version__,
        scope=request.scope,
        conditions={
            "cluster": str(cluster),
            **known,
            **conditions.of_loads(request),
            **conditions.of_machine(),
        },
        labels=labels,
        latencies=tuple(map(str, request.latencies)),
        topology=topology,
        metrics=tuple(map(str, plane.metrics)),
        missing=missing,
        warm_up=request.is_warm_up,
    )
    run = OneRun(request, header, pool, cluster, clock)
    texts = Texts(run.emit)
    run.kinds = [*_followed(run, request, resources, texts), *_followed_gangs(run, gangs, labels)]
    run.plane = PlaneSampler(plane, run.emit, texts, clock, run.history.plane)
    return run


def _followed(
    run: OneRun, request: MeasureRequest, resources: Sequence[Resource], texts: Texts
) -> list[Followed]:
    scope, labels = request.scope, run.history.header.labels
    existing = scope.takes_existing
    pods = PodTracker(
        run.emit, texts, labels=labels, takes_existing=existing, gang_label=request.gang_label
    )
    kinds = [_follow(PODS, pods, scope)]
    missing = run.history.header.missing
    if "jobs" not in missing:
        jobs = JobTracker(run.emit, labels=labels, takes_existing=existing)
        kinds.append(_follow(JOBS, jobs, scope))
    if "nodes" not in missing:
        nodes = NodeTracker(run.emit, texts, labels=run.history.header.topology)
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
    names = ["jobs", "nodes", *(PREFIX + each.name for each in request.latencies)]
    found: dict[str, str] = {}
    if request.scope.selector or request.scope.namespace:
        found["requests"] = (
            "with '--selector' or '--namespace' the other pods of the nodes are not seen"
        )
    for name, resource in zip(names, (JOBS, NODES, *resources), strict=True):
        try:
            scope = request.scope if resource.namespaced else RunScope()
            await one_page(pool, _query(resource, scope).path(limit="1"))
        except ApiError as e:
            if e.status not in _REFUSED:
                raise
            found[name] = f"the API server refused to list {resource.plural}"
    return found
