"""Scales nodes, pods and other objects, in a cluster of kwokctl or any other."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from kwokctl.clusters.etcd_quota import EtcdQuota
from kwokctl.clusters.scaling.cluster_reader import ClusterApiReader
from kwokctl.clusters.scaling.context import ScaleContext, Supervision, Turn
from kwokctl.clusters.scaling.objects.networks import NAME as POSITIONS
from kwokctl.clusters.scaling.objects.networks import ClusterBook
from kwokctl.clusters.scaling.objects.parameters import NAME as PARAMETERS
from kwokctl.clusters.scaling.objects.render import edited
from kwokctl.clusters.scaling.objects.stored_texts import ClusterTexts
from kwokctl.clusters.scaling.routes import (
    FOREIGN,
    ScaleRoute,
    connected_controller,
    connected_etcd,
    etcd_route_of,
    route_of,
)
from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.set_size import scale_set
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import using
from kwokctl.clusters.state.resource_templates import (
    ResourceTemplate,
    find_template,
    template_name,
    templates_for,
    with_dialects,
    with_one_address,
)
from kwokctl.clusters.state.saved import load
from kwokctl.clusters.stopped_components import outage
from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.config.config_documents import Document
from kwokctl.config.nearest import did_you_mean
from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.bulk.api_bulk import PARALLEL_REQUESTS
from kwokctl.dataplane.etcd_plane import EtcdRoute
from kwokctl.dataplane.open_plane import open_plane
from kwokctl.dataplane.port import DirectWriter
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.errors import RequestError, UnavailableError, UsageError, make_room
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.host import noted_locks
from kwokctl.kube.client import Client
from kwokctl.kube.collections.server_metrics import EndedWatches
from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KWOK_CONTROLLER, ClusterName
from kwokctl.replacing import replace
from kwokctl.retry import retried

_ASK_EVERY = 2.0
"""Seconds between questions to the API server for its figures: they are megabytes."""


async def scale(
    home: Home,
    name: ClusterName,
    request: ScaleRequest,
    *,
    documents: Sequence[Document],
    kubeconfig: Path | None = None,
    data_path: str | None = None,
) -> ScaleResult:
    """Give a set of objects its size, in the cluster `name` or in that of a `kubeconfig`.

    `data_path` is taken instead of the cluster's own.

    The resource templates among `documents` come first, then those of the cluster, then the built-in ones, and so do
    dialects of faults, of which a cluster keeps none. A cluster of kwokctl is not stopped, restored or deleted meanwhile; scaling several sets of it at once is fine, and runs
    that scale the same set do so one after the other. Errors are those of `scale_set`, RequestError, and
    UnavailableError, which names the components that do not run.
    """
    templates = templates_for(home, name, documents, elsewhere=kubeconfig is not None)
    request = replace(request, kind=template_name(templates, request.kind))
    # What is wrong with the template's parameters is wrong in any cluster, and without one.
    template = find_template(templates, request.kind)
    for unused in template.unused(edited(template.parameters, request.params)):
        near = did_you_mean(unused, template.declared)
        what = f"the template '{template.name}' does not mention the parameter '{unused}'"
        home.progress.warn(f"{what}; {near}" if near else what)
    faults = FaultCatalogue(documents)
    if kubeconfig is not None:
        if data_path == "etcd":
            raise UsageError(
                "--data-path etcd is for clusters that kwokctl created, not for --kubeconfig",
                hint="leave one of the two out",
            )
        access = load_access(kubeconfig)
        return await scale_with(access, request, templates, home, FOREIGN, faults)
    saved = load(home.paths(name), name)
    if saved.options.component(KWOK_CONTROLLER).binary:
        template = with_one_address(template)
    dialects = saved.options.of(KwokControllerOptions).fault_dialects
    templates = {request.kind: with_dialects(template, dialects)}
    access = load_access(home.paths(name).own_kubeconfig)
    with using(home.workdir, name):
        route = route_of(home, saved, data_path)
        try:
            return await scale_with(access, request, templates, home, route, faults)
        except (RequestError, UnavailableError) as e:
            if isinstance(e, RequestError) and e.is_full:
                e.hint = make_room(name)
                raise
            down = None if isinstance(e, RequestError) and e.status else await outage(home, name)
            if down is None:
                raise
            raise down from e


async def scale_with(
    access: Access,
    request: ScaleRequest,
    templates: Mapping[str, ResourceTemplate],
    home: Home,
    route: ScaleRoute,
    faults: FaultCatalogue,
) -> ScaleResult:
    """Give a set of objects its size in the cluster that `access` reaches, whichever tool created it."""
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(Pool(access, connections=PARALLEL_REQUESTS + 1))
        client = Client(pool)
        controller = await connected_controller(stack, route)
        etcd_route = None
        kv = None if route.etcd is None else await connected_etcd(stack, route.etcd, home.progress)
        if kv is not None and route.etcd is not None and route.choice.path == "etcd":
            etcd_route = etcd_route_of(route, kv, route.etcd.address, controller)
        wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
        plane = await open_plane(ApiPlane(pool), etcd_route, wall)
        supervision = None
        if etcd_route is not None and plane.direct is not None:
            supervision = _supervision(pool, etcd_route, plane.direct)
        context = ScaleContext(
            reader=ClusterApiReader(client),
            plane=plane,
            progress=home.progress,
            wall=wall,
            choice=route.choice,
            supervision=supervision,
            managed_fields=route.managed_fields,
            etcd_quota=None if kv is None else EtcdQuota(kv, route.quota, home.progress),
            keeps_taints=route.keeps_taints,
            insists=route.insists,
            tells_path=route.is_news,
            turn=_turn(home, access),
            kubelet=await _kubelet(controller, route),
            faults=faults,
            book=ClusterBook(ClusterTexts(client, POSITIONS)),
            parameters=ClusterTexts(client, PARAMETERS),
        )
        return await scale_set(request, templates, context)


def _turn(home: Home, access: Access) -> Turn:
    """Make runs that change the same set of a cluster take turns."""

    def waiting(owner: str) -> None:
        home.progress.note(f"waiting: {owner}")

    @asynccontextmanager
    async def taken(name: str, doing: str) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            lock = home.workdir.set_lock(f"{access.server} {name}")
            try:
                await stack.enter_async_context(
                    noted_locks.turn(lock, doing=doing, waiting=waiting)
                )
            except OSError as e:
                home.progress.warn(
                    f"cannot lock '{lock}': do not scale this set twice at a time ({e.strerror})"
                )
            yield

    return taken


async def _kubelet(controller: ControllerClient, route: ScaleRoute) -> Kubelet:
    """Ask the controller where kubelets are reached, if only it knows; else keep what is known."""
    if route.knows_kubelet:
        return route.kubelet
    try:
        found = await controller.kubelet()
    except RequestError:
        return route.kubelet
    return Kubelet(address=found.address, port=found.port)


def _supervision(pool: Pool, route: EtcdRoute, direct: DirectWriter) -> Supervision:
    async def pod_names(namespace: str | None, prefix: str) -> set[str]:
        key = route.keys.key(PODS, namespace, prefix)
        begin = len(key) - len(prefix.encode())
        found = await retried(partial(route.store.keys, key))
        return {each[begin:].decode() for each in found}

    return Supervision(
        direct=direct,
        pool=pool,
        ended=EndedWatches(pool, every=_ASK_EVERY, clock=time.monotonic),
        pod_names=pod_names,
        controller=route.controller,
    )
