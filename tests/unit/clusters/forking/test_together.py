import asyncio

import pytest

from kwokctl.clusters.forking.together import together
from tests.support.listener import Listener


async def _made(name: str) -> str:
    await asyncio.sleep(0)
    if name == "bad":
        raise ValueError(name)
    return name


async def test_several_are_counted_as_they_are_made() -> None:
    listener, counts = Listener(), list[int]()
    listener.on_advance = counts.append

    assert await together([_made("a"), _made("b")], listener) == ["a", "b"]

    assert [step.title for step in listener.steps] == ["Creating 2 clusters"]
    assert counts == [1, 2]


async def test_a_single_one_shows_its_own_progress() -> None:
    listener = Listener()
    assert await together([_made("a")], listener) == ["a"]
    assert listener.steps == []


async def test_a_failure_ends_the_others() -> None:
    with pytest.raises(ExceptionGroup):
        await together([_made("a"), _made("bad")], Listener())
