"""Runs the kubelet server as a process of its own, until a signal ends it."""

import asyncio
import socket
import sys
import time
from collections.abc import Coroutine, Sequence
from random import Random

from kwokctl import __version__
from kwokctl.embedded.cluster_access import cluster_access, keep_credential, with_credential
from kwokctl.embedded.component_process import (
    LogProgress,
    give_back_regularly,
    log,
    run_process,
    set_verbosity,
)
from kwokctl.embedded.http.listening import (
    listening_sockets,
    listening_sockets_nearby,
    server_tls,
)
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.kubelet.egress import EgressServer, egress_socket
from kwokctl.kubelet.general_routes import ALONE, Companion
from kwokctl.kubelet.settings import KubeletSettings, read_kubelet_settings
from kwokctl.kubelet.wiring import KubeletProcess
from kwokctl.tasks import beside

_CONNECTIONS = 8


def main(argv: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT, and return the exit code."""

    def begin() -> Coroutine[object, object, None]:
        given = sys.argv[1:] if argv is None else argv
        settings = read_kubelet_settings(given, LogProgress())
        set_verbosity(settings.verbosity)
        return serve(settings, cluster_access(settings.kubeconfig, settings.master))

    return run_process(begin)


async def serve(settings: KubeletSettings, access: Access) -> None:
    """Answer until cancelled; the cluster may come and go meanwhile."""
    await answer(settings, await with_credential(access))


async def answer(settings: KubeletSettings, access: Access, companion: Companion = ALONE) -> None:
    """Answer until cancelled, also for what else is in this process."""
    agent = f"kwok-kubelet/{__version__}"
    async with (
        Pool(access, connections=_CONNECTIONS, user_agent=agent) as pool,
        beside(keep_credential(pool, access)),
    ):
        await _serve(settings, Client(pool), companion)


async def _serve(settings: KubeletSettings, client: Client, companion: Companion) -> None:
    files = settings.tls
    tls = server_tls(files.certificate, files.key, files.client_ca) if files else None
    wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
    kubelet = KubeletProcess(settings, client, wall, Random(), companion)
    listening = _listening(settings)

    async def as_node(found: socket.socket, address: str) -> None:
        await kubelet.server.serve(found, tls, address)

    port = listening[0].getsockname()[1]
    log.info("answering as the kubelet of every fake node on port %d", port)
    async with asyncio.TaskGroup() as tasks:
        for work in kubelet.work():
            tasks.create_task(work())
        tasks.create_task(give_back_regularly())
        tasks.create_task(kubelet.server.run(listening, tls))
        if settings.egress_socket is not None:
            asked = await asyncio.to_thread(egress_socket, settings.egress_socket)
            tasks.create_task(EgressServer(as_node, settings.port).run(asked))


def _listening(settings: KubeletSettings) -> list[socket.socket]:
    """Listen where each node may have an address of its own."""
    hosts, port = settings.hosts, settings.port
    if not settings.gives_way:
        return listening_sockets(hosts, port, whole_loopback=True)
    serving = "health, metrics and kubelets"
    return listening_sockets_nearby(hosts, port, serving=serving, whole_loopback=True)
