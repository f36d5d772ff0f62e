"""Faults whose kind comes while a run is recorded: the recorder finds them, and the run did not wait for them."""

import asyncio
from http import HTTPStatus

import pytest

from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import FAULTS
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.record.fault_lines import FaultSeen
from kwokctl.measure.record.record_lines import Lines
from kwokctl.measure.running.served_kinds import once_served, why_not_watched
from kwokctl.measure.watching.faults import FaultTracker
from kwokctl.measure.watching.recorder import Followed, RunRecorder
from kwokctl.tasks import beside
from tests.support.fake_api_server import Handler, Reply, Request, serving
from tests.support.watches import forever, is_watch, page

FAULT = {
    "metadata": {"name": "lost", "uid": "u", "resourceVersion": "9"},
    "spec": {"class": "xid-79"},
    "status": {"phase": "Landed", "units": 2},
}


def answering(*statuses: int) -> Handler:
    """Return an answer to lists of Faults: with these statuses one after the other, then with the last."""
    left = [*statuses]

    async def handle(request: Request, reply: Reply) -> None:
        if is_watch(request):
            await reply.begin()
            await forever()
        status = left.pop(0) if len(left) > 1 else left[0]
        if status == HTTPStatus.OK:
            await reply.json(page(FAULT, version=10))
        else:
            await reply.refuse(status, "Refused", "no")

    return handle


@pytest.mark.parametrize(
    ("status", "why"),
    [(200, None), (404, ""), (403, "the API server refused to list faults")],
)
async def test_faults_are_watched_only_where_they_are_served_and_may_be_listed(
    status: int, why: str | None
) -> None:
    async with serving(answering(status)) as server, Pool(Access(server=server.url)) as pool:
        assert await why_not_watched(pool, FAULTS) == why


async def test_a_right_that_is_missing_ends_the_waiting() -> None:
    async with serving(answering(404, 403)) as server, Pool(Access(server=server.url)) as pool:
        async with asyncio.timeout(20):
            faults = Followed(resource=FAULTS, tracker=FaultTracker(lambda _: None))
            assert [each async for each in once_served(pool, [faults])] == []


@pytest.mark.parametrize("statuses", [(404, 500, 200), (200, 404, 200)])
async def test_faults_are_followed_once_their_kind_is_there_and_a_run_begins_before(
    statuses: tuple[int, ...],
) -> None:
    """Of several API servers one may serve a kind, and the next not yet."""
    lines: list[Lines] = []
    found = asyncio.Event()

    def emit(line: Lines) -> None:
        lines.append(line)
        if isinstance(line, FaultSeen):
            found.set()

    async with serving(answering(*statuses)) as server, Pool(Access(server=server.url)) as pool:
        recorder = RunRecorder(pool, [], emit, lambda: 5)
        faults = Followed(resource=FAULTS, tracker=FaultTracker(emit))
        later = recorder.follow_later(once_served(pool, [faults]))
        async with asyncio.timeout(20), beside(later):
            await found.wait()

    assert lines == [FaultSeen(5, 1, "lost", "xid-79", "Landed", 2, True)]
