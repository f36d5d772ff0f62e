""""""

import asyncio
from typing import Any

from kwokctl.kube.collections.server_metrics import EndedWatches
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool, Response
from tests.support import virtual_time


class SilentPool(Pool):
    """Connections to an API server that is stopped: it accepts them, and does not answer."""

    async def request(self, *_: Any, **__: Any) -> Response:
        never: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        return await never


def test_an_api_server_that_does_not_answer_is_not_waited_for_long() -> None:
    async def story() -> tuple[int, float]:
        loop = asyncio.get_running_loop()
        ended = EndedWatches(
            SilentPool(Access(server="http://127.0.0.1:1")), every=60, clock=loop.time
        )
        before = loop.time()
        await ended.refresh()
        await ended.refresh()
        return ended.number, loop.time() - before

    number, took = virtual_time.run(story())
    assert number == 0
    assert took < 10
