"""Gives every node of a set its own networks and addresses, which no other set has.

A template counts on from where it starts (`AddCIDR`, `AddIP`); how far is the position of the object.
Sets with the same start share the positions. The cluster itself remembers them, in a ConfigMap: it is
changed by its version, so that sets can be scaled at the same time, and is in every snapshot.

Tens of thousands of copies count from the same few starts: each is read once, and counting is done
with plain integers.
"""

from collections.abc import Collection, Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, ip_address, ip_network
from socket import AF_INET6, inet_ntoa, inet_ntop
from typing import Protocol

import msgspec

from kwokctl.clusters.scaling.changes import Ranges
from kwokctl.clusters.scaling.cluster_reader import ClusterReader
from kwokctl.clusters.scaling.objects.stored_texts import TextPage, TextStore
from kwokctl.clusters.scaling.scale_request import LABEL, ScaleRequest
from kwokctl.errors import CapacityError, ExpressionError
from kwokctl.kube.resource import NODES

NAME = "kwokctl-node-positions"
"""Of the ConfigMap that remembers them."""
_PRIVATE = tuple(
    map(
        IPv4Network,
        ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15"),
    )
)
"""Networks that are not routed on the internet (RFC 6890): addresses that begin in one of them stay in it."""


class Share(msgspec.Struct, frozen=True):
    """The positions of a set."""

    starts: frozenset[str]
    """The networks and addresses that it counts on from."""
    positions: Ranges


class BookPage(msgspec.Struct, frozen=True):
    """The shares as they are stored, with their version."""

    shares: Mapping[str, Share]
    """By the names of sets."""
    version: str


class Book(Protocol):
    """Stores the shares of all sets. Both methods raise ApiError."""

    async def read(self) -> BookPage | None:
        """Return the stored page, None if there has never been one."""
        ...

    async def write(self, page: BookPage) -> bool:
        """Replace a page; False if it has been changed since it was read."""
        ...


class Positions:
    """The positions of one set's objects: their serials until others are settled."""

    def __init__(self, request: ScaleRequest) -> None:
        self._request = request
        self._settled = Ranges()

    def of(self, serial: int) -> int:
        """Return the position of the object with a serial."""
        return self._settled[serial] if serial < len(self._settled) else serial

    async def settle(
        self, number: int, starts: Collection[str], book: Book, reader: ClusterReader
    ) -> None:
        """Reserve a position that no other set has for each of a number of serials.

        `starts` are the networks and addresses that the template counts on from. Raises CapacityError if they do not
        suffice, unless that is forced.
        """
        name, wanted = self._request.set_name, frozenset(starts)
        while True:
            page = await book.read() or BookPage(await _as_serials(reader, wanted), "")
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
            if not self._request.force:
                _demand_addresses(wanted, max(last for _, last in self._settled.spans))
            share = Share(wanted, self._settled)
            if await book.write(BookPage({**page.shares, name: share}, page.version)):
                return

    async def give_back(self, number: int, book: Book) -> None:
        """Keep the positions of this number of serials only: other sets may use the rest."""
        name = self._request.set_name
        while (page := await book.read()) is not None and name in page.shares:
            own = page.shares[name]
            if len(own.positions) <= number:
                return
            shares = {**page.shares, name: Share(own.starts, own.positions.first(number))}
            if not number:
                del shares[name]
            if await book.write(BookPage(shares, page.version)):
                return


async def _as_serials(reader: ClusterReader, starts: frozenset[str]) -> dict[str, Share]:
    """Return the shares of sets without a stored share: their positions were serials."""
    most: dict[str, int] = {}
    async for known in reader.select(NODES, None, LABEL, cached=True):
        name = known.set_name or ""
        serial = known.name.removeprefix(f"{name}-")
        if serial.isdecimal():
            most[name] = max(most.get(name, 0), int(serial) + 1)
    return {name: Share(starts, Ranges([(0, number)])) for name, number in most.items()}


def _demand_addresses(starts: Collection[str], number: int) -> None:
    """Raise CapacityError if this number of positions would need addresses beyond the private network in which they begin."""
    for start in sorted(starts):
        first = _network(start) if "/" in start else _address(start)
        block = next((each for each in _PRIVATE if first.is_in(each)), None)
        if block is None:
            continue
        room = (int(block.broadcast_address) + 1 - first.address) // first.step
        if number > room:
            raise CapacityError(
                f"there are not enough addresses: '{start}' is followed by {room:,} networks or addresses of "
                f"{block}, and {number:,} are needed",
                hint="begin with lower or smaller ones, with --param for '.podCIDRs' and '.nodeIPs'; --force counts on",
            )


class _Written(msgspec.Struct):
    """A share as it is stored."""

    starts: list[str]
    positions: str


class ClusterBook:
    """Stores shares in a ConfigMap of the cluster."""

    def __init__(self, texts: TextStore) -> None:
        self._texts = texts

    async def read(self) -> BookPage | None:
        """Return the stored shares; one that cannot be read is ignored."""
        found = await self._texts.read()
        if found is None:
            return None
        return BookPage({name: _share(text) for name, text in found.texts.items()}, found.version)

    async def write(self, page: BookPage) -> bool:
        """Write a page, unless it has been changed since it was read."""
        texts = {name: _text(share) for name, share in page.shares.items()}
        return await self._texts.write(TextPage(texts, page.version))


def _text(share: Share) -> str:
    written = _Written(starts=sorted(share.starts), positions=str(share.positions))
    return msgspec.json.encode(written).decode()


def _share(text: str) -> Share:
    try:
        written = msgspec.json.decode(text, type=_Written)
        return Share(frozenset(written.starts), Ranges.read(written.positions))
    except ValueError:
        return Share(frozenset(), Ranges())


class _Start(msgspec.Struct, frozen=True):
    """The network or address from which counting begins."""

    address: int
    step: int
    """The number of addresses between one value and the next."""
    end: int
    """The number of addresses."""
    version: int
    suffix: str = ""

    def is_in(self, block: IPv4Network) -> bool:
        """Return whether it begins in a network."""
        begins, ends = int(block.network_address), int(block.broadcast_address)
        return self.version == block.version and begins <= self.address <= ends

    def moved(self, count: int) -> str | None:
        """Return the network or address `count` steps further, None where the addresses end."""
        address = self.address + count * self.step
        if not 0 <= address < self.end:
            return None
        return _written(address, self.version) + self.suffix


def add_cidr(cidr: str, count: int) -> str:
    """Return the network of the same size that lies `count` networks after `cidr`.

    Counting is plain: the 65,536th /24 after 10.0.0.0/24 is 11.0.0.0/24. It never starts over, so
    no two counts give the same network; ExpressionError is raised where the addresses end.
    """
    moved = _network(str(cidr)).moved(_whole(count, "AddCIDR"))
    if moved is None:
        raise ExpressionError(
            f"AddCIDR: there are no {count} networks of the size of '{cidr}' after it",
            hint="start from a lower network, or use smaller ones, with --param",
        )
    return moved


def add_ip(address: str, count: int) -> str:
    """Return the address that lies `count` addresses after `address`.

    Raises ExpressionError where the addresses end.
    """
    moved = _address(str(address)).moved(_whole(count, "AddIP"))
    if moved is None:
        raise ExpressionError(
            f"AddIP: there are no {count} addresses after '{address}'",
            hint="start from a lower address with --param",
        )
    return moved


@lru_cache(maxsize=256)
def _network(cidr: str) -> _Start:
    try:
        network = ip_network(cidr, strict=False)
    except ValueError as e:
        raise ExpressionError(f"AddCIDR: '{cidr}' is not a network such as 10.0.0.0/24") from e
    return _Start(
        address=int(network.network_address),
        step=network.num_addresses,
        end=1 << network.max_prefixlen,
        version=network.version,
        suffix=f"/{network.prefixlen}",
    )


@lru_cache(maxsize=256)
def _address(address: str) -> _Start:
    try:
        first = ip_address(address)
    except ValueError as e:
        raise ExpressionError(f"AddIP: '{address}' is not an address such as 192.0.2.1") from e
    return _Start(address=int(first), step=1, end=1 << first.max_prefixlen, version=first.version)


def _written(address: int, version: int) -> str:
    if version == 4:
        return inet_ntoa(address.to_bytes(4, "big"))
    if address >> 96:
        return inet_ntop(AF_INET6, address.to_bytes(16, "big"))
    return str(IPv6Address(address))  # libraries differ in those that hold an IPv4 address


def _whole(count: object, function: str) -> int:
    if not isinstance(count, int) or isinstance(count, bool):
        raise ExpressionError(f"{function}: '{count}' is not a whole number")
    return count
