"""A kubelet server for streams: pods in memory, documents as YAML, no credentials."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from kwokctl.config.config_documents import Document, load_documents
from kwokctl.embedded.http.http_server import Certificate, HttpServer
from kwokctl.embedded.http.listening import listening_sockets
from kwokctl.embedded.http.messages import Request
from kwokctl.embedded.http.route_table import RouteTable
from kwokctl.kubelet.fleet.views import ContainerView, PodView
from kwokctl.kubelet.logs.file_changes import FileChanges
from kwokctl.kubelet.streams.fake_programs import FakePrograms
from kwokctl.kubelet.streams.stream_routes import StreamRoutes
from kwokctl.tasks import beside

ANY_COMMAND = """
kind: ClusterExec
metadata: {name: any}
spec: {execs: [{local: {}}]}
"""
PATH = "/usr/local/bin:/usr/bin:/bin"


class Pods:
    """The pods of a fleet, of which streams need nothing else."""

    def __init__(self) -> None:
        names = ("main", "side")
        self.web = PodView(
            namespace="default", name="web", uid="u-1", node="node-0",
            containers=tuple(ContainerView(name=name) for name in names),
        )  # fmt: skip
        self.gone = False

    async def pod(self, namespace: str, name: str) -> PodView | None:
        is_known = (namespace, name) == (self.web.namespace, self.web.name)
        return self.web if is_known and not self.gone else None


def read_documents(text: str) -> list[Document]:
    return load_documents(["-"], stdin=text.encode)


@asynccontextmanager
async def serving(
    documents: str = ANY_COMMAND,
    pods: Pods | None = None,
    environment: Mapping[str, str] | None = None,
    programs: FakePrograms | None = None,
) -> AsyncIterator[int]:
    """Serve streams of `pods` while inside; yields the port."""
    changes = FileChanges()
    streams = StreamRoutes(
        pods or Pods(),
        read_documents(documents),
        changes,
        environment or {"PATH": PATH},
        programs or {},
    )
    server = HttpServer(RouteTable(list(streams.routes())), _admit)
    sockets = listening_sockets(["127.0.0.1"], 0)
    async with beside(server.run(sockets, None), changes.run()):
        yield sockets[0].getsockname()[1]


async def _admit(request: Request, certificate: Certificate) -> None:
    """Let everybody in."""
