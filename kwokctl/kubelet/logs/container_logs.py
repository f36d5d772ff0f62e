"""Answers `/containerLogs/NAMESPACE/POD/CONTAINER`."""

import math
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing

from kwokctl.embedded.http.messages import TEXT, Answer, RefusedError, Request
from kwokctl.embedded.http.route_table import Route
from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import ContainerView, FleetView, PodView
from kwokctl.kubelet.logs.file_changes import FileChanges
from kwokctl.kubelet.logs.file_source import file_source
from kwokctl.kubelet.logs.generated import GeneratedLog, GeneratedSource, Period
from kwokctl.kubelet.logs.log_documents import GeneratedLines, LogsEntry
from kwokctl.kubelet.logs.log_lines import LogWriter
from kwokctl.kubelet.logs.log_query import LogQuery, log_query
from kwokctl.kubelet.logs.log_source import HasEnded, LogSource, end_of


class ContainerLogs:
    """The logs of all containers of the fleet."""

    def __init__(
        self,
        fleet: FleetView,
        documents: Lookup[LogsEntry],
        changes: FileChanges,
        wall: Callable[[], float],
    ) -> None:
        """Read what `documents` say; `wall` is the time of day."""
        self._fleet = fleet
        self._documents = documents
        self._changes = changes
        self._wall = wall

    def routes(self) -> Iterable[Route]:
        """Return where logs are requested."""
        yield Route(path="/containerLogs", is_tree=True, answer=self.answer, is_debugging=True)

    async def answer(self, request: Request) -> Answer:
        """Answer with lines; RefusedError says why there are none."""
        if len(request.segments) != 4:
            raise RefusedError(404, "not found")
        _, namespace, name, container = request.segments
        query = log_query(request, self._wall())
        pod, found = await self._container(namespace, name, container)
        source = await self._source(pod, found, query)
        lines = _written(source, query, end_of(self._fleet, pod, found))
        return Answer(200, lines, TEXT)

    async def _container(
        self, namespace: str, name: str, container: str
    ) -> tuple[PodView, ContainerView]:
        pod = await self._fleet.pod(namespace, name)
        if pod is None:
            raise RefusedError(404, f"pod '{namespace}/{name}' is on no fake node")
        found = pod.container(container)
        if found is None:
            raise RefusedError(404, f"pod '{namespace}/{name}' has no container '{container}'")
        return pod, found

    async def _source(self, pod: PodView, container: ContainerView, query: LogQuery) -> LogSource:
        entry = self._documents.find(pod, container.name)
        where = f"container '{container.name}' in pod '{pod.namespace}/{pod.name}'"
        if entry is None:
            raise RefusedError(400, f"no Logs or ClusterLogs document says what {where} writes")
        if entry.generated is not None:
            return self._generated(pod, container, query, entry.generated, where)
        path = entry.previous_logs_file if query.previous else entry.logs_file
        if not path and query.previous:
            raise RefusedError(400, f"previous terminated {where} not found")
        if not path:
            missing = "has neither 'logsFile' nor 'generated'"
            raise RefusedError(400, f"the entry of 'logs' for {where} {missing}")
        return await file_source(path, self._changes)

    def _generated(
        self,
        pod: PodView,
        container: ContainerView,
        query: LogQuery,
        entry: GeneratedLines,
        where: str,
    ) -> LogSource:
        restarts = container.restarts
        if query.previous:
            if container.previous is None:
                raise RefusedError(400, f"previous terminated {where} not found")
            period, restarts = Period(*container.previous), max(0, restarts - 1)
        elif not container.started_at:
            raise RefusedError(400, f"{where} is waiting to start")
        else:
            period = Period(container.started_at, container.finished_at or math.inf)
        return GeneratedSource(
            GeneratedLog(entry, pod, container.name, restarts, period), self._wall
        )


async def _written(source: LogSource, query: LogQuery, has_ended: HasEnded) -> AsyncIterator[bytes]:
    writer = LogWriter(query)
    async with aclosing(source.lines(query, has_ended)) as batches:
        async for lines in batches:
            yield writer.write(lines)
            if writer.is_full:
                return
