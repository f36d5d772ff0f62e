"""What our HTTP client costs: CPU of this process for each request, and for each watched event.

A server in a process of its own answers over TLS; `requests` does the same work for comparison.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import uvloop

from benchmarks.http_server import EVENTS, serving
from benchmarks.report import Row, report
from kwokctl.controller.engine.decoded import DecodedPod
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool

_REQUESTS, _IN_FLIGHT = 20_000, 32
_SLOW_REQUESTS = 300
_LEASE = b'{"metadata":{"name":"node-1"},"spec":{"leaseDurationSeconds":40}}' + b" " * 700


def main() -> None:
    """Measure and print."""
    with serving() as access:
        plain = _cpu(asyncio.run, _put, access) / _REQUESTS
        fast = _cpu(uvloop.run, _put, access) / _REQUESTS
        slow = _requests(access) / _SLOW_REQUESTS
        watched = _cpu(uvloop.run, _watch, access) / EVENTS
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
            if seen >= EVENTS:
                return


def _requests(access: Access) -> float:
    import requests  # only for comparison

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


if __name__ == "__main__":
    main()
