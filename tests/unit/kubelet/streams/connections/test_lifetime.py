import asyncio
from dataclasses import dataclass, field

import pytest

from kwokctl.kubelet.streams.connections.lifetime import while_connected
from tests.support import virtual_time


@dataclass
class Connection:
    """A connection that lasts until the test ends it."""

    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    is_gone: bool = False
    pulses: int = 0
    goodbyes: int = 0

    async def run(self) -> None:
        await self.is_over.wait()

    async def pulse(self) -> None:
        if self.is_gone:
            raise ConnectionResetError
        self.pulses += 1

    async def say_goodbye(self) -> None:
        self.goodbyes += 1


async def _wait_forever() -> None:
    await asyncio.Event().wait()


def test_work_is_called_off_when_the_client_goes() -> None:
    async def story() -> None:
        connection = Connection()
        asyncio.get_running_loop().call_later(40, connection.is_over.set)

        await while_connected(connection, _wait_forever)

        assert (connection.pulses, connection.goodbyes) == (2, 0)

    virtual_time.run(story())


def test_a_sign_of_life_that_cannot_be_given_ends_the_work() -> None:
    async def story() -> None:
        connection = Connection(is_gone=True)

        await while_connected(connection, _wait_forever)

        assert asyncio.get_running_loop().time() == 15

    virtual_time.run(story())


def test_a_client_may_read_the_last_and_go_first() -> None:
    async def story() -> None:
        connection = Connection()

        async def work() -> None:
            asyncio.get_running_loop().call_later(1, connection.is_over.set)

        await while_connected(connection, work)

        assert connection.goodbyes == 1
        assert asyncio.get_running_loop().time() == 1

    virtual_time.run(story())


def test_a_client_that_stays_is_waited_for_a_moment_only() -> None:
    async def story() -> None:
        connection = Connection()

        async def work() -> None:
            pass

        await while_connected(connection, work)

        assert asyncio.get_running_loop().time() == 5

    virtual_time.run(story())


async def test_a_client_that_is_lost_while_it_is_written_to_ends_the_work() -> None:
    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_lose())
            tasks.create_task(_wait_forever())

    async def _lose() -> None:
        raise ConnectionResetError

    await while_connected(Connection(), work)


async def test_another_failure_is_not_hidden() -> None:
    async def work() -> None:
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        await while_connected(Connection(), work)
