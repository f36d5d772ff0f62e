import asyncio
from collections.abc import AsyncIterator, Sequence

from kwokctl.clusters.scaling.following import Following
from kwokctl.clusters.scaling.readiness import Verdict
from kwokctl.clusters.scaling.reading import Change


def change(exists: bool, text: str) -> Change:
    """Read `name:lacks`, where nothing after the colon means ready."""
    name, _, lacks = text.partition(":")
    return Change(exists, Verdict(name, lacks or None))


async def told(*changes: tuple[bool, str]) -> AsyncIterator[Sequence[Change]]:
    yield [change(exists, text) for exists, text in changes]


async def followed(*changes: tuple[bool, str], wanted: str = "ab") -> tuple[Following, list[str]]:
    became_ready: list[str] = []
    following = Following(wanted, became_ready.append)
    await following.follow(told(*changes))
    return following, became_ready


async def test_objects_are_counted_once_they_are_ready() -> None:
    following, became_ready = await followed((True, "a:late"), (True, "a:"), (True, "a:"))

    assert following.ready == 1
    assert became_ready == ["a"]


async def test_an_object_may_lose_its_readiness_and_win_it_back() -> None:
    following, became_ready = await followed((True, "a:"), (True, "a:broken"), (True, "a:"))

    assert following.ready == 1
    assert became_ready == ["a", "a"]


async def test_an_object_that_goes_away_is_not_ready() -> None:
    following, _ = await followed((True, "a:"), (False, "a:"), (False, "b:"))

    assert following.ready == 0
    assert following.laggards() == [
        Verdict("a", "does not exist"),
        Verdict("b", "does not exist"),
    ]


async def test_objects_that_are_not_wanted_do_not_count_but_must_go() -> None:
    following, became_ready = await followed((True, "x:"), wanted="")

    assert (following.ready, became_ready) == (0, [])
    assert following.laggards() == [Verdict("x", "still exists")]


async def test_waiting_ends_when_exactly_the_wanted_objects_are_ready() -> None:
    following = Following("ab", lambda name: None)
    progress: list[int] = []

    async def changes() -> AsyncIterator[Sequence[Change]]:
        for name in "axb":
            yield [change(True, name)]
            await asyncio.sleep(0)
            assert not waiting.done()
        yield [change(False, "x")]
        await asyncio.sleep(0)
        assert not waiting.done(), "more may be to come"
        yield []

    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(following.complete(progress.append))
        tasks.create_task(following.follow(changes()))

    assert sum(progress) == 2


async def test_laggards_are_in_the_order_of_their_names() -> None:
    following = Following(["n2", "n0", "n1"], lambda name: None)
    await following.follow(told((True, "n1:is Pending")))

    assert [f"{late.name} {late.lacks}" for late in following.laggards()] == [
        "n0 does not exist", "n1 is Pending", "n2 does not exist",
    ]  # fmt: skip


async def test_finalizers_are_named_that_keep_what_is_not_wanted() -> None:
    following = Following("", lambda _: None)
    going = Verdict("x", "is being deleted", held_by=("a/b", "c/d"))

    async def changes() -> AsyncIterator[Sequence[Change]]:
        yield [Change(True, going)]

    await following.follow(changes())

    assert following.laggards() == [
        Verdict("x", "still exists until the finalizers 'a/b', 'c/d' are removed")
    ]
