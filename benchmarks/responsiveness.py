"""How late a process answers beside an idle one: the delay of its event loop, as it is seen from outside."""

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import cast

from kwokctl.tasks import new_event_loop

_EVERY = 0.02
"""Seconds between two requests to the same process."""
_SHARE = 0.999
_QUESTION = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
_OK = b"\r\n\r\nok"
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2" + _OK


@dataclass(slots=True)
class Delays:
    """The seconds that answers took."""

    seconds: list[float] = field(default_factory=list)

    def at(self, share: float) -> float:
        """Return what so large a share of the answers took at most."""
        ordered = sorted(self.seconds)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def later(process: Delays, idle: Delays) -> tuple[float, str]:
    """Return the milliseconds by which a process answers later than an idle one in 99.9 %, and a note."""
    slow, usual = process.at(_SHARE) * 1e3, idle.at(_SHARE) * 1e3
    note = f"{len(process.seconds)} answers: {slow:.0f} ms, an idle process {usual:.0f} ms"
    return max(slow - usual, 0.0), note


@contextmanager
def idle_process() -> Iterator[int]:
    """Run a process that does nothing but answer; yield its port."""
    here, there = multiprocessing.Pipe()
    spawning = multiprocessing.get_context("spawn")
    process = spawning.Process(target=_answer, args=(there,), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


async def keep_asking(port: int, found: Delays) -> None:
    """Ask the process at a port over and over until cancelled."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with closing(writer):
        while True:
            began = time.perf_counter()
            writer.write(_QUESTION)
            await reader.readuntil(_OK)
            found.seconds.append(time.perf_counter() - began)
            await asyncio.sleep(_EVERY)


def _answer(pipe: Connection) -> None:
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    server = await asyncio.get_running_loop().create_server(_Answering, "127.0.0.1", 0)
    pipe.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


class _Answering(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(_ANSWER)
