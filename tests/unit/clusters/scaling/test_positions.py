import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from kwokctl.clusters.scaling.positions import Page, Positions
from kwokctl.clusters.scaling.reading import Known
from kwokctl.clusters.scaling.request import ScaleRequest

STARTS = frozenset({"10.0.0.0/25", "198.18.0.1"})


class Remembered:
    """A book in memory, which hands a turn to others between reading and writing."""

    def __init__(self) -> None:
        self.page: Page | None = None

    async def read(self) -> Page | None:
        page = self.page
        await asyncio.sleep(0)
        return page

    async def write(self, page: Page) -> bool:
        now = self.page.version if self.page else ""
        if page.version != now:
            return False
        self.page = replace(page, version=f"{int(now or 0) + 1}")
        return True


class Nodes:
    """The nodes of sets that were made before positions were remembered."""

    def __init__(self, *names: str) -> None:
        self._names = names

    async def select(self, *_: Any) -> AsyncIterator[Known]:
        for name in self._names:
            yield Known(
                name=name, created="", uid="", set_name=name.rpartition("-")[0], is_going=False
            )


async def settled(
    book: Remembered, name: str, number: int, *nodes: str, starts: frozenset[str] = STARTS
) -> Sequence[int]:
    positions = Positions(ScaleRequest(kind="node", name=name))
    reader: Any = Nodes(*nodes)
    await positions.settle(number, starts, book, reader)
    return [positions.of(serial) for serial in range(number)]


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
