"""What is asked of every client: what the product asks of the API server most."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping

import msgspec

from benchmarks.http_libraries.http_client import HttpClient
from kwokctl.controller.engine.decoded import DecodedPod
from kwokctl.kube.transport.stream import Lines

_IN_FLIGHT = 32
_STATUS = b'{"status":{"phase":"Running"}}' + b" " * 700
_MERGE = "application/strategic-merge-patch+json"
_POD = "/api/v1/namespaces/default/pods/pod-000001/status"
_WATCH = "/api/v1/pods?watch=true&events="


class _Event(msgspec.Struct):
    type: str
    object: DecodedPod


async def patch(client: HttpClient, count: int, _run: str) -> None:
    """Send statuses of pods, many at a time; each answer is the whole pod."""
    numbers = iter(range(count))
    async with asyncio.TaskGroup() as tasks:
        for _ in range(_IN_FLIGHT):
            tasks.create_task(_patch(client, numbers))


async def _patch(client: HttpClient, numbers: Iterator[int]) -> None:
    for _ in numbers:
        answer = await client.request("PATCH", _POD, _STATUS, _MERGE)
        assert answer.status == 200
        assert len(answer.body) > 3_000


async def watch(client: HttpClient, count: int, _run: str) -> None:
    """Read a watch to its end, and decode what the controller needs of each event."""
    decode = msgspec.json.Decoder(_Event).decode
    lines, seen = Lines(), 0
    async for piece in client.pieces(f"{_WATCH}{count}"):
        seen += len([decode(line) for line in lines.feed(piece)])
    assert seen == count


WORK: Mapping[str, Callable[[HttpClient, int, str], Awaitable[None]]] = {
    "patch": patch,
    "watch": watch,
}
