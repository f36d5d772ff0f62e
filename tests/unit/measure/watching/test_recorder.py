"""The recorder on an API server whose watches end."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from kwokctl.errors import ApiError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.record.record_lines import (
    ApiProbe,
    Behind,
    Gap,
    Lines,
    PodChange,
    PodGone,
    PodSeen,
    RunMoment,
)
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.pods import PodTracker
from kwokctl.measure.watching.recorder import Followed, RunRecorder
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.measured import SECOND
from tests.support.watches import forever, is_watch, page, pod


def on(node: str, name: str, version: int) -> dict[str, object]:
    return pod(name, version) | {"spec": {"nodeName": node}, "status": {"phase": "Pending"}}


Answer = Callable[[Request, Reply, asyncio.Event], Awaitable[None]]
"""Answers a request; the event is set when the run has begun."""


class Recorded:
    """The lines of a recorder, whose clock counts the times that it is looked at."""

    def __init__(self) -> None:
        self.lines: list[Lines] = []
        self.deleted: list[tuple[str, bytes]] = []
        """The uid and the last state of each object that is gone."""
        self.time = 0
        self._news = asyncio.Event()
        self.begun = asyncio.Event()
        self.recorder: RunRecorder | None = None

    def now(self) -> int:
        self.time += 1
        return self.time

    def emit(self, line: Lines) -> None:
        self.lines.append(line)
        self._news.set()
        if isinstance(line, RunMoment):
            self.begun.set()

    async def until(self, holds: Callable[[Lines], bool]) -> None:
        """Wait for a line."""
        async with asyncio.timeout(20):
            while not any(map(holds, self.lines)):
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def recording(handle: Answer) -> AsyncIterator[Recorded]:
    recorded = Recorded()

    async def answer(request: Request, reply: Reply) -> None:
        await handle(request, reply, recorded.begun)

    tracker = PodTracker(recorded.emit, Texts(recorded.emit), labels=(), takes_existing=False)

    def deleted(uid: str, raw: bytes, _time: int) -> None:
        recorded.deleted.append((uid, raw))

    kinds = [Followed(resource=PODS, tracker=tracker, deleted=deleted)]
    async with serving(answer) as server, Pool(Access(server=server.url)) as pool:
        recorded.recorder = RunRecorder(pool, kinds, recorded.emit, recorded.now)
        async with recorded.recorder.recording():
            yield recorded


def is_named(kind: type[Lines], number: int) -> Callable[[Lines], bool]:
    return lambda line: isinstance(line, kind) and getattr(line, "number", 0) == number


async def test_a_run_begins_when_the_watch_is_open_and_leaves_out_what_there_was() -> None:
    async def handle(request: Request, reply: Reply, begun: asyncio.Event) -> None:
        if request.path == "/readyz":
            await reply.send(b"ok")
        elif is_watch(request):
            await reply.begin()
            await begun.wait()
            await reply.event("MODIFIED", on("n1", "old", 11))
            await reply.event("ADDED", on("", "new", 12))
            await reply.event("MODIFIED", on("n1", "new", 13))
            await reply.event("DELETED", on("n1", "new", 14))
            await forever()
        else:
            await reply.json(page(pod("old", 1), version=10))

    async with recording(handle) as recorded:
        await recorded.until(is_named(PodGone, 1))
        await recorded.until(lambda line: isinstance(line, ApiProbe))

    of_pods = [line for line in recorded.lines if isinstance(line, PodSeen | PodChange | PodGone)]
    assert [type(line) for line in of_pods] == [PodSeen, PodChange, PodGone]
    assert isinstance(of_pods[0], PodSeen)
    assert (of_pods[0].name, of_pods[0].listed) == ("new", False)
    ((uid, raw),) = recorded.deleted
    assert uid == of_pods[0].uid
    assert json.loads(raw)["spec"]["nodeName"] == "n1"
    moments = [line.what for line in recorded.lines if isinstance(line, RunMoment)]
    probes = [line.status for line in recorded.lines if isinstance(line, ApiProbe)]
    assert (moments, probes) == (["begin"], [200])


async def test_what_a_resumed_watch_delivers_is_at_the_end_of_a_gap() -> None:
    async def handle(request: Request, reply: Reply, begun: asyncio.Event) -> None:
        if not is_watch(request):
            await reply.json(page(version=10))
            return
        await reply.begin()
        await begun.wait()
        if request.query["resourceVersion"] == "10":
            await reply.event("ADDED", on("", "a", 11))
            await reply.end()
            return
        await reply.event("MODIFIED", on("n1", "a", 12))
        await forever()

    async with recording(handle) as recorded:
        await recorded.until(is_named(PodChange, 1))

    gap = next(line for line in recorded.lines if isinstance(line, Gap))
    change = next(line for line in recorded.lines if isinstance(line, PodChange))
    first = next(line for line in recorded.lines if isinstance(line, PodSeen))
    assert (gap.kind, gap.why) == ("pods", "the watch ended")
    assert gap.begin == first.time
    assert gap.end == change.time


async def test_what_is_listed_again_is_in_a_gap_with_what_has_vanished() -> None:
    async def handle(request: Request, reply: Reply, begun: asyncio.Event) -> None:
        if not is_watch(request):
            lists = sum("limit" in each.query for each in server_requests)
            server_requests.append(request)
            found = [on("n1", "b", 20), on("", "c", 21)] if lists else []
            await reply.json(page(*found, version=30 if lists else 10))
            return
        await reply.begin()
        await begun.wait()
        if request.query["resourceVersion"] == "10":
            await reply.event("ADDED", on("", "a", 11))
            await reply.event("ADDED", on("", "b", 12))
            status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "x"}
            await reply.event("ERROR", status)
            await forever()
        await reply.event("MODIFIED", on("n2", "c", 31))
        await forever()

    server_requests: list[Request] = []
    async with recording(handle) as recorded:
        await recorded.until(lambda line: isinstance(line, Gap))
        await recorded.until(is_named(PodChange, 3))

    gap = next(line for line in recorded.lines if isinstance(line, Gap))
    seen = {line.name: line for line in recorded.lines if isinstance(line, PodSeen)}
    gone = next(line for line in recorded.lines if isinstance(line, PodGone))
    bound = next(line for line in recorded.lines if isinstance(line, PodChange))
    assert gap.why == "everything was listed again"
    assert {name: line.listed for name, line in seen.items()} == {"a": False, "b": False, "c": True}
    assert (gone.number, bound.number) == (1, 2)
    for line in (gone, bound, seen["c"]):
        assert gap.begin < line.time <= gap.end


async def test_a_watch_that_is_interrupted_sees_nothing_and_its_gap_ends_with_the_record() -> None:
    async def handle(request: Request, reply: Reply, begun: asyncio.Event) -> None:
        if not is_watch(request):
            await reply.json(page(version=10))
        elif begun.is_set():
            down.set()
            await reply.refuse(503, "ServiceUnavailable", "it is being started again")
        else:
            await reply.begin()
            await begun.wait()
            await reply.event("ADDED", on("", "a", 11))
            await reply.end()

    down = asyncio.Event()
    async with asyncio.timeout(20), recording(handle) as recorded:
        assert recorded.recorder is not None
        assert recorded.recorder.sees("pods")
        await down.wait()
        assert not recorded.recorder.sees("pods")
        assert recorded.recorder.sees("nodes")
        assert not any(isinstance(line, Gap) for line in recorded.lines)

    (gap,) = [line for line in recorded.lines if isinstance(line, Gap)]
    first = next(line for line in recorded.lines if isinstance(line, PodSeen))
    assert gap.begin == first.time
    assert gap.end > first.time


async def test_a_refusal_ends_the_recording() -> None:
    async def handle(request: Request, reply: Reply, begun: asyncio.Event) -> None:
        await reply.refuse(403, "Forbidden", "pods is forbidden")

    with pytest.raises(ApiError, match="forbidden"):
        async with recording(handle):
            pass


async def test_probes_that_are_not_answered_have_no_status() -> None:
    async def handle(request: Request, reply: Reply, begun: asyncio.Event) -> None:
        if request.path == "/readyz":
            reply.close()
        elif is_watch(request):
            await reply.begin()
            await forever()
        else:
            await reply.json(page(version=10))

    async with recording(handle) as recorded:
        await recorded.until(lambda line: isinstance(line, ApiProbe))

    assert [line.status for line in recorded.lines if isinstance(line, ApiProbe)] == [0]


async def test_a_recorder_notes_how_long_what_has_come_waited() -> None:
    async def handle(request: Request, reply: Reply, begun: asyncio.Event) -> None:
        if is_watch(request):
            await reply.begin()
            await forever()
        else:
            await reply.json(page(version=10))

    async with recording(handle) as recorded:
        recorded.time += 3 * SECOND  # as if this process had not had its turn meanwhile
        await recorded.until(lambda line: isinstance(line, Behind))

    (behind,) = [line for line in recorded.lines if isinstance(line, Behind)]
    assert 2.8 * SECOND < behind.wait < 3 * SECOND
