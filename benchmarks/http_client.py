"""What our HTTP client costs: CPU of this process for each request, and for each watched event.

A server in a process of its own answers over TLS; `requests` does the same work for comparison.
"""

import asyncio
import multiprocessing
import time
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import uvloop

from benchmarks.report import Row, report
from kwokctl.controller.engine.decoded import DecodedPod
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool
from tests.support.certificates import certificates

_REQUESTS, _IN_FLIGHT = 20_000, 32
_SLOW_REQUESTS = 300
_EVENTS = 60_000
_LEASE = b'{"metadata":{"name":"node-1"},"spec":{"leaseDurationSeconds":40}}' + b" " * 700
_HEAD = b"HTTP/1.1 200 OK\r\nAudit-Id: 1b2c\r\nContent-Type: application/json\r\nContent-Length: "


def main() -> None:
    """Measure and print."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    server.start()
    access = Access(server=f"https://localhost:{here.recv()}", ca=here.recv())
    try:
        plain = _cpu(asyncio.run, _put, access) / _REQUESTS
        fast = _cpu(uvloop.run, _put, access) / _REQUESTS
        slow = _requests(access) / _SLOW_REQUESTS
        watched = _cpu(uvloop.run, _watch, access) / _EVENTS
    finally:
        server.terminate()
        server.join()
    rows = [
        Row("a PUT with uvloop", fast * 1e6, "us CPU", goal=45),
        Row("a PUT with asyncio", plain * 1e6, "us CPU", goal=77),
        Row("a PUT with requests", slow * 1e6, "us CPU"),
        Row("requests / ours with uvloop", slow / fast, "times"),
        Row("watched events with typed decode", 1 / watched, "/s/core", goal=20_000, at_least=True),
    ]
    report("HTTP client, over TLS, server in another process", rows)


def _cpu(run: Callable[[Coroutine[Any, Any, None]], None], work: Any, access: Access) -> float:
    """Return the CPU seconds of this process, the least of three turns."""
    turns = []
    for _ in range(3):
        began = time.process_time()
        run(work(access))
        turns.append(time.process_time() - began)
    return min(turns)


async def _put(access: Access) -> None:
    async with Pool(access, connections=_IN_FLIGHT) as pool:

        async def some() -> None:
            for _ in range(_REQUESTS // _IN_FLIGHT):
                await pool.request("PUT", "/apis/x/leases/node-1", body=_LEASE)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(_IN_FLIGHT):
                tasks.create_task(some())


async def _watch(access: Access) -> None:
    seen = 0
    async with (
        Pool(access) as pool,
        aclosing(watch(pool, PODS, decoder=msgspec.json.Decoder(DecodedPod).decode)) as batches,
    ):
        async for batch in batches:
            seen += len(batch)
            if seen > _EVENTS:
                return


def _requests(access: Access) -> float:
    import requests  # noqa: PLC0415 - only for comparison

    assert access.ca is not None
    with TemporaryDirectory() as folder, requests.Session() as session:
        path = Path(folder, "ca.crt")
        path.write_bytes(access.ca)
        url = f"{access.server}/apis/x/leases/node-1"
        session.put(url, data=_LEASE, verify=str(path), timeout=30)
        began = time.process_time()
        for _ in range(_SLOW_REQUESTS):
            session.put(url, data=_LEASE, verify=str(path), timeout=30)
        return time.process_time() - began


def _serve(pipe: Connection) -> None:
    uvloop.run(_listen(pipe))


async def _listen(pipe: Connection) -> None:
    known = certificates()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Server, "127.0.0.1", 0, ssl=known.server_context())
    pipe.send(server.sockets[0].getsockname()[1])
    pipe.send(known.ca)
    await server.serve_forever()


class _Server(asyncio.Protocol):
    """Answers every PUT with what it was sent, a list with none, a watch with all events at once."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        if self._data.startswith(b"PUT"):
            _, end, body = self._data.partition(b"\r\n\r\n")
            if not end or len(body) < len(_LEASE):
                return
            self._answer(body)
        elif b"watch=true" in self._data:
            self._transport.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            event = msgspec.json.encode({"type": "MODIFIED", "object": _pod()}) + b"\n"
            chunk = b"%x\r\n%b\r\n" % (len(event), event)
            for _ in range(_EVENTS // 100):
                self._transport.write(chunk * 100)
        else:
            self._answer(b'{"metadata":{"resourceVersion":"10"},"items":[]}')
        self._data = b""

    def _answer(self, body: bytes) -> None:
        self._transport.write(b"%b%d\r\n\r\n%b" % (_HEAD, len(body), body))


def _pod() -> dict[str, Any]:
    """Return a pod of about 3.4 KB, with managed fields as pods have them."""
    field = {"manager": "kubelet", "operation": "Update", "fieldsV1": {"f:status": {}}}
    return {
        "metadata": {
            "name": "pod-000001",
            "namespace": "default",
            "uid": "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
            "resourceVersion": "123456",
            "labels": {"app": "pod", "set": "pod"},
            "managedFields": [field | {"time": "2026-01-01T00:00:00Z"}] * 14,
        },
        "spec": {
            "nodeName": "node-000001",
            "containers": [{"name": "c", "image": "registry/image:1", "resources": {}}],
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}] * 2,
        },
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "podIPs": [{"ip": "10.0.0.1"}],
            "conditions": [{"type": f"Condition{n}", "status": "True"} for n in range(30)],
        },
    }


if __name__ == "__main__":
    main()
