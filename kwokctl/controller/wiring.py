"""Puts the controller together. `cluster.watchers` calls it with what happens in the cluster."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.dialect_heartbeats import DialectHeartbeats
from kwokctl.controller.engine.engine import StageEngine
from kwokctl.controller.engine.hooks import Hooks, NodeHooks, NoLeases, PlainHooks, PodHooks
from kwokctl.controller.engine.second_look import SecondLook
from kwokctl.controller.faults.node_overlays import NodeOverlays
from kwokctl.controller.known_faults.newborns import Newborns
from kwokctl.controller.known_faults.silent_kubelets import SilentKubelets
from kwokctl.controller.leases.keeper import LeaseKeeper
from kwokctl.controller.leases.ownership import Ownership
from kwokctl.controller.lifecycle.admission.room import NodeRoom
from kwokctl.controller.lifecycle.device_news import DeviceNews
from kwokctl.controller.lifecycle.eviction import Evictor
from kwokctl.controller.lifecycle.kubelet_life import KubeletLife
from kwokctl.controller.lifecycle.looks import PodLooks
from kwokctl.controller.lifecycle.notices import PodNotices
from kwokctl.controller.lifecycle.pod_faults.node_faults import NodeFaults
from kwokctl.controller.lifecycle.reboots import Reboots
from kwokctl.controller.membership.membership import Membership, fleet_name
from kwokctl.controller.node_reports import NodeReports
from kwokctl.controller.nodes.address_pool import PodIPs
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.plans import Plans
from kwokctl.controller.serving.scale_api import ScaleApi
from kwokctl.controller.settings import Settings
from kwokctl.controller.slice_faults import SliceFaults
from kwokctl.controller.stages import stage_functions
from kwokctl.controller.stages.compiled_stage import NODE, POD, Kind, Stage, by_kind
from kwokctl.controller.stages.lives import KUBELET, STAGES
from kwokctl.dataplane.port import Figures
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.tasks import beside


class Controller:
    """Nodes, pods, leases, and any other kinds that there are stages for.

    Nodes and pods are followed even if there is no stage for them: nodes are held and pods have
    addresses nevertheless.
    """

    def __init__(self, settings: Settings, holder: str, context: ControllerContext) -> None:
        """Hold leases as `holder`; must be called on the running loop."""
        self.metrics = context.metrics
        self.delay_queue = context.delay_queue
        self.trainings = context.trainings
        self.pods_listed = asyncio.Event()
        """Set it when all pods are known: until then no new pod gets an address that one may have."""
        self._settings = settings
        self._context = context
        self._direct = context.plane.direct
        self._stages = by_kind(settings.stages)
        self._played: dict[Kind, PlayedKind] = {}
        self.kinds_changed = asyncio.Event()
        """Set when there are stages for other kinds than before."""
        self._shared = stage_functions.common(context.wall)
        self.started = str(self._shared["StartTime"]())
        """The start time of the controller that templates see."""
        self._assemble(settings, holder)
        self.metrics.ask(self._figures)
        self.scale_api = ScaleApi(self._addresses, self.delay_queue)
        self.metrics.ask(lambda: {("kwok_controller_waiting", ()): len(self.delay_queue)})

    def _assemble(self, settings: Settings, holder: str) -> None:
        self.registry = nodes = NodeRegistry()
        kubelet = settings.kubelet
        addresses = PodIPs(nodes, default_cidr=settings.cidr, node_ip=kubelet.ip)
        self._addresses = addresses
        self.membership = self._as_member(settings, holder, nodes) if settings.shares else None
        self.keeper = self._keeper(settings, holder, nodes) if settings.lease_seconds else None
        if self.membership is not None and self.keeper is not None:
            self.membership.listen(self.keeper.look_again, addresses.divide)
            self.membership.post.listen(self.kinds_changed.set)
        leases = self.keeper or NoLeases(nodes.set_hold)
        node_functions = stage_functions.for_nodes(self._shared, kubelet)
        newborns = Newborns(self._context.faults, self._context.delay_queue)
        node_hooks = NodeHooks(
            nodes, settings.selection, node_functions, leases, newborns,
            SilentKubelets(self._context.faults, self._context.delay_queue),
        )  # fmt: skip
        pod_functions = stage_functions.for_pods(self._shared, kubelet, addresses)
        pod_hooks = PodHooks(nodes, settings.selection, addresses, pod_functions, leases)
        counts = settings.parallelism
        self.nodes = self._play(NODES, NODE, node_hooks, counts.nodes).engine
        newborns.listen(self.nodes.wake)
        self.pods = self._pods(pod_hooks, nodes, counts.pods)
        self._ownership = Ownership(
            nodes, self._context, self.nodes, self.pods, self.notices, syncs=counts.syncs
        )
        self._reports = NodeReports(self._context, nodes)
        self._overlays = NodeOverlays(self._context, nodes)
        self._slice_faults = SliceFaults(self._context, nodes)
        self._heartbeats = None
        if settings.dialect_heartbeats and self._direct is not None:
            self._heartbeats = DialectHeartbeats(
                self._context, nodes, self._direct, settings.dialect_heartbeats
            )
        self.metrics.ask(lambda: {("kwok_controller_pod_addresses", ()): len(addresses)})

    def _keeper(self, settings: Settings, holder: str, nodes: NodeRegistry) -> LeaseKeeper:
        return LeaseKeeper(
            self._context,
            nodes.set_hold,
            holder=holder,
            duration=settings.lease_seconds,
            workers=settings.parallelism.leases,
            sharing=self.membership.division if self.membership is not None else None,
        )

    def _as_member(self, settings: Settings, me: str, nodes: NodeRegistry) -> Membership:
        return Membership(
            self._context,
            nodes,
            me=me,
            name=fleet_name(settings.selecting),
            lease_seconds=settings.lease_seconds,
        )

    def seen(self, resource: Resource, version: int) -> None:
        """Note that the watch of a kind has come to a version."""
        if self._direct is not None:
            self._direct.seen(resource, version)
        self.scale_api.note(resource, version)

    @property
    def has_post(self) -> bool:
        """Whether this controller does what one of those that share nodes does for all."""
        return self.membership is None or self.membership.post.is_mine

    def other_kinds(self) -> set[Kind]:
        """Return the kinds that there are stages for, without nodes and pods.

        Of controllers that share nodes one plays them all, and the others none.
        """
        if not self.has_post:
            return set()
        return self._stages.keys() - {NODE, POD}

    def change(self, stages: Iterable[Stage]) -> None:
        """Play these stages from now on; those that are the same values have not changed."""
        before = self.other_kinds()
        self._stages = by_kind(stages)
        for kind, played in self._played.items():
            played.second_look.change(self._stages.get(kind, ()))
        if self.other_kinds() != before:
            self.kinds_changed.set()

    @asynccontextmanager
    async def other(self, resource: Resource, kind: Kind) -> AsyncIterator[StageEngine]:
        """Play another kind while inside."""
        hooks = PlainHooks(stage_functions.for_nodes(self._shared, self._settings.kubelet))
        played = self._play(resource, kind, hooks, self._settings.parallelism.others)
        try:
            async with beside(played.engine.run(), played.second_look.run()):
                yield played.engine
        finally:
            del self._played[kind]
            for key in played.engine:
                played.engine.park(key)

    async def run(self) -> None:
        """Play and renew until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.nodes.run())
                tasks.create_task(self._run_pods())
                tasks.create_task(self._evictor.run())
                tasks.create_task(self._reports.run())
                tasks.create_task(self._overlays.run())
                tasks.create_task(self._slice_faults.run())
                if self._heartbeats is not None:
                    tasks.create_task(self._heartbeats.run())
                tasks.create_task(self._device_news.run(self.notices))
                for played in tuple(self._played.values()):
                    tasks.create_task(played.second_look.run())
                tasks.create_task(self._ownership.run())
                tasks.create_task(self._context.warnings.run(self._context.plane.record))
                if self.keeper is not None:
                    tasks.create_task(self.keeper.run())
                if self.membership is not None:
                    tasks.create_task(self.membership.run())
        finally:
            self.delay_queue.close()

    async def _run_pods(self) -> None:
        await self.pods_listed.wait()
        await self.pods.run()

    def _pods(self, hooks: PodHooks, nodes: NodeRegistry, players: int) -> StageEngine:
        """Return what plays pods: those of Stages, and those that live as on a kubelet."""
        context, settings = self._context, self._settings
        faults = NodeFaults(nodes, settings.programs)
        self._device_news = DeviceNews(context, nodes, faults)
        plans = Plans(PODS) if context.has_plans and self._direct is not None else None
        looks = PodLooks(
            hooks, NodeRoom(nodes), context.wall, plans, settings.programs,
            faults=faults, trainings=context.trainings, shows_devices=settings.shows_devices, disputed=self._device_news.put,
        )  # fmt: skip
        usual = KUBELET if settings.has_kubelet_pods else STAGES
        self.life = KubeletLife(looks, context, hooks.lives, usual=usual)
        engine = StageEngine(
            PODS, self._stages.get(POD, ()), hooks, context,
            players=players, plans=plans, conducts=(self.life, Reboots(looks, context)),
        )  # fmt: skip
        context.trainings.listen(engine.wake, context.wall)
        self.notices = PodNotices(engine, self.life, looks, faults)
        self._evictor = Evictor(nodes, context.reader, self.notices)
        self._played_by(engine, POD)
        return engine

    def _play(
        self, resource: Resource, kind: Kind, hooks: Hooks[Any], players: int
    ) -> "PlayedKind":
        context, stages = self._context, self._stages.get(kind, ())
        engine = StageEngine(resource, stages, hooks, context, players=players)
        return self._played_by(engine, kind)

    def _played_by(self, engine: StageEngine, kind: Kind) -> "PlayedKind":
        context = self._context
        second_look = SecondLook(engine, context.reader, context.random)
        played = self._played[kind] = PlayedKind(engine, second_look)
        return played

    def _figures(self) -> Figures:
        return {
            name: value
            for played in self._played.values()
            for name, value in played.engine.figures().items()
        }


class PlayedKind(msgspec.Struct, frozen=True):
    """The engine that plays the objects of one kind, and what lets it change to other Stages."""

    engine: StageEngine
    second_look: SecondLook
