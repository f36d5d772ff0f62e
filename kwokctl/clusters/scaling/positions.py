"""Which networks and addresses each set of nodes has, so that those of no two sets are the same.

A template counts on from where it starts (`AddCIDR`, `AddIP`); how far is the position of the object.
Sets that start alike share out the positions. The cluster itself remembers them, in a ConfigMap: it is
changed by its version, so that sets can be scaled at the same time, and is in every snapshot.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
import orjson

from kwokctl.clusters.scaling.ranges import Ranges
from kwokctl.clusters.scaling.reading import Reader
from kwokctl.clusters.scaling.request import LABEL, ScaleRequest
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.resource import CONFIG_MAPS, NODES

NAME, _NAMESPACE = "kwokctl-node-positions", "kube-system"
_PATIENCE = 10.0
_LOOK_AGAIN = 0.1


@dataclass(frozen=True, slots=True)
class Share:
    """What a set has."""

    starts: frozenset[str]
    """The networks and addresses that it counts on from."""
    positions: Ranges


@dataclass(frozen=True, slots=True)
class Page:
    """What is remembered, in a version."""

    shares: Mapping[str, Share]
    """By the names of sets."""
    version: str


class Book(Protocol):
    """Where the shares of all sets are remembered. Both methods raise ApiError."""

    async def read(self) -> Page | None:
        """Return what is remembered, None if nothing ever was."""
        ...

    async def write(self, page: Page) -> bool:
        """Remember a page in place of its version; False if it has been changed since."""
        ...


class Positions:
    """The positions of one set's objects: their serials until others are settled."""

    def __init__(self, request: ScaleRequest) -> None:
        """Begin with the serials."""
        self._request = request
        self._settled = Ranges()

    def of(self, serial: int) -> int:
        """Return the position of the object with a serial."""
        return self._settled[serial] if serial < len(self._settled) else serial

    async def settle(
        self, number: int, starts: Collection[str], book: Book, reader: Reader
    ) -> None:
        """Have a position for each of so many serials that no other set has.

        `starts` are the networks and addresses that the template counts on from.
        """
        name, wanted = self._request.set_name, frozenset(starts)
        while True:
            page = await book.read() or Page(await _as_serials(reader, wanted), "")
            own = page.shares.get(name)
            has = own.positions if own and own.starts == wanted else Ranges()
            others = [
                share.positions
                for set_name, share in page.shares.items()
                if set_name != name and share.starts & wanted
            ]
            self._settled = has.grown(number, others)
            if len(has) >= number:
                return
            share = Share(wanted, self._settled)
            if await book.write(Page({**page.shares, name: share}, page.version)):
                return

    async def give_back(self, number: int, book: Book) -> None:
        """Keep the positions of so many serials only: others may have the rest."""
        name = self._request.set_name
        while (page := await book.read()) is not None and name in page.shares:
            own = page.shares[name]
            if len(own.positions) <= number:
                return
            shares = {**page.shares, name: Share(own.starts, own.positions.first(number))}
            if not number:
                del shares[name]
            if await book.write(Page(shares, page.version)):
                return


async def _as_serials(reader: Reader, starts: frozenset[str]) -> dict[str, Share]:
    """Return the shares of sets of which none has been remembered: positions were serials then."""
    most: dict[str, int] = {}
    async for known in reader.select(NODES, None, LABEL):
        name = known.set_name or ""
        serial = known.name.removeprefix(f"{name}-")
        if serial.isdecimal():
            most[name] = max(most.get(name, 0), int(serial) + 1)
    return {name: Share(starts, Ranges([(0, number)])) for name, number in most.items()}


class _Written(msgspec.Struct):
    """A share as it is remembered."""

    starts: list[str]
    positions: str


class ClusterBook:
    """Remembers in a ConfigMap of the cluster."""

    def __init__(self, client: Client) -> None:
        """Ask through a client."""
        self._client = client

    async def read(self) -> Page | None:
        """Return what is remembered; what cannot be read counts as nothing."""
        found = await self._client.find(CONFIG_MAPS, _NAMESPACE, NAME)
        if found is None:
            return None
        shares = {name: _share(text) for name, text in (found.get("data") or {}).items()}
        return Page(shares, found["metadata"]["resourceVersion"])

    async def write(self, page: Page) -> bool:
        """Write a page, unless it has been changed since it was read."""
        metadata: dict[str, Any] = {"name": NAME, "namespace": _NAMESPACE}
        if page.version:
            metadata["resourceVersion"] = page.version
        data = {name: _text(share) for name, share in sorted(page.shares.items())}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        try:
            if page.version:
                await self._client.update(CONFIG_MAPS, _NAMESPACE, NAME, orjson.dumps(body))
            else:
                await self._create(orjson.dumps(body))
        except ApiError as e:
            if e.reason not in {"Conflict", "AlreadyExists"}:
                raise
            return False
        return True

    async def _create(self, body: bytes) -> None:
        """Create the ConfigMap; a cluster that has just been started gets its namespace in a moment."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PATIENCE
        while True:
            try:
                await self._client.create(CONFIG_MAPS, _NAMESPACE, body)
            except ApiError as e:
                if e.reason != "NotFound" or loop.time() > deadline:
                    raise
            else:
                return
            await asyncio.sleep(_LOOK_AGAIN)


def _text(share: Share) -> str:
    written = _Written(starts=sorted(share.starts), positions=str(share.positions))
    return msgspec.json.encode(written).decode()


def _share(text: str) -> Share:
    try:
        written = msgspec.json.decode(text, type=_Written)
        return Share(frozenset(written.starts), Ranges.read(written.positions))
    except ValueError:
        return Share(frozenset(), Ranges())
