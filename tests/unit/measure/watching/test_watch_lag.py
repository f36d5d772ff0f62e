"""The probe of the lag of a watch, with an API server that delivers what is changed."""

import asyncio

from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.record.incident_lines import WatchLag
from kwokctl.measure.record.record_lines import Lines
from kwokctl.measure.watching.watch_lag import LagProbe
from kwokctl.tasks import beside
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.watches import is_watch


class LeaseServer:
    """Answers requests about one Lease, and delivers each change of it after the one before."""

    def __init__(self, *, refuses: bool = False, loses: int = 0) -> None:
        self.refuses = refuses
        self.loses = loses
        """How many changes do not find the Lease."""
        self.seen: list[str] = []
        self.changed = asyncio.Event()

    async def __call__(self, request: Request, reply: Reply) -> None:
        if is_watch(request):
            await reply.begin()
            await self.changed.wait()
            body = b'{"type":"MODIFIED","object":{"metadata":{"name":"x","resourceVersion":"2"},"spec":{"leaseTransitions":1}}}\n'
            await reply.chunk(body)
            await asyncio.Event().wait()
        self.seen.append(request.method)
        if self.refuses:
            await reply.refuse(403, "Forbidden", "no")
            return
        if request.method == "PATCH":
            if self.loses:
                self.loses -= 1
                await reply.refuse(404, "NotFound", "it was deleted")
                return
            self.changed.set()
        await reply.json({"metadata": {"resourceVersion": "1"}, "items": []})


async def test_the_lag_is_from_sending_a_change_to_receiving_it_and_the_lease_is_deleted() -> None:
    server, lines = LeaseServer(), list[Lines]()
    found = asyncio.Event()
    clock = iter(range(0, 10_000, 7))

    def emit(line: Lines) -> None:
        lines.append(line)
        found.set()

    async with serving(server) as served, Pool(Access(server=served.url)) as pool:
        probe = LagProbe(pool, emit, lambda: next(clock))
        async with asyncio.timeout(60), beside(probe.probing()):
            await found.wait()

    assert lines == [WatchLag(0, 7)]
    assert server.seen[0] == "POST"
    assert server.seen[-1] == "DELETE"


async def test_a_lease_that_a_rewind_has_deleted_is_made_again() -> None:
    server = LeaseServer(loses=1)

    async with serving(server) as served, Pool(Access(server=served.url)) as pool:
        probe = LagProbe(pool, lambda _: None, lambda: 0)
        async with asyncio.timeout(60), beside(probe.probing()):
            await server.changed.wait()

    writes = [each for each in server.seen if each != "GET"]
    assert writes[:4] == ["POST", "PATCH", "POST", "PATCH"]


async def test_a_recorder_that_may_not_create_a_lease_probes_nothing() -> None:
    server, lines = LeaseServer(refuses=True), list[Lines]()

    async with serving(server) as served, Pool(Access(server=served.url)) as pool:
        async with asyncio.timeout(60):
            await LagProbe(pool, lines.append, lambda: 0).probing()

    assert (lines, server.seen) == ([], ["POST"])
