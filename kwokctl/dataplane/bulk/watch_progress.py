"""Reports the progress of a cluster's watches, which paces writes to etcd.

The controller of the cluster watches nodes and pods like any other client, so it is asked for the
revision that it has reached: another watch on a hundred thousand pods would cost more. For other kinds
the API server's watch cache is asked: a GET with a `resourceVersion` is answered once the cache has
reached it (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions).

The cache is also asked for nodes and pods while the controller reports no progress: its watches
leave out pods that are on no node, and nodes that it does not manage.
"""

import asyncio
from contextlib import suppress

from kwokctl.dataplane.bulk.locate import BulkAccess
from kwokctl.dataplane.pacing import Window
from kwokctl.errors import ApiError
from kwokctl.kube.resource import NODES, PODS, Resource

SILENT = 5.0
"""Seconds without news from the controller after which the watch cache is queried."""
UNPLACED = 1.0
"""Those for pods that may be on no node: the controller sees pods only once they are scheduled."""
AT_ONCE = 0.0
"""Those for such pods that arrive all the time: what the controller sees meanwhile are earlier ones."""
_LOOK_EVERY = 0.03


class WatchProgress:
    """The revision that watches have reached, as the controller or the API server reports it."""

    def __init__(
        self, access: BulkAccess, resource: Resource, namespace: str | None, silence: float
    ) -> None:
        """Ask the API server after `silence` seconds without news from the controller."""
        self._controller = access.controller
        self._pool = access.client.pool
        self._resource = resource
        self._path = f"{resource.path(namespace, 'none')}?resourceVersion="
        self._silence = silence
        self._position = 0
        self._silent_since: float | None = None

    async def reached(self, revision: int) -> int:
        """Return the revision that watches have reached, at most `revision`."""
        if self._controller is not None and self._resource in (NODES, PODS):
            with suppress(ApiError):  # without a controller the watch cache is queried
                seen = await self._controller.seen()
                position = seen.nodes if self._resource == NODES else seen.pods
                if not self._is_silent(position, revision):
                    return position
        response = await self._pool.request("GET", f"{self._path}{revision}")
        return revision if response.status in {200, 404} else 0

    def _is_silent(self, position: int, revision: int) -> bool:
        """Return whether the controller has stayed at `position`, before `revision`, for too long."""
        now = asyncio.get_running_loop().time()
        if position > self._position or position >= revision:
            self._position, self._silent_since = position, None
        elif self._silent_since is None:
            self._silent_since = now
        return self._silent_since is not None and now - self._silent_since >= self._silence


async def follow_watches(window: Window, progress: WatchProgress) -> None:
    """Notify a window of the progress of watches, until cancelled."""
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        if not window.unseen or not window.latest:
            continue
        try:
            window.seen(await progress.reached(window.latest))
        except ApiError:
            continue  # the window still allows some writes until there is an answer again
