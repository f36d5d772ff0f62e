"""Puts the parts of the kubelet server together."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from random import Random

from kwokctl.config.config_documents import Document
from kwokctl.embedded.documents.custom_resource_watch import CustomResources, Use
from kwokctl.embedded.documents.verdicts import Verdicts
from kwokctl.embedded.http.http_server import HttpServer
from kwokctl.embedded.http.route_table import Route, RouteTable
from kwokctl.embedded.process_metrics import Labels, Metrics
from kwokctl.kube.client import Client
from kwokctl.kubelet.access.gate import Gate, node_of
from kwokctl.kubelet.access.reviews import Reviews
from kwokctl.kubelet.documents.document_reader import read_lookup
from kwokctl.kubelet.documents.in_force import lookup_uses
from kwokctl.kubelet.fleet.cluster_fleet import ClusterFleet
from kwokctl.kubelet.fleet.device_gauges import device_gauges
from kwokctl.kubelet.fleet.views import FleetView
from kwokctl.kubelet.general_routes import (
    ALONE,
    MEANINGS,
    REQUESTS,
    Companion,
    general_routes,
    without_debugging,
)
from kwokctl.kubelet.logs.container_logs import ContainerLogs
from kwokctl.kubelet.logs.file_changes import FileChanges
from kwokctl.kubelet.logs.log_documents import LOGS
from kwokctl.kubelet.logs.node_logs import NodeLogs
from kwokctl.kubelet.profiling import profiling_routes
from kwokctl.kubelet.relays import relay_routes
from kwokctl.kubelet.settings import KubeletSettings
from kwokctl.kubelet.streams.stream_routes import StreamRoutes
from kwokctl.kubelet.telemetry import nvidia_smi
from kwokctl.kubelet.telemetry.gpu_pages import GpuPages
from kwokctl.kubelet.telemetry.gpu_state import GpuStates
from kwokctl.kubelet.usage.node_meters import FleetMeters
from kwokctl.kubelet.usage.usage_routes import UsageRoutes
from kwokctl.kubelet.usage.usage_rules import read_usages


class KubeletSubjects:
    """Logs, streams and usage of a fleet, by the same documents."""

    def __init__(
        self,
        fleet: FleetView,
        documents: Sequence[Document],
        changes: FileChanges,
        wall: Callable[[], float],
    ) -> None:
        """Answer by the documents of files; ConfigError for those that are wrong."""
        logs = read_lookup(LOGS, documents)
        self._logs = ContainerLogs(fleet, logs, changes, wall)
        self._node_logs = NodeLogs(fleet)
        meters = FleetMeters(fleet, read_usages(documents), wall)
        self.gpus = GpuStates(meters)
        self.usage = UsageRoutes(fleet, documents, meters, GpuPages(self.gpus))
        programs = {nvidia_smi.NAME: nvidia_smi.NvidiaSmi(fleet, self.gpus, wall)}
        self._streams = StreamRoutes(fleet, documents, changes, os.environ, programs)
        self.uses: Mapping[str, Use] = {
            **lookup_uses(LOGS, logs, documents),
            **self._streams.uses,
            **self.usage.uses,
        }
        """The functions that put custom resources into force, by kind."""

    def routes(self) -> Iterable[Route]:
        """Return the paths of all subjects."""
        yield from self._logs.routes()
        yield from self._node_logs.routes()
        yield from self._streams.routes()
        yield from self.usage.routes()


_MISSING_MOST = 1.0
"""Seconds between looks for a kind that the cluster does not serve yet."""


class KubeletProcess:
    """The server, and what goes on beside it; made on the running loop."""

    def __init__(
        self,
        settings: KubeletSettings,
        client: Client,
        wall: Callable[[], float],
        random: Random,
        companion: Companion = ALONE,
    ) -> None:
        """Answer as `settings` say; ConfigError for documents that are wrong."""
        self._fleet = ClusterFleet(client, settings.selection, random)
        self._changes = FileChanges()
        self._metrics = Metrics(MEANINGS)
        self._metrics.ask(self._gauges)
        gate = Gate(
            Reviews(client, asyncio.get_running_loop().time),
            node_of(self._fleet),
            anonymous=settings.anonymous,
            allow_all=settings.allow_all,
        )
        self._subjects = KubeletSubjects(self._fleet, settings.documents, self._changes, wall)
        self._fleet.listen(self._subjects.usage.changed)
        self._custom = [
            CustomResources(
                client, kind, self._subjects.uses[kind], Verdicts(client, kind, wall), random,
                missing_most=_MISSING_MOST,
            )
            for kind in sorted(settings.custom_kinds)
        ]  # fmt: skip
        general = general_routes(self._metrics.text, self._is_ready, companion)
        profiling = profiling_routes(wall) if settings.profiling else ()
        relays = relay_routes(settings.relays)
        routes = [*general, *self._subjects.routes(), *profiling, *relays]
        offered = routes if settings.debugging else without_debugging(routes)
        self.server = HttpServer(RouteTable(list(offered)), gate.admit, self._count)

    def work(self) -> Iterable[Callable[[], Coroutine[object, None, None]]]:
        """Return what is to be run beside the server, until cancelled."""
        following = (each.run for each in self._custom)
        return (self._fleet.run, self._changes.run, self._subjects.usage.run, *following)

    def _is_ready(self) -> bool:
        """Tell whether all documents are known."""
        return all(each.are_known for each in self._custom)

    def _count(self, path: str, status: int) -> None:
        self._metrics.count(REQUESTS, path=path, status=str(status))

    def _gauges(self) -> Mapping[tuple[str, Labels], float]:
        nodes, pods = self._fleet.count()
        return {
            ("kwok_kubelet_connections", ()): self.server.connections,
            ("kwok_kubelet_objects", (("kind", "Node"),)): nodes,
            ("kwok_kubelet_objects", (("kind", "Pod"),)): pods,
            **device_gauges(self._fleet.nodes()),
        }
