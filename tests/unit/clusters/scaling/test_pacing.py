"""What is said of the watches that hold a writer back."""

import asyncio
from pathlib import Path
from typing import Any

from kwokctl.clusters.scaling.direct import Desk, Direct
from kwokctl.clusters.scaling.pacing import UNPLACED, paced
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
    """An API server that tells how many watches it has ended, and whose cache has everything."""

    ended = 5

    def __init__(self) -> None:
        super().__init__(Access(server="http://127.0.0.1:1"))
        self.asked: list[str] = []

    async def request(self, method: str, path: str, **_: Any) -> Response:
        assert method == "GET"
        if path != "/metrics":
            self.asked.append(path)
            return Response(404, b"", [])
        text = f'\n{NAME}{{resource="pods"}} {self.ended}\n'
        return Response(200, text.encode(), [])


def through(figures: Figures, desk: Desk) -> Direct:
    return Direct(
        store=Store(MemoryEtcd()),
        keys=Keys("/registry"),
        client=Client(figures),
        desk=desk,
        ended=EndedWatches(figures, every=0, clock=lambda: 0.0),
        wall=lambda: 0.0,
    )


def test_a_writer_that_is_held_back_says_by_what_until_it_is_no_more() -> None:
    said = []
    desk = Watching(NOWHERE, Path("no token"))

    async def main() -> None:
        figures = Figures()
        direct = through(figures, desk)
        await direct.ended.ask()
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


def test_while_the_controller_has_no_news_the_cache_of_the_api_server_is_asked() -> None:
    desk = Watching(NOWHERE, Path("no token"))
    unseen, asked = [], []

    async def main() -> None:
        figures = Figures()
        step = ToldStep("Creating pods", None, "")
        direct = through(figures, desk)
        async with paced(direct, PODS, "default", step, silence=UNPLACED) as window:

            async def write(revision: int, *, sight: int) -> None:
                desk.revision = sight
                await window.write(lambda: asyncio.sleep(0, revision))
                await asyncio.sleep(0.5)
                unseen.append(window.unseen)
                asked.append(len(figures.asked))

            await write(7, sight=0)  # not yet
            await asyncio.sleep(0.6)
            await write(8, sight=0)  # silent: the cache shows 7 and 8 at once
            await write(9, sight=9)  # the controller is back
            await write(11, sight=10)  # and is waited for again
            assert figures.asked[0].endswith("/pods/none?resourceVersion=7")

    virtual_time.run(main())

    assert unseen == [1, 0, 0, 1]
    assert asked == [0, 2, 2, 2]


def test_a_controller_that_falls_behind_but_comes_on_is_waited_for() -> None:
    desk = Watching(NOWHERE, Path("no token"))

    async def main() -> None:
        figures = Figures()
        step = ToldStep("Creating pods", None, "")
        direct = through(figures, desk)
        async with paced(direct, PODS, "default", step, silence=UNPLACED) as window:
            revisions = iter(range(101, 130))
            for _ in range(29):
                await window.write(lambda: asyncio.sleep(0, next(revisions)))
            for revision in range(1, 100, 10):
                desk.revision = revision
                await asyncio.sleep(0.5)
            assert window.unseen == 29
            assert not figures.asked

    virtual_time.run(main())
