import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.errors import CommandError
from runtimes.engine.client import Engine
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.inside import Inside
from tests.support.fake_engine import FakeEngine, fake_engine


@pytest.fixture
def fake() -> Iterator[FakeEngine]:
    with tempfile.TemporaryDirectory() as folder, fake_engine(Path(folder)) as fake:
        yield fake


@pytest.fixture
def inside(fake: FakeEngine) -> Inside:
    return Inside(Engine(Endpoint(url=fake.url)), "c")


async def test_programs_are_named_without_their_folders_and_arguments(
    fake: FakeEngine, inside: Inside
) -> None:
    rows = [["1", "/sbin/init"], ["22", "/usr/local/bin/etcd --name=a b"], ["23", ""]]
    fake.answers["GET /containers/c/top"] = (
        200,
        {"Titles": ["PID", "COMMAND"], "Processes": rows},
    )

    assert await inside.programs() == {"init", "etcd"}


async def test_programs_are_named_where_an_engine_does_not_part_the_columns(
    fake: FakeEngine, inside: Inside
) -> None:
    rows = [["1 /sbin/init"], ["22 /usr/local/bin/etcd --name=a b"], ["23"]]
    fake.answers["GET /containers/c/top"] = (200, {"Titles": ["PID ARGS"], "Processes": rows})

    assert await inside.programs() == {"init", "etcd"}


async def test_a_container_in_which_nothing_runs_has_no_programs(
    fake: FakeEngine, inside: Inside
) -> None:
    fake.answers["GET /containers/c/top"] = (200, {"Titles": ["PID"], "Processes": None})

    assert await inside.programs() == set()


async def test_requests_to_a_failing_engine_are_repeated_but_not_for_ever(
    fake: FakeEngine, inside: Inside
) -> None:
    fake.answers["GET /containers/c/top"] = (500, {"message": "openat2: no such file"})

    with pytest.raises(CommandError, match="openat2"):
        await inside.programs()

    assert fake.asked.count("GET /containers/c/top") > 1


async def test_a_folder_that_is_not_there_has_no_files(inside: Inside) -> None:
    assert await inside.files("/nowhere") == []
