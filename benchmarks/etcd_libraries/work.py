"""What is asked of every client: what the product asks of etcd most."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping

from benchmarks.etcd_libraries.clients import Store
from kwokctl.etcd.kv.kv import Compare, Put, Txn

_IN_FLIGHT = 64
LEASES_PER_TRANSACTION = 128
"""Leases of a transaction."""
_PAGE = 500
_LEASE = b"x" * 450
_KEPT = b"/registry/kept/"
_KEPT_END = b"/registry/kept0"
KEPT = 10_000
"""Keys that `fill` writes and `read` reads."""


async def create(store: Store, count: int, run: str) -> None:
    """Create objects of 2 to 10 kB, as `scale` does: one transaction each, many under way."""
    numbers = iter(range(count))
    async with asyncio.TaskGroup() as tasks:
        for _ in range(_IN_FLIGHT):
            tasks.create_task(_create(store, numbers, f"/registry/pods/{run}/pod-"))


async def _create(store: Store, numbers: Iterator[int], prefix: str) -> None:
    for number in numbers:
        key = f"{prefix}{number:06d}".encode()
        value = b"x" * (2_000 + number * 7919 % 8_000)
        answer = await store.txn(Txn((Compare(key, 0, of_creation=True),), (Put(key, value),)))
        assert answer.succeeded


async def renew(store: Store, count: int, run: str) -> None:
    """Rewrite leases, as heartbeats do: 128 in a transaction, each compared with its version."""
    keys = [f"/registry/leases/{run}/node-{n:06d}".encode() for n in range(LEASES_PER_TRANSACTION)]
    first = Txn((), tuple(Put(key, _LEASE) for key in keys))
    revision = (await store.txn(first)).revision
    for _ in range(count // LEASES_PER_TRANSACTION):
        compares = tuple(Compare(key, revision) for key in keys)
        answer = await store.txn(Txn(compares, tuple(Put(key, _LEASE) for key in keys)))
        assert answer.succeeded
        revision = answer.revision


async def fill(store: Store) -> None:
    """Write what `read` reads."""
    for start in range(0, KEPT, LEASES_PER_TRANSACTION):
        numbers = range(start, min(start + LEASES_PER_TRANSACTION, KEPT))
        await store.txn(Txn((), tuple(Put(_KEPT + b"%06d" % n, b"x" * 3_000) for n in numbers)))


async def read(store: Store, count: int, _run: str) -> None:
    """Read `count` keys of 3 kB in pages of 500, from the first again when all are read."""
    start, seen = _KEPT, 0
    while seen < count:
        page = await store.page(start, _KEPT_END, limit=_PAGE)
        start = page.items[-1].key + b"\0" if page.more else _KEPT
        seen += len(page.items)


WORK: Mapping[str, Callable[[Store, int, str], Awaitable[None]]] = {
    "create": create,
    "renew": renew,
    "read": read,
}
