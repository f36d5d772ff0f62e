"""Holds writes to etcd back to what watches can follow.

Nodes and pods are watched by the controller of the cluster, a watcher like any other: it is asked
how far it has come, which costs less than another watch on a hundred thousand pods. Of other kinds
the API server's watch cache is asked: a GET with a `resourceVersion` is answered once the cache has
reached it (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from kwokctl.clusters.scaling.direct import Direct
from kwokctl.clusters.scaling.in_flight import beside
from kwokctl.dataplane.pacing import LATE, Window
from kwokctl.errors import ApiError
from kwokctl.kube.collections.terminated_watchers import EndedWatches
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.progress import Step

_LOOK_EVERY = 0.03
_TELL_EVERY = 0.5


@asynccontextmanager
async def paced(
    direct: Direct, resource: Resource, namespace: str | None, step: Step
) -> AsyncIterator[Window]:
    """Yield a window that follows the watches of a kind; `step` says when they hold writes back."""
    window = Window()
    following = _follow(window, direct, resource, namespace)
    async with beside(following, _tell(window, direct.ended, step)):
        yield window


async def _follow(
    window: Window, direct: Direct, resource: Resource, namespace: str | None
) -> None:
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        if not window.unseen or not window.latest:
            continue
        try:
            window.seen(await _seen(window.latest, direct, resource, namespace))
        except ApiError:
            continue  # the window lets a little through until somebody answers again


async def _tell(window: Window, ended: EndedWatches, step: Step) -> None:
    """Say how far watches are behind while that is much: one that has been ended begins anew."""
    while True:
        await asyncio.sleep(_TELL_EVERY)
        if window.lag <= LATE:
            step.say("")
            continue
        await ended.refresh()
        number = {0: "", 1: ", one has been ended"}.get(
            ended.new, f", {ended.new:,} have been ended"
        )
        step.say(f"held back: watches are {window.lag:.1f} s behind{number}")


async def _seen(revision: int, direct: Direct, resource: Resource, namespace: str | None) -> int:
    if resource in (NODES, PODS):
        with suppress(ApiError):  # without a controller the cache is the next best
            seen = await direct.desk.seen()
            return seen.nodes if resource == NODES else seen.pods
    path = f"{resource.path(namespace, 'none')}?resourceVersion={revision}"
    response = await direct.client.pool.request("GET", path)
    return revision if response.status in {200, 404} else 0
