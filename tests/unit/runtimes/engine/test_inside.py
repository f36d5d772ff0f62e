import io
import tarfile
from collections.abc import Mapping

import pytest

from kwokctl.errors import CommandError
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from runtimes.engine.inside import Inside
from tests.support.fake_engine import FakeEngine, framed


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


async def test_programs_are_named_after_several_failures_while_containers_end(
    fake: FakeEngine, inside: Inside
) -> None:
    failure = (500, {"message": "openat2: no such file"})
    fake.first["GET /containers/c/top"] = [failure] * 6
    fake.answers["GET /containers/c/top"] = (200, {"Processes": [["1", "/sbin/init"]]})

    assert await inside.programs() == {"init"}


async def test_files_that_changed_while_they_were_sent_are_asked_for_again(
    fake: FakeEngine, inside: Inside
) -> None:
    whole = _archive({"logs/a.log": b"one", "logs/b.log": b"two" * 1000})
    fake.first["GET /containers/c/archive"] = [(200, whole[: len(whole) // 4])]
    fake.answers["GET /containers/c/archive"] = (200, whole)

    found = await inside.files("/logs")

    assert found == [("logs/a.log", b"one"), ("logs/b.log", b"two" * 1000)]


def _archive(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


async def test_what_a_command_writes_at_once_is_not_lost(fake: FakeEngine, inside: Inside) -> None:
    fake.answers["POST /containers/c/exec"] = (201, {"Id": "e"})
    fake.answers["POST /exec/e/start"] = (200, framed(b"one\n", b"two\n"))
    fake.answers["GET /exec/e/json"] = (200, {"ExitCode": 0})

    assert await inside.run("echo") == "one\ntwo"
    assert [part async for part in inside.follow("echo")] == [b"two\n"]  # after the number


async def test_a_folder_that_is_not_there_has_no_files(inside: Inside) -> None:
    assert await inside.files("/nowhere") == []
