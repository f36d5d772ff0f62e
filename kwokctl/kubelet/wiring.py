"""Puts the parts of the kubelet server together."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from random import Random

from kwokctl.config.documents import Document
from kwokctl.embedded.metrics import Labels, Metrics
from kwokctl.kube.client import Client
from kwokctl.kubelet.access.gate import Gate
from kwokctl.kubelet.access.reviews import Reviews
from kwokctl.kubelet.access.target import node_of
from kwokctl.kubelet.documents.reader import read_lookup
from kwokctl.kubelet.fleet.cluster_fleet import ClusterFleet
from kwokctl.kubelet.general_routes import (
    MEANINGS,
    REQUESTS,
    general_routes,
    without_debugging,
)
from kwokctl.kubelet.http.routes import Route, RouteTable
from kwokctl.kubelet.http.server import KubeletServer
from kwokctl.kubelet.logs.container_logs import ContainerLogs
from kwokctl.kubelet.logs.entries import LOGS
from kwokctl.kubelet.logs.file_changes import FileChanges
from kwokctl.kubelet.settings import KubeletSettings
from kwokctl.kubelet.streams.routes import stream_routes
from kwokctl.kubelet.usage.routes import UsageRoutes


class KubeletProcess:
    """The server, and what goes on beside it; made on the running loop."""

    def __init__(
        self,
        settings: KubeletSettings,
        client: Client,
        wall: Callable[[], float],
        random: Random,
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
        routes = [*general_routes(self._metrics.text), *self._subjects(settings.documents, wall)]
        offered = routes if settings.debugging else without_debugging(routes)
        self.server = KubeletServer(RouteTable(list(offered)), gate.admit, self._count)

    def work(self) -> Iterable[Callable[[], Coroutine[object, None, None]]]:
        """Return what is to be run beside the server, until cancelled."""
        return (self._fleet.run, self._changes.run)

    def _subjects(
        self, documents: Sequence[Document], wall: Callable[[], float]
    ) -> Iterable[Route]:
        """Return the routes of all subjects."""
        logs = read_lookup(LOGS, documents)
        yield from ContainerLogs(self._fleet, logs, self._changes, wall).routes()
        yield from stream_routes(self._fleet, documents, self._changes, os.environ)
        usage = UsageRoutes(self._fleet, documents, wall)
        self._fleet.listen(usage.changed)
        yield from usage.routes()

    def _count(self, path: str, status: int) -> None:
        self._metrics.count(REQUESTS, path=path, status=str(status))

    def _gauges(self) -> Mapping[tuple[str, Labels], float]:
        nodes, pods = self._fleet.count()
        return {
            ("kwok_kubelet_connections", ()): self.server.connections,
            ("kwok_kubelet_objects", (("kind", "Node"),)): nodes,
            ("kwok_kubelet_objects", (("kind", "Pod"),)): pods,
        }
