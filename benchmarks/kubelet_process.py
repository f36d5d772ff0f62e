"""Runs a kubelet server in a process of its own, whose CPU time is read: that of clients is not in it."""

import asyncio
import multiprocessing
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from kwokctl.embedded.http.route_table import Route
from kwokctl.tasks import new_event_loop
from tests.support.kubelet_rig import serving_kubelet

_PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class MeteredKubelet:
    """A server that runs elsewhere."""

    port: int
    tls: ssl.SSLContext
    """How a client with a certificate dials it."""
    _pipe: Connection

    def cpu_seconds(self) -> float:
        """Return what it has spent."""
        self._pipe.send(True)
        spent: float = self._pipe.recv()
        return spent


@contextmanager
def metered_kubelet(routes: Callable[[], Sequence[Route]]) -> Iterator[MeteredKubelet]:
    """Serve what `routes` returns, a function of a module, in another process."""
    spawning = multiprocessing.get_context("spawn")
    here, there = spawning.Pipe()
    process = spawning.Process(target=_serve, args=(there, routes))
    process.start()
    try:
        port, ca, client = here.recv()
        yield MeteredKubelet(port, _dialling(ca, client), here)
    finally:
        here.close()
        process.join(_PATIENCE)


def _dialling(ca: bytes, client: bytes) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=ca.decode())
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(client)
        context.load_cert_chain(file.name)
    return context


def _serve(pipe: Connection, routes: Callable[[], Sequence[Route]]) -> None:
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_until_closed(pipe, routes()))


async def _until_closed(pipe: Connection, routes: Sequence[Route]) -> None:
    from tests.support.certificates import certificates

    known, ended = certificates(), asyncio.Event()
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        async with serving_kubelet(routes, Path(folder)) as kubelet:
            pipe.send((kubelet.port, known.ca, known.client.cert + known.client.key))
            loop = asyncio.get_running_loop()
            end = (loop.call_soon_threadsafe, ended.set)
            threading.Thread(target=_answer, args=(pipe, *end), daemon=True).start()
            await ended.wait()


def _answer(
    pipe: Connection, soon: Callable[[Callable[[], None]], object], end: Callable[[], None]
) -> None:
    try:
        while pipe.recv():
            pipe.send(time.process_time())
    except EOFError:
        soon(end)
