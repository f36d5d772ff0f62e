"""Holds writes to etcd back to what watches can follow.

Nodes and pods are watched by the controller of the cluster, a watcher like any other: it is asked
how far it has come, which costs less than another watch on a hundred thousand pods. Of other kinds
the API server's watch cache is asked: a GET with a `resourceVersion` is answered once the cache has
reached it (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions).

The cache is asked for nodes and pods, too, while the controller comes to nothing new: its watches
leave out pods that are on no node, and nodes that it does not manage.
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

SILENT = 5.0
"""Seconds without news from the controller after which the cache is asked."""
UNPLACED = 1.0
"""The same for pods that may be on no node: the controller sees them only when they are placed."""
_LOOK_EVERY = 0.03
_TELL_EVERY = 0.5


@asynccontextmanager
async def paced(
    direct: Direct,
    resource: Resource,
    namespace: str | None,
    step: Step,
    *,
    silence: float = SILENT,
) -> AsyncIterator[Window]:
    """Yield a window that follows the watches of a kind; `step` says when they hold writes back.

    After `silence` seconds without news from the controller the API server is asked instead.
    """
    window = Window()
    following = _follow(window, _Sight(direct, resource, namespace, silence))
    async with beside(following, _tell(window, direct.ended, step)):
        yield window


class _Sight:
    """Up to which revision watches have come, as the controller or the API server tells."""

    def __init__(
        self, direct: Direct, resource: Resource, namespace: str | None, silence: float
    ) -> None:
        self._direct = direct
        self._resource = resource
        self._namespace = namespace
        self._silence = silence
        self._controller = 0
        self._silent_since: float | None = None

    async def reached(self, revision: int) -> int:
        """Return the revision that watches have reached, of writes up to `revision`."""
        if self._resource in (NODES, PODS):
            with suppress(ApiError):  # without a controller the cache is the next best
                seen = await self._direct.desk.seen()
                position = seen.nodes if self._resource == NODES else seen.pods
                if not self._is_silent(position, revision):
                    return position
        path = f"{self._resource.path(self._namespace, 'none')}?resourceVersion={revision}"
        response = await self._direct.client.pool.request("GET", path)
        return revision if response.status in {200, 404} else 0

    def _is_silent(self, position: int, revision: int) -> bool:
        """Tell whether the controller has been at `position` for long, short of `revision`."""
        now = asyncio.get_running_loop().time()
        if position > self._controller or position >= revision:
            self._controller, self._silent_since = position, None
        elif self._silent_since is None:
            self._silent_since = now
        return self._silent_since is not None and now - self._silent_since >= self._silence


async def _follow(window: Window, sight: _Sight) -> None:
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        if not window.unseen or not window.latest:
            continue
        try:
            window.seen(await sight.reached(window.latest))
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
