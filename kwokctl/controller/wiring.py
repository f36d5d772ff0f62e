"""Puts the controller together: who knows whom. What it watches is told to it from outside."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from kwokctl.controller.engine.context import World
from kwokctl.controller.engine.engine import Engine
from kwokctl.controller.engine.hooks import Care, NodeCare, NoLeases, PlainCare, PodCare
from kwokctl.controller.engine.step_player import Player
from kwokctl.controller.leases.keeper import LeaseKeeper, Outside, Terms
from kwokctl.controller.leases.ownership import Fleet
from kwokctl.controller.metrics import Metrics
from kwokctl.controller.nodes.pod_ips import PodAddresses
from kwokctl.controller.nodes.registry import Nodes
from kwokctl.controller.reading import Reader
from kwokctl.controller.scheduling.delay_queue import Agenda
from kwokctl.controller.serving.scale_api import Desk
from kwokctl.controller.settings import Settings
from kwokctl.controller.stages import functions
from kwokctl.controller.stages.model import Kind, Stage, by_kind
from kwokctl.dataplane.port import KubeletWriter
from kwokctl.kube.resource import NODES, PODS, Resource

NODE, POD = Kind("v1", "Node"), Kind("v1", "Pod")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the controller is placed in: a cluster, chance and time."""

    plane: KubeletWriter
    reader: Reader
    random: Random
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp."""


class Controller:
    """Nodes, pods, leases, and any other kinds that there are stages for.

    Nodes and pods are followed even if there is no stage for them: nodes are held and pods have
    addresses all the same.
    """

    def __init__(self, settings: Settings, holder: str, around: Surroundings) -> None:
        """Hold leases as `holder`; must be called on the running loop."""
        self.metrics = Metrics()
        self.agenda = Agenda()
        self.pods_listed = asyncio.Event()
        """Set it when all pods are known: until then no new pod gets an address that one may have."""
        self._settings = settings
        self._around = around
        self._stages = by_kind(settings.stages)
        self._shared = functions.common(around.wall)
        self._world = World(
            agenda=self.agenda,
            player=Player(around.plane, around.reader, self.metrics, around.wall),
            reader=around.reader,
            metrics=self.metrics,
            random=around.random,
            wall=around.wall,
        )
        self._assemble(settings, holder, around)
        self.desk = Desk(self._addresses, self.agenda)
        self.metrics.ask(lambda: {("kwok_controller_waiting", ()): len(self.agenda)})

    def _assemble(self, settings: Settings, holder: str, around: Surroundings) -> None:
        nodes, kubelet = Nodes(), settings.kubelet
        addresses = PodAddresses(nodes, default_cidr=settings.cidr, node_ip=kubelet.ip)
        self._addresses = addresses
        self._fleet = Fleet(
            nodes, around.reader, self.agenda, around.random, syncs=settings.parallelism.syncs
        )
        self.keeper = self._keeper(settings, holder, around) if settings.lease_seconds else None
        leases = self.keeper or NoLeases(self._fleet.changed)
        node_care = NodeCare(
            nodes,
            settings.selection,
            functions.for_nodes(self._shared, kubelet),
            leases,
            self._fleet.gone,
        )
        pod_functions = functions.for_pods(self._shared, kubelet, addresses)
        pod_care = PodCare(nodes, settings.selection, addresses, pod_functions, leases)
        counts = settings.parallelism
        self.nodes = self._fleet.node_engine = self._engine(NODES, NODE, node_care, counts.nodes)
        self.pods = self._fleet.pod_engine = self._engine(PODS, POD, pod_care, counts.pods)
        self.metrics.ask(lambda: {("kwok_controller_pod_addresses", ()): len(addresses)})

    def _keeper(self, settings: Settings, holder: str, around: Surroundings) -> LeaseKeeper:
        return LeaseKeeper(
            Terms(holder=holder, duration=settings.lease_seconds),
            Outside(
                plane=around.plane,
                reader=around.reader,
                agenda=self.agenda,
                metrics=self.metrics,
                random=around.random,
                wall=around.wall,
            ),
            self._fleet.changed,
            workers=settings.parallelism.leases,
        )

    def seen(self, resource: Resource, version: int) -> None:
        """Take note that the watch of a kind has come to a version."""
        self._around.plane.seen(resource, version)
        self.desk.note(resource, version)

    def other_kinds(self) -> Mapping[Kind, Sequence[Stage]]:
        """Return the stages for kinds that are neither nodes nor pods."""
        return {kind: stages for kind, stages in self._stages.items() if kind not in {NODE, POD}}

    def other(self, resource: Resource, stages: Sequence[Stage]) -> Engine:
        """Make an engine for another kind."""
        kubelet = self._settings.kubelet
        care = PlainCare(functions.for_nodes(self._shared, kubelet))
        players = self._settings.parallelism.others
        return Engine(resource, stages, care, self._world, players=players)

    async def run(self) -> None:
        """Play and renew until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.nodes.run())
                tasks.create_task(self._run_pods())
                tasks.create_task(self._fleet.run())
                if self.keeper is not None:
                    tasks.create_task(self.keeper.run())
        finally:
            self.agenda.close()

    async def _run_pods(self) -> None:
        await self.pods_listed.wait()
        await self.pods.run()

    def _engine(self, resource: Resource, kind: Kind, care: Care[Any], players: int) -> Engine:
        return Engine(resource, self._stages.get(kind, ()), care, self._world, players=players)
