"""Reads leases that may have changed: few by themselves, many with one list."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from kwokctl.controller.object_reader import ObjectReader
from kwokctl.dataplane.leases.decode import StoredLease, read_lease
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError, RequestError
from kwokctl.kube.resource import LEASES, NODE_LEASES

_FEW = 4
"""Up to this number of Leases of others, each is read by itself."""
_LISTED = 40
"""The number of leases whose list costs as much as reading one by itself."""
_PAUSE = 0.25
_SHARE = 4
"""Seconds between two lists, and at least how many times as long as the last one took."""


def nodes_by_holder(leases: Iterable[StoredLease]) -> Mapping[str, list[str]]:
    """Return the names of leases, which are those of their nodes, by their holders."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for lease in leases:
        found[lease.holder].append(lease.name)
    return found


def newest(leases: Iterable[StoredLease]) -> dict[str, StoredLease]:
    """Return the newest version of each lease, by its name: a list may be older than a watch."""
    found: dict[str, StoredLease] = {}
    for lease in leases:
        if lease.name not in found or found[lease.name].number < lease.number:
            found[lease.name] = lease
    return found


class Onlooker(Protocol):
    """A listener for the states of Leases."""

    def listed(self, leases: Iterable[StoredLease]) -> None:
        """Note all leases."""
        ...

    def found(self, node: str, lease: StoredLease) -> None:
        """Note one lease."""
        ...

    def missed(self, node: str, error: RequestError) -> None:
        """Note that a lease does not exist, or could not be read."""
        ...


class Sightings:
    """Looks at leases for one onlooker."""

    def __init__(
        self, reader: ObjectReader, onlooker: Onlooker, counts: Callable[[], tuple[int, int]]
    ) -> None:
        """Read with `reader`; `counts` returns how many leases others hold, and of how many."""
        self._reader = reader
        self._onlooker = onlooker
        self._counts = counts
        self._asked: dict[str, None] = {}
        self._lists = False
        self._wake = asyncio.Event()

    def ask(self, node: str) -> None:
        """Look at one lease soon."""
        self._asked[node] = None
        self._wake.set()

    def ask_all(self) -> None:
        """Look at all leases soon."""
        self._lists = True
        self._wake.set()

    async def run(self) -> None:
        """Look until cancelled."""
        clock = asyncio.get_running_loop().time
        while True:
            await self._wake.wait()
            self._wake.clear()
            asked, self._asked = self._asked, {}
            lists, self._lists = self._lists, False
            if not lists and self._are_few():
                await asyncio.gather(*map(self.read, asked))
                continue
            began = clock()
            await self._list(asked)
            await asyncio.sleep(max(_PAUSE, _SHARE * (clock() - began)))

    def _are_few(self) -> bool:
        foreign, all_leases = self._counts()
        return foreign <= max(_FEW, all_leases / _LISTED)

    async def read(self, node: str) -> None:
        """Look at one lease now."""
        try:
            raw = await self._reader.get(ObjectKey(LEASES, NODE_LEASES, node))
        except RequestError as e:
            self._onlooker.missed(node, e)
        else:
            self._onlooker.found(node, read_lease(raw))

    async def _list(self, asked: Iterable[str]) -> None:
        try:
            pages = self._reader.cached(LEASES, NODE_LEASES)
            leases = {
                (lease := read_lease(raw)).name: lease async for page in pages for raw in page
            }
        except RequestError as e:
            for node in asked:
                self._onlooker.missed(node, e)
            return
        self._onlooker.listed(leases.values())
        gone = ApiError("not in the list of leases", status=404, reason="NotFound")
        for node in asked:
            if node not in leases:
                self._onlooker.missed(node, gone)
