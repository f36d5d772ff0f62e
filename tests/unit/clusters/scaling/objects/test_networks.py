import asyncio
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_address
from typing import Any

import pytest

from kwokctl.clusters.scaling.cluster_reader import Existing
from kwokctl.clusters.scaling.objects.networks import BookPage, Positions, add_cidr, add_ip
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.errors import CapacityError, ExpressionError
from kwokctl.replacing import replace

STARTS = frozenset({"10.0.0.0/25", "198.18.0.1"})


class Remembered:
    """A book in memory, which hands a turn to others between reading and writing."""

    def __init__(self) -> None:
        self.page: BookPage | None = None

    async def read(self) -> BookPage | None:
        page = self.page
        await asyncio.sleep(0)
        return page

    async def write(self, page: BookPage) -> bool:
        now = self.page.version if self.page else ""
        if page.version != now:
            return False
        self.page = replace(page, version=f"{int(now or 0) + 1}")
        return True


class Nodes:
    """The nodes of sets that were made before positions were remembered."""

    def __init__(self, *names: str) -> None:
        self._names = names

    async def select(self, *_: Any, **__: Any) -> AsyncIterator[Existing]:
        for name in self._names:
            yield Existing(
                name=name, created="", uid="", set_name=name.rpartition("-")[0], is_going=False
            )


async def settled(
    book: Remembered, name: str, number: int, *nodes: str, starts: frozenset[str] = STARTS
) -> Sequence[int]:
    positions = Positions(ScaleRequest(kind="node", name=name))
    reader: Any = Nodes(*nodes)
    await positions.settle(number, starts, book, reader)
    return [positions.of(serial) for serial in range(number)]


@pytest.mark.parametrize(
    ("start", "room"),
    [
        ("198.18.0.1", 131_071),
        ("10.0.0.0/25", 131_072),
        ("10.255.255.0/25", 2),
        ("172.31.255.254", 2),
    ],
)
async def test_more_nodes_than_addresses_are_refused_before_any_is_reserved(
    start: str, room: int
) -> None:
    book = Remembered()
    reader: Any = Nodes()
    starts = frozenset({start, "fd00::/64", "203.0.113.255"})

    with pytest.raises(CapacityError, match=rf"'{start}' is followed by {room:,} networks or add"):
        await Positions(ScaleRequest(kind="node")).settle(room + 1, starts, book, reader)
    assert book.page is None

    await Positions(ScaleRequest(kind="node")).settle(room, starts, book, reader)
    with pytest.raises(CapacityError, match=f"and {room + 1:,} are needed"):
        await settled(book, "other", 1, starts=starts)


async def test_that_addresses_are_of_others_can_be_forced() -> None:
    forced = Positions(ScaleRequest(kind="node", force=True))
    reader: Any = Nodes()

    await forced.settle(131_073, STARTS, Remembered(), reader)

    assert forced.of(131_072) == 131_072


async def test_the_only_set_has_its_serials() -> None:
    assert await settled(Remembered(), "a", 5) == [0, 1, 2, 3, 4]


async def test_sets_never_have_the_same_position_however_they_grow() -> None:
    book = Remembered()

    assert await settled(book, "a", 3) == [0, 1, 2]
    assert await settled(book, "b", 2) == [3, 4]
    assert await settled(book, "a", 5) == [0, 1, 2, 5, 6]
    assert await settled(book, "b", 4) == [3, 4, 7, 8]


async def test_positions_stay_when_a_set_is_scaled_down_and_up_again() -> None:
    book = Remembered()
    await settled(book, "a", 3)

    await Positions(ScaleRequest(kind="node", name="a")).give_back(1, book)

    assert await settled(book, "b", 3) == [1, 2, 3]
    assert await settled(book, "a", 2) == [0, 4]


async def test_a_set_that_is_gone_is_forgotten() -> None:
    book = Remembered()
    await settled(book, "a", 3)

    await Positions(ScaleRequest(kind="node", name="a")).give_back(0, book)

    assert book.page is not None
    assert not book.page.shares
    assert await settled(book, "b", 2) == [0, 1]


async def test_sets_that_are_scaled_at_the_same_time_share_out() -> None:
    book = Remembered()

    found = await asyncio.gather(*(settled(book, f"set-{n}", 10) for n in range(8)))

    assert sorted(position for each in found for position in each) == list(range(80))


async def test_sets_that_count_on_from_elsewhere_have_their_serials() -> None:
    book = Remembered()
    await settled(book, "a", 3)

    assert await settled(book, "b", 2, starts=frozenset({"10.200.0.0/24"})) == [0, 1]
    assert await settled(book, "c", 2, starts=frozenset({"198.18.0.1"})) == [3, 4]


async def test_sets_that_exist_already_keep_their_serials() -> None:
    book = Remembered()

    assert await settled(book, "b", 2, "a-000000", "a-000004", "b-000000", "own") == [0, 5]


@pytest.mark.parametrize(
    ("cidr", "count", "expected"),
    [
        ("10.0.0.0/24", 0, "10.0.0.0/24"),
        ("10.0.0.0/24", 1, "10.0.1.0/24"),
        ("10.0.0.0/24", 256, "10.1.0.0/24"),
        ("10.0.0.0/24", 65535, "10.255.255.0/24"),
        ("10.0.0.0/24", 65536, "11.0.0.0/24"),
        ("10.0.0.7/24", 1, "10.0.1.0/24"),
        ("10.0.0.0/26", 3, "10.0.0.192/26"),
        ("10.0.1.0/24", -1, "10.0.0.0/24"),
        ("fd00::/64", 1, "fd00:0:0:1::/64"),
        ("fd00::/64", 65536, "fd00:0:1::/64"),
    ],
)
def test_a_network_is_counted_on_by_its_size(cidr: str, count: int, expected: str) -> None:
    assert add_cidr(cidr, count) == expected


@pytest.mark.parametrize(
    ("address", "count", "expected"),
    [
        ("192.0.2.1", 0, "192.0.2.1"),
        ("192.0.2.1", 255, "192.0.3.0"),
        ("2001:db8::1", 65535, "2001:db8::1:0"),
    ],
)
def test_an_address_is_counted_on(address: str, count: int, expected: str) -> None:
    assert add_ip(address, count) == expected


def test_networks_never_start_over() -> None:
    with pytest.raises(ExpressionError, match="no 2 networks") as caught:
        add_cidr("255.255.254.0/24", 2)

    assert caught.value.hint is not None
    assert len({add_cidr("10.0.0.0/24", n) for n in range(0, 1 << 20, 4096)}) == 256


def test_addresses_never_start_over() -> None:
    with pytest.raises(ExpressionError, match="no 1 addresses"):
        add_ip("255.255.255.255", 1)


@pytest.mark.parametrize("text", ["", "ten", "10.0.0.0/40"])
def test_what_is_no_network_is_named(text: str) -> None:
    with pytest.raises(ExpressionError, match=f"AddCIDR: '{text}' is not a network"):
        add_cidr(text, 1)


def test_what_is_no_address_is_named() -> None:
    with pytest.raises(ExpressionError, match="AddIP: 'x' is not an address"):
        add_ip("x", 1)


def test_what_is_no_count_is_named() -> None:
    with pytest.raises(ExpressionError, match="AddIP: 'many' is not a whole number"):
        add_ip("10.0.0.1", "many")  # type: ignore[arg-type]  # templates pass what they like


@pytest.mark.parametrize(
    "address",
    [
        "2001:db8::1",
        "2001:0:0:1::",
        "2001:0:1:2:3:4:5:6",
        "::1",
        "::ffff:0:0",
        "::c000:201",
        "0.0.0.0",
    ],
)
def test_addresses_are_written_as_python_writes_them(address: str) -> None:
    first = ip_address(address)

    assert [add_ip(address, n) for n in range(300)] == [str(first + n) for n in range(300)]
