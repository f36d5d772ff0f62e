"""How a writer to etcd learns how far the watches of a cluster have come."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kwokctl.dataplane.bulk.watch_progress import SILENT, UNPLACED, WatchProgress, follow_watches
from kwokctl.dataplane.pacing import Window
from kwokctl.dataplane.scale_protocol import ControllerClient, Seen
from kwokctl.errors import ApiError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import CONFIG_MAPS, NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool, Response
from kwokctl.tasks import beside
from tests.support import virtual_time
from tests.support.bulk import NOWHERE, bulk_access


class Watching(ControllerClient):
    """A controller that has seen all pods, and nodes up to a revision."""

    def __init__(self, nodes: int, *, is_away: bool = False) -> None:
        super().__init__(NOWHERE, Path("no token"))
        self.nodes = nodes
        self._is_away = is_away

    async def seen(self) -> Seen:
        if self._is_away:
            raise ApiError("no answer", status=0)
        return Seen(nodes=self.nodes, pods=100)


class Cache(Pool):
    """An API server whose watch cache has come as far as it is requested."""

    def __init__(self) -> None:
        super().__init__(Access(server="http://127.0.0.1:1"))
        self.paths: list[str] = []

    async def request(self, method: str, path: str, **_: Any) -> Response:
        self.paths.append(path)
        return Response(404, b"", [])


@pytest.mark.parametrize(
    ("resource", "controller", "unseen", "asks_cache"),
    [
        (PODS, Watching(0), 0, False),
        (NODES, Watching(6), 1, False),
        (NODES, Watching(7), 0, False),
        (NODES, Watching(0, is_away=True), 0, True),
        (PODS, None, 0, True),
        (CONFIG_MAPS, Watching(0), 0, True),
    ],
)
def test_progress_comes_from_the_controller_for_nodes_and_pods_and_else_from_the_watch_cache(
    resource: Resource, controller: ControllerClient | None, unseen: int, asks_cache: bool
) -> None:
    cache = Cache()

    async def main() -> int:
        window = Window()
        access = bulk_access(controller=controller, pool=cache)
        progress = WatchProgress(access, resource, None, SILENT)
        async with beside(follow_watches(window, progress)):
            await window.write(lambda: asyncio.sleep(0, 7))
            await asyncio.sleep(0.1)
        return window.unseen

    assert virtual_time.run(main()) == unseen
    assert bool(cache.paths) is asks_cache
    assert all(path.endswith("/none?resourceVersion=7") for path in cache.paths)


def test_while_the_controller_has_no_news_progress_comes_from_the_watch_cache() -> None:
    controller, cache = Watching(0), Cache()
    unseen, asked = [], []

    async def main() -> None:
        window = Window()
        access = bulk_access(controller=controller, pool=cache)
        progress = WatchProgress(access, NODES, None, UNPLACED)

        async def write(revision: int, *, sight: int) -> None:
            controller.nodes = sight
            await window.write(lambda: asyncio.sleep(0, revision))
            await asyncio.sleep(0.5)
            unseen.append(window.unseen)
            asked.append(len(cache.paths))

        async with beside(follow_watches(window, progress)):
            await write(7, sight=0)  # not yet
            await asyncio.sleep(0.6)
            await write(8, sight=0)  # silent: the cache shows 7 and 8 at once
            await write(9, sight=9)  # the controller is back
            await write(11, sight=10)  # and is waited for again

    virtual_time.run(main())

    assert unseen == [1, 0, 0, 1]
    assert asked == [0, 2, 2, 2]
    assert cache.paths[0].endswith("/nodes/none?resourceVersion=7")


def test_a_controller_that_falls_behind_but_comes_on_is_waited_for() -> None:
    controller, cache = Watching(0), Cache()

    async def main() -> None:
        window = Window()
        access = bulk_access(controller=controller, pool=cache)
        async with beside(follow_watches(window, WatchProgress(access, NODES, None, UNPLACED))):
            revisions = iter(range(101, 130))
            for _ in range(29):
                await window.write(lambda: asyncio.sleep(0, next(revisions)))
            for revision in range(1, 100, 10):
                controller.nodes = revision
                await asyncio.sleep(0.5)
            assert window.unseen == 29

    virtual_time.run(main())

    assert not cache.paths
