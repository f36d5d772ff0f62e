"""Runs the controller as a process of its own, until a signal ends it."""

import asyncio
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from random import Random

import msgspec

from kwokctl import __version__
from kwokctl.controller.cluster.admission_fallback import AdmissionFallback
from kwokctl.controller.cluster.kubelet_features import kubelet_features
from kwokctl.controller.cluster.watchers import ClusterWatchers, Documents
from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.documents.replaced import ReplacedStages
from kwokctl.controller.faults.cluster_faults import ClusterFaults
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.leases.holder import own_identity, own_name
from kwokctl.controller.membership.membership import Membership
from kwokctl.controller.object_reader import ApiObjectReader
from kwokctl.controller.repairs.cluster_repairs import ClusterRepairs
from kwokctl.controller.serving.controller_routes import Handlers, owner_authorizer, routes
from kwokctl.controller.serving.fleet_metrics import FleetMetrics
from kwokctl.controller.settings import EtcdAccess, Settings, read_settings
from kwokctl.controller.stages_in_force import ChangingStages, with_followers
from kwokctl.controller.training.training_keeper import TrainingKeeper
from kwokctl.controller.wiring import Controller
from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.etcd_plane import EtcdRoute
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.open_plane import open_plane
from kwokctl.dataplane.port import DataPlane
from kwokctl.dataplane.scale_protocol import KubeletEndpoint, PlayedStages
from kwokctl.embedded.cluster_access import cluster_access, keep_credential, with_credential
from kwokctl.embedded.component_process import (
    LogProgress,
    freeze,
    give_back_regularly,
    log,
    run_process,
    set_verbosity,
)
from kwokctl.embedded.documents.custom_resource_watch import CustomResources
from kwokctl.embedded.documents.verdicts import Verdicts
from kwokctl.embedded.http.http_server import HttpServer
from kwokctl.embedded.http.listening import listening_sockets, listening_sockets_nearby
from kwokctl.embedded.http.route_table import RouteTable
from kwokctl.etcd.kv.kv import Kv
from kwokctl.kube.client import Client
from kwokctl.kube.collections.server_metrics import NAME, EndedWatches
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.replacing import replace
from kwokctl.retry import backoff
from kwokctl.tasks import beside

_CONNECTIONS = 24
"""More do not make the API server faster, and each costs half a megabyte of TLS buffers."""
_TO_KUBELET = 4
_MANAGER = "kwok-controller"
"""Under which name the cluster keeps which fields the fake kubelets have written, as with kwok's."""
_FAREWELL = 2.0
"""Seconds in which the other controllers hear of the end."""
_ASK_EVERY = 10.0
"""Seconds between reads of the API server's metrics, which are long."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT, and return the exit code."""

    def begin() -> Coroutine[object, object, None]:
        settings = read_settings(sys.argv[1:] if argv is None else argv, LogProgress())
        set_verbosity(settings.verbosity)
        access = cluster_access(settings.kubeconfig, settings.master)
        return serve(settings, access, settings.holder_identity or own_identity())

    return run_process(begin)


async def serve(settings: Settings, access: Access, holder: str) -> None:
    """Play nodes and pods until cancelled; the cluster may come and go meanwhile."""
    await play(settings, await with_credential(access), holder)


def _keep(_: Handlers) -> None:
    """Leave the answers to the controller's own server."""


async def play(
    settings: Settings,
    access: Access,
    holder: str,
    publish: Callable[[Handlers], None] = _keep,
) -> None:
    """Play nodes and pods until cancelled; `publish` gets what can be answered of the controller."""
    pool = Pool(access, connections=_CONNECTIONS, user_agent=f"kwok/{__version__}")
    try:
        async with beside(keep_credential(pool, access)):
            await _serve(settings, pool, holder, publish, _fleet_metrics(settings, access))
    finally:
        await pool.close()


def _fleet_metrics(settings: Settings, access: Access) -> FleetMetrics | None:
    if not settings.fleet_metrics:
        return None
    at = replace(access, server=settings.fleet_metrics)
    return FleetMetrics(Pool(at, connections=_TO_KUBELET, user_agent=f"kwok/{__version__}"))


async def _serve(
    settings: Settings,
    pool: Pool,
    holder: str,
    publish: Callable[[Handlers], None],
    fleet: FleetMetrics | None,
) -> None:
    # Once the data plane has been chosen; until then nothing is ready.
    watchers: ClusterWatchers | None = None
    stages: ChangingStages | None = None
    faults: ClusterFaults | None = None
    ended = EndedWatches(pool, every=_ASK_EVERY, clock=asyncio.get_running_loop().time)

    async def metrics() -> str:
        if watchers is None:
            return ""
        await ended.refresh()
        return watchers.controller.metrics.text()

    handlers = Handlers(
        is_ready=lambda: watchers is not None and watchers.is_synced,
        metrics=metrics,
        kubelet=msgspec.json.encode(
            KubeletEndpoint(address=settings.kubelet.address, port=settings.kubelet.port)
        ),
        stages=lambda: _played(stages, faults),
        seen=lambda: watchers.controller.scale_api.seen() if watchers else None,
        reserve=lambda body: watchers.controller.scale_api.reserve(body) if watchers else None,
    )
    publish(handlers)
    authorizer = await owner_authorizer(settings.server_token_file)
    server = HttpServer(RouteTable(routes(handlers, fleet)), authorizer.admit)
    async with beside(server.run(_listening(settings), None)):
        random = Random()
        wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
        plane, features = await asyncio.gather(
            _plane(settings.etcd, pool, random, wall), kubelet_features(pool, random)
        )
        settings = replace(
            settings,
            kubelet=features.declared_by(settings.kubelet),
            shows_devices=features.shows_devices,
        )
        client = Client(pool)
        context = _context(settings, client, plane, random, wall)
        controller = Controller(settings, holder, context)
        controller.metrics.ask(lambda: {(NAME, ()): ended.number})
        if plane.direct is not None:
            controller.metrics.ask(plane.direct.figures)
        fallback = _fallback(settings, plane, pool, random)
        stages = ChangingStages(settings, controller, manager=_MANAGER)
        faults, trainings, repairs = _of_fleet(controller, context, client)
        of_stages = _documents(settings, client, stages, context)
        documents: list[Documents] = [*of_stages, faults, trainings, repairs]
        watchers = ClusterWatchers(client, controller, settings.selection, random, documents)
        _say_begin(settings, holder)
        await _play(watchers, fallback)


def _context(
    settings: Settings,
    client: Client,
    plane: DataPlane,
    random: Random,
    wall: Callable[[], float],
) -> ControllerContext:
    return ControllerContext(
        plane=plane,
        reader=ApiObjectReader(client),
        random=random,
        wall=wall,
        faults=OpenFaults(FaultClock(wall)),
        fault_dialects=settings.fault_dialects,
    )


def _say_begin(settings: Settings, holder: str) -> None:
    name = own_name(holder, "the kubelet of each node")
    log.info("playing %d stages as %s", len(settings.stages), name)


def _played(stages: ChangingStages | None, faults: ClusterFaults | None) -> PlayedStages | None:
    """Return what `scale` may play itself; None before that is known."""
    if stages is None or stages.played is None or faults is None or not faults.is_known:
        return None
    return with_followers(stages.played, faults_follow=faults.follow)


def _of_fleet(
    controller: Controller, context: ControllerContext, client: Client
) -> tuple[ClusterFaults, TrainingKeeper, ClusterRepairs]:
    """Return what follows the faults of the cluster, its trainings, and its repairs."""
    has_post = partial(_has_post, controller)
    repairs = ClusterRepairs(client, context, controller.registry, has_post)
    seen = controller.scale_api.note
    faults = ClusterFaults(client, context, controller.registry, has_post, repairs, seen)
    return faults, TrainingKeeper(client, context, has_post), repairs


def _has_post(controller: Controller) -> bool:
    """Return whether a controller does what one does for all, and knows all nodes and pods.

    Nodes are listed before pods: until then nothing can be said to be gone.
    """
    return controller.has_post and controller.pods_listed.is_set()


def _documents(
    settings: Settings, client: Client, stages: ChangingStages, context: ControllerContext
) -> list[Documents]:
    """Return what follows the documents that are custom resources; each kind has its use."""
    uses = {"Stage": stages.change}
    found: list[Documents] = [
        CustomResources(
            client, kind, uses[kind], Verdicts(client, kind, context.wall), context.random
        )
        for kind in settings.custom_kinds
    ]
    if settings.custom_kinds and settings.stages:
        replaced = ReplacedStages(client, stages.leave_out, context.random)
        stages.remember = replaced.note
        found.append(replaced)
    return found


def _fallback(
    settings: Settings, plane: DataPlane, pool: Pool, random: Random
) -> AdmissionFallback | None:
    insists = settings.etcd is not None and settings.etcd.insists
    if insists or plane.direct is None:
        return None
    return AdmissionFallback(plane.direct.leave, pool, random)


async def _plane(
    access: EtcdAccess | None, pool: Pool, random: Random, wall: Callable[[], float]
) -> DataPlane:
    """Choose how the controller writes; waits until the cluster answers."""
    api = ApiPlane(pool, manager=_MANAGER)
    if access is None:
        return api
    at = access.target
    route = EtcdRoute(
        address=at.address,
        store=ObjectStore(Kv(at.address, ca=at.ca, cert=at.cert, key=at.key)),
        keys=Keys(access.prefix),
        managed_fields=access.managed_fields,
    )
    pauses = (backoff(tries, random, first=0.2, most=5.0) for tries in count(1))
    plane = await open_plane(api, route, wall, pauses=pauses)
    if plane.direct is not None:
        log.info("writing statuses and leases to etcd at '%s'", at.address)
    return plane


def _listening(settings: Settings) -> list[socket.socket]:
    """Listen at the address, or at a free port if another controller of this machine has that one."""
    if settings.server is None:
        return []
    hosts, port = settings.server
    if not settings.shares:
        return listening_sockets(hosts.split(","), port)
    return listening_sockets_nearby(hosts.split(","), port, serving="health and metrics")


async def _play(watchers: ClusterWatchers, fallback: AdmissionFallback | None) -> None:
    try:
        await _play_on(watchers, fallback)
    finally:
        # Only now: the controller that hears of it writes to the nodes at once.
        if (membership := watchers.controller.membership) is not None:
            await _leave(membership)


async def _leave(membership: Membership) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_FAREWELL):
            await membership.leave()


async def _play_on(watchers: ClusterWatchers, fallback: AdmissionFallback | None) -> None:
    async with asyncio.TaskGroup() as tasks:
        if fallback is not None:
            tasks.create_task(fallback.run())
            await fallback.known()
        tasks.create_task(watchers.controller.run())
        tasks.create_task(watchers.run())
        tasks.create_task(_settle(watchers))
        tasks.create_task(give_back_regularly())


async def _settle(watchers: ClusterWatchers) -> None:
    await watchers.synced()
    log.info("everything has been listed")
    freeze()
