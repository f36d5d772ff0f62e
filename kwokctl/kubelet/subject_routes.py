"""All subjects of the kubelet server, with their paths and with the kinds of their documents."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from kwokctl.config.config_documents import Document
from kwokctl.embedded.documents.custom_resources import Use
from kwokctl.embedded.http.routes import Route
from kwokctl.kubelet.documents.in_force import lookup_uses
from kwokctl.kubelet.documents.reader import read_lookup
from kwokctl.kubelet.fleet.views import FleetView
from kwokctl.kubelet.logs.container_logs import ContainerLogs
from kwokctl.kubelet.logs.file_changes import FileChanges
from kwokctl.kubelet.logs.log_documents import LOGS
from kwokctl.kubelet.streams.stream_routes import StreamRoutes
from kwokctl.kubelet.usage.usage_routes import UsageRoutes


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
        self._streams = StreamRoutes(fleet, documents, changes, os.environ)
        self.usage = UsageRoutes(fleet, documents, wall)
        self.uses: Mapping[str, Use] = {
            **lookup_uses(LOGS, logs, documents),
            **self._streams.uses,
            **self.usage.uses,
        }
        """The functions that put custom resources into force, by kind."""

    def routes(self) -> Iterable[Route]:
        """Return the paths of all subjects."""
        yield from self._logs.routes()
        yield from self._streams.routes()
        yield from self.usage.routes()
