"""A kubelet server on a loopback port, with a fleet and rights that a test gives it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from kwokctl.embedded.http.http_server import Admit, Certificate, HttpServer
from kwokctl.embedded.http.listening import listening_sockets, server_tls
from kwokctl.embedded.http.messages import Request
from kwokctl.embedded.http.route_table import Route, RouteTable
from kwokctl.kubelet.access.reviews import ClientIdentity, NodeAccess
from kwokctl.kubelet.fleet.cluster_fleet import FleetMemory
from kwokctl.kubelet.fleet.views import ContainerView, NodeView, PodView
from tests.support.certificates import Pair, certificates


def pod(
    name: str = "app", *containers: ContainerView, namespace: str = "default", node: str = "n"
) -> PodView:
    """Return a pod with one running container unless others are given."""
    return PodView(
        namespace=namespace,
        name=name,
        uid=f"{name}-uid",
        node=node,
        containers=containers or (ContainerView(name="c", is_running=True, started_at=1000.0),),
    )


class FakeFleet(FleetMemory):
    """A `FleetView` that knows everything at once."""

    def __init__(self, *pods: PodView) -> None:
        super().__init__()
        for each in pods:
            self.put_node(NodeView(name=each.node, uid=f"{each.node}-uid"))
            self.put_pod(each)

    async def pod(self, namespace: str, name: str) -> PodView | None:  # type: ignore[override]  # memory need not wait
        return super().pod(namespace, name)

    async def watched(self) -> None:
        return


@dataclass
class FakeReviewer:
    """Knows tokens by their users, and rights by user, subresource and node."""

    tokens: Mapping[str, str] = field(default_factory=dict)
    rights: frozenset[tuple[str, str, str]] = frozenset()
    asked: list[NodeAccess] = field(default_factory=list)

    async def holder(self, token: str) -> ClientIdentity | None:
        name = self.tokens.get(token)
        return ClientIdentity(username=name) if name else None

    async def allows(self, who: ClientIdentity, access: NodeAccess) -> bool:
        self.asked.append(access)
        return (who.username, access.subresource, access.node) in self.rights


async def everybody(request: Request, certificate: Certificate) -> None:
    """Let every client pass."""


@dataclass(frozen=True, slots=True)
class KubeletAt:
    """A server that runs."""

    port: int
    server: HttpServer

    async def connect(
        self, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection."""
        name = "localhost" if tls else None
        return await asyncio.open_connection(host, self.port, ssl=tls, server_hostname=name)

    async def ask(
        self, *lines: str, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
    ) -> str:
        """Send a request, and return all that comes until the server closes."""
        reader, writer = await self.connect(tls, host)
        writer.write(("\r\n".join((*lines, "Connection: close")) + "\r\n\r\n").encode())
        answer = (await reader.read()).decode()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        return answer

    async def status(self, *lines: str, tls: ssl.SSLContext | None = None) -> int:
        """Send a request, and return the status of the answer."""
        return int((await self.ask(*lines, tls=tls)).split(" ")[1])


@asynccontextmanager
async def serving_kubelet(
    routes: Iterable[Route], folder: Path, admit: Admit = everybody
) -> AsyncIterator[KubeletAt]:
    """Serve these routes, over TLS with the certificate of `certificates()`."""
    server = HttpServer(RouteTable(list(routes)), admit)
    listening = listening_sockets(["127.0.0.1"], 0, whole_loopback=True)
    tls = await asyncio.to_thread(kubelet_tls, folder)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(server.run(listening, tls))
        yield KubeletAt(listening[0].getsockname()[1], server)
        running.cancel()


def kubelet_tls(folder: Path) -> ssl.SSLContext:
    """Return how the server is dialled: with the certificate of `certificates()`."""
    known = certificates()
    cert, key, ca = folder / "server.crt", folder / "server.key", folder / "ca.crt"
    _write({cert: known.server.cert, key: known.server.key, ca: known.ca})
    return server_tls(cert, key, ca)


def client_tls(pair: Pair | None = None) -> ssl.SSLContext:
    """Return how a client dials, with a certificate of its own or without one."""
    context = ssl.create_default_context(cadata=certificates().ca.decode())
    context.set_alpn_protocols(["h2", "http/1.1"])
    if pair is not None:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            path = Path(folder, "client.pem")
            path.write_bytes(pair.cert + pair.key)
            context.load_cert_chain(path)
    return context


def _write(files: Mapping[Path, bytes]) -> None:
    for path, content in files.items():
        path.write_bytes(content)
