"""A server for benchmarks of HTTP clients, in a process of its own: it answers over TLS, at once."""

import asyncio
import multiprocessing
import re
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import msgspec
import uvloop

from kwokctl.kube.kubeconfig.access import Access
from tests.support.certificates import certificates

EVENTS = 60_000
"""How many events a watch gets without `events=`."""
_HEAD = b"HTTP/1.1 200 OK\r\nAudit-Id: 1b2c\r\nContent-Type: application/json\r\nContent-Length: "
_LENGTH = b"content-length: "
_ASKED_FOR = re.compile(rb"events=(\d+)")


@contextmanager
def serving() -> Iterator[Access]:
    """Run it meanwhile; yield how it is reached."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    server.start()
    try:
        yield Access(server=f"https://localhost:{here.recv()}", ca=here.recv())
    finally:
        server.terminate()
        server.join()


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
    """Answers a PUT with what it was sent, a PATCH with a pod, a list with none; a watch with all
    events at once."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, end, body = self._data.partition(b"\r\n\r\n")
        if not end or len(body) < _length(head):
            return
        self._data = b""
        if head.startswith(b"PUT"):
            self._answer(body)
        elif head.startswith(b"PATCH"):
            self._answer(_POD)
        elif b"watch=true" in head:
            self._watch(_events(head))
        else:
            self._answer(b'{"metadata":{"resourceVersion":"10"},"items":[]}')

    def _watch(self, count: int) -> None:
        self._transport.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        event = msgspec.json.encode({"type": "MODIFIED", "object": msgspec.Raw(_POD)}) + b"\n"
        chunk = b"%x\r\n%b\r\n" % (len(event), event)
        for _ in range(count // 100):
            self._transport.write(chunk * 100)
        self._transport.write(b"0\r\n\r\n")

    def _answer(self, body: bytes) -> None:
        self._transport.write(b"%b%d\r\n\r\n%b" % (_HEAD, len(body), body))


def _events(head: bytes) -> int:
    found = _ASKED_FOR.search(head)
    return int(found[1]) if found else EVENTS


def _length(head: bytes) -> int:
    rest = head.lower().partition(_LENGTH)[2]
    return int(rest.partition(b"\r\n")[0] or 0)


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


_POD = msgspec.json.encode(_pod())
