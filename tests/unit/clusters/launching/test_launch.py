"""What the limit of a launch counts."""

import asyncio

import pytest

from kwokctl.clusters.launching.launch import Patience, got
from kwokctl.clusters.launching.readiness import explaining_timeouts
from kwokctl.errors import TimedOutError
from kwokctl.model import ClusterName
from tests.support import virtual_time
from tests.support.fake_runtime import FakeRuntime


async def built(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "etcd"


async def patient(seconds: float) -> None:
    async with explaining_timeouts(FakeRuntime(), ClusterName("main"), [], 60.0, spent=59.5):
        await asyncio.sleep(seconds)


def test_building_without_a_limit_takes_as_long_as_it_takes() -> None:
    found, patience = virtual_time.run(got(built(1e5), Patience(wait=5.0)))

    assert found == "etcd"
    assert (patience.timeout, patience.wait) == (None, 5.0)


def test_programs_that_are_not_there_in_time_are_named() -> None:
    with pytest.raises(TimedOutError, match="the programs were not fetched or built within 60 s"):
        virtual_time.run(got(built(61), Patience(timeout=60.0)))


async def test_an_error_of_what_is_fetched_is_not_taken_for_the_limit() -> None:
    async def fail() -> None:
        raise TimeoutError("of a socket")

    with pytest.raises(TimeoutError, match="of a socket"):
        await got(fail(), Patience(timeout=60.0))


def test_what_was_spent_on_programs_is_not_left_for_the_components() -> None:
    virtual_time.run(patient(0.4))

    with pytest.raises(TimedOutError, match="the cluster is not ready after 60 s"):
        virtual_time.run(patient(0.6))
