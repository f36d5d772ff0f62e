"""What is said of the watches that hold a writer back."""

import asyncio
from pathlib import Path
from typing import Any

from kwokctl.clusters.scaling.direct import Desk, Direct
from kwokctl.clusters.scaling.pacing import paced
from kwokctl.dataplane.keys import Keys
from kwokctl.dataplane.scale_protocol import Seen
from kwokctl.dataplane.store import Store
from kwokctl.kube.client import Client
from kwokctl.kube.collections.terminated_watchers import NAME, EndedWatches
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool, Response
from tests.support import virtual_time
from tests.support.listener import ToldStep
from tests.support.memory_etcd import MemoryEtcd

NOWHERE = Pool(Access(server="http://127.0.0.1:1"))


class Watching(Desk):
    """A controller that has seen what it is told it has."""

    revision = 0

    async def seen(self) -> Seen:
        return Seen(pods=self.revision)


class Figures(Pool):
    """An API server that tells how many watches it has ended."""

    ended = 5

    async def request(self, method: str, path: str, **_: Any) -> Response:
        assert (method, path) == ("GET", "/metrics")
        text = f'\n{NAME}{{resource="pods"}} {self.ended}\n'
        return Response(200, text.encode(), [])


def test_a_writer_that_is_held_back_says_by_what_until_it_is_no_more() -> None:
    said = []
    desk = Watching(NOWHERE, Path("no token"))

    async def main() -> None:
        figures = Figures(Access(server="http://127.0.0.1:1"))
        ended = EndedWatches(figures, every=0, clock=lambda: 0.0)
        await ended.ask()
        direct = Direct(
            store=Store(MemoryEtcd()),
            keys=Keys("/registry"),
            client=Client(NOWHERE),
            desk=desk,
            ended=ended,
            wall=lambda: 0.0,
        )
        step = ToldStep("Creating pods", None, "")
        async with paced(direct, PODS, "default", step) as window:
            for more, revision in ((0, 0), (1, 0), (1, 0), (0, 7)):
                figures.ended += more
                desk.revision = revision
                if not window.latest:
                    await window.write(lambda: asyncio.sleep(0, 7))
                await asyncio.sleep(1.2)
                said.append(step.said[-1])

    virtual_time.run(main())

    held, ends = zip(*(what.split(" s behind") for what in said[:3]), strict=True)
    assert all(each.startswith("held back: watches are ") for each in held)
    assert ends == ("", ", one has been ended", ", 2 have been ended")
    assert said[3] == ""
