"""The question on a terminal, asked while an event loop runs."""

import asyncio
import os
import sys
from collections.abc import Iterator
from io import StringIO

import pytest

from kwokctl.cli.confirmation import confirmed_within
from kwokctl.cli.output.plain import Plain


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Give standard input a terminal; yield the descriptor that types into it."""
    master, slave = os.openpty()
    with os.fdopen(slave) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield master
    os.close(master)


@pytest.mark.parametrize(("typed", "is_agreed"), [(b"y\n", True), (b"\n", False)])
async def test_the_answer_is_read_while_other_work_goes_on(
    keyboard: int, typed: bytes, is_agreed: bool
) -> None:
    asked = StringIO()
    asking = asyncio.create_task(confirmed_within(Plain(asked), "Delete 9 of the 10?"))
    while not asked.getvalue():
        await asyncio.sleep(0)
    assert not asking.done()

    os.write(keyboard, typed)

    assert await asking == is_agreed


async def test_asking_can_be_called_off(keyboard: int) -> None:
    asked = StringIO()
    asking = asyncio.create_task(confirmed_within(Plain(asked), "Delete 9 of the 10?"))
    while not asked.getvalue():
        await asyncio.sleep(0)

    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
