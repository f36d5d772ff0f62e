"""Tells a writer how far the API server's watch cache has come, where no watch of ours does.

A GET with a `resourceVersion` is answered once the cache has reached it
(https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kwokctl.clusters.scaling.in_flight import first_failure
from kwokctl.dataplane.window import Window
from kwokctl.kube.http import Pool
from kwokctl.kube.resource import Resource

_LOOK_EVERY = 0.02


@asynccontextmanager
async def paced(pool: Pool, resource: Resource, namespace: str | None) -> AsyncIterator[Window]:
    """Yield a window that follows the watch cache of a kind."""
    window = Window()
    try:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(_follow(window, pool, resource, namespace))
            yield window
            task.cancel()
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None


async def _follow(window: Window, pool: Pool, resource: Resource, namespace: str | None) -> None:
    while True:
        revision = window.latest
        if window.unseen and revision:
            path = f"{resource.path(namespace, 'none')}?resourceVersion={revision}"
            response = await pool.request("GET", path)
            if response.status in {200, 404}:
                window.seen(revision)
        await asyncio.sleep(_LOOK_EVERY)
