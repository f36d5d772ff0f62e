import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kwokctl.config.config_documents import Document
from kwokctl.embedded.http.messages import Answer, RefusedError, Request
from kwokctl.kubelet.documents.document_reader import read_lookup
from kwokctl.kubelet.fleet.views import ContainerView
from kwokctl.kubelet.logs.container_logs import ContainerLogs
from kwokctl.kubelet.logs.file_changes import FileChanges
from kwokctl.kubelet.logs.log_documents import LOGS
from tests.support import virtual_time
from tests.support.kubelet_rig import FakeFleet, pod

ENTRY = b"2026-01-01T00:00:0%dZ stdout F line %d\n"


class Rig:
    """The handler, with a clock and a fleet of its own."""

    def __init__(self, entry: Mapping[str, Any] | None = None, fleet: FakeFleet | None = None):
        body = {"metadata": {"name": "all"}, "spec": {"logs": [entry] if entry else []}}
        document = Document(
            kind="ClusterLogs", api_version="", name="all", body=body, source="here"
        )
        self.now = 1010.0
        self.elapsed: Callable[[], float] = lambda: 0.0
        self.fleet = fleet or FakeFleet(pod())
        self.changes = FileChanges()
        self.logs = ContainerLogs(
            self.fleet,
            read_lookup(LOGS, [document]),
            self.changes,
            lambda: self.now + self.elapsed(),
        )

    async def answer(self, path: str = "default/app/c", **query: str) -> Answer:
        request = Request(method="GET", path=f"/containerLogs/{path}", query=tuple(query.items()))
        return await self.logs.answer(request)

    async def text(self, path: str = "default/app/c", **query: str) -> str:
        answer = await self.answer(path, **query)
        assert not isinstance(answer.body, bytes)
        return b"".join([piece async for piece in answer.body]).decode()

    async def refused(self, path: str = "default/app/c", **query: str) -> str:
        with pytest.raises(RefusedError) as caught:
            await self.answer(path, **query)
        # A client that reads it as YAML would take it for a mapping.
        assert ": " not in str(caught.value)
        return f"{caught.value.status} {caught.value}"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@asynccontextmanager
async def watching(rig: Rig) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(rig.changes.run())
        yield
        running.cancel()


async def test_generated_lines_are_those_of_the_time_since_the_start() -> None:
    rig = Rig({"generated": {"template": "{{ .pod }} {{ .line }}"}})

    assert (await rig.text()).splitlines() == [f"app {number}" for number in range(11)]
    assert await rig.text(tailLines="2") == "app 9\napp 10\n"
    assert await rig.text(sinceSeconds="1") == "app 9\napp 10\n"
    assert await rig.text(limitBytes="8") == "app 0\nap"
    assert (await rig.text(tailLines="1", timestamps="true")) == (
        "1970-01-01T00:16:50.000000000Z app 10\n"
    )
    assert await rig.text(stream="Stderr") == ""


async def test_the_container_before_has_a_log_of_its_own() -> None:
    entry = {"generated": {"template": "{{ .restarts }}/{{ .line }}"}}
    again = ContainerView(
        name="c", is_running=True, started_at=1009.0, restarts=3, previous=(1000.0, 1002.5)
    )
    rig = Rig(entry, FakeFleet(pod("app", again)))

    assert await rig.text() == "3/0\n3/1\n"
    assert await rig.text(previous="true") == "2/0\n2/1\n2/2\n"
    assert await Rig(entry).refused(previous="true") == (
        "400 previous terminated container 'c' in pod 'default/app' not found"
    )


async def test_what_has_no_log_is_said() -> None:
    rig = Rig({"containers": ["d"], "generated": {"template": "x"}})

    assert await rig.refused() == (
        "400 no Logs or ClusterLogs document says what container 'c' in pod 'default/app' writes"
    )
    assert await rig.refused("default/app/x") == "404 pod 'default/app' has no container 'x'"
    assert await rig.refused("default/gone/c") == "404 pod 'default/gone' is on no fake node"
    assert await rig.refused("default/app") == "404 not found"
    waiting = FakeFleet(pod("app", ContainerView(name="c")))
    assert (await Rig({"generated": {"template": "x"}}, waiting).refused()).startswith(
        "400 container 'c' in pod 'default/app' is waiting to start"
    )


async def test_an_entry_that_names_no_source_is_refused_when_it_is_used() -> None:
    rig = Rig({"previousLogsFile": "/none"})

    assert await rig.refused() == (
        "400 the entry of 'logs' for container 'c' in pod 'default/app' has neither 'logsFile' "
        "nor 'generated'"
    )
    assert "cannot be read, No such file" in await rig.refused(previous="true")


async def test_a_file_is_read_from_any_place(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"".join(ENTRY % (each, each) for each in range(5)))
    rig = Rig({"logsFile": str(file), "previousLogsFile": str(tmp_path / "none")})

    assert (await rig.text()).splitlines() == [f"line {each}" for each in range(5)]
    assert await rig.text(tailLines="1") == "line 4\n"
    assert await rig.text(sinceTime="2026-01-01T00:00:03Z") == "line 3\nline 4\n"
    assert "cannot be read, No such file" in await rig.refused(previous="true")
    alone = Rig({"logsFile": str(file)})
    assert "previous terminated container" in await alone.refused(previous="true")


async def test_the_last_line_needs_no_newline(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes((ENTRY % (1, 1) + ENTRY % (2, 2))[:-1])
    rig = Rig({"logsFile": str(file), "previousLogsFile": str(file)})

    assert await rig.text() == "line 1\nline 2\n"
    assert await rig.text(previous="true") == "line 1\nline 2\n"
    assert await rig.text(tailLines="1") == "line 2\n"
    assert await rig.text(tailLines="0") == ""


async def test_a_followed_line_is_shown_once_when_it_is_whole_or_nothing_more_comes(
    tmp_path: Path,
) -> None:
    file = tmp_path / "log"
    file.write_bytes(ENTRY % (1, 1) + b"2026-01-01T00:00:02Z stdout F li")
    rig = Rig({"logsFile": str(file)})

    async with asyncio.timeout(60), watching(rig):
        answer = await rig.answer(follow="true")
        assert not isinstance(answer.body, bytes)
        pieces = aiter(answer.body)
        assert await anext(pieces) == b"line 1\n"
        append(file, b"ne 2\n2026-01-01T00:00:03Z stdout F line 3")
        assert await anext(pieces) == b"line 2\n"
        rig.fleet.drop_pod("default", "app")
        assert [piece async for piece in pieces] == [b"line 3\n"]


@pytest.mark.parametrize("written", [b"just text\n", b'\n{"level":"info"}\n'])
async def test_a_file_in_no_known_format_is_said(tmp_path: Path, written: bytes) -> None:
    file = tmp_path / "log"
    file.write_bytes(written)

    assert (
        "has no line in a format of container runtimes"
        in await Rig({"logsFile": str(file)}).refused()
    )
    append(file, ENTRY % (1, 1))
    assert await Rig({"logsFile": str(file)}).text() == "line 1\n"


async def test_a_million_lines_are_read_in_pieces(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(ENTRY % (1, 1) * 200_000)
    answer = await Rig({"logsFile": str(file)}).answer()

    assert not isinstance(answer.body, bytes)
    sizes = [len(piece) async for piece in answer.body]
    assert sum(sizes) == len(b"line 1\n") * 200_000
    assert max(sizes) < 300_000


async def test_a_file_is_followed_also_when_another_takes_its_name(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(ENTRY % (1, 1))
    rig = Rig({"logsFile": str(file)})

    async with asyncio.timeout(60), watching(rig):
        answer = await rig.answer(follow="true")
        assert not isinstance(answer.body, bytes)
        pieces = aiter(answer.body)
        assert await anext(pieces) == b"line 1\n"
        append(file, ENTRY % (2, 2))
        assert await anext(pieces) == b"line 2\n"
        file.rename(tmp_path / "log.1")
        append(tmp_path / "log.1", ENTRY % (3, 3))
        file.write_bytes(ENTRY % (4, 4))
        rest = b""
        while not rest.endswith(b"line 4\n"):
            rest += await anext(pieces)
        assert rest == b"line 3\nline 4\n"


async def followed(rig: Rig, meanwhile: Callable[[], object]) -> bytes:
    """Follow a log on a clock that jumps; `meanwhile` is called after three pieces."""
    begun = asyncio.get_running_loop().time()
    rig.elapsed = lambda: asyncio.get_running_loop().time() - begun
    body = (await rig.answer(follow="true", tailLines="1")).body
    assert not isinstance(body, bytes)
    pieces = []
    async for piece in body:
        pieces.append(piece)
        if len(pieces) == 3:
            meanwhile()
    return b"".join(pieces)


def test_generated_lines_are_followed_until_the_container_ends() -> None:
    rig = Rig({"generated": {"template": "{{ .line }}", "linesPerSecond": 4.0}})
    ended = ContainerView(name="c", started_at=1000.0, finished_at=1012.0)

    text = virtual_time.run(followed(rig, lambda: rig.fleet.put_pod(pod("app", ended))))

    numbers = [int(line) for line in text.split()]
    assert numbers == list(range(40, numbers[-1] + 1))
    assert 42 < numbers[-1] < 64


def test_a_pod_of_the_same_name_is_not_followed_on() -> None:
    rig = Rig({"generated": {"template": "{{ .line }}"}})
    another = msgspec.structs.replace(pod(), uid="another")

    text = virtual_time.run(followed(rig, lambda: rig.fleet.put_pod(another)))

    assert text.startswith(b"10\n11\n12\n")
