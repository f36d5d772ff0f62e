"""Waits until the API server shows objects that were written to etcd past it."""

import asyncio
from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

import msgspec

from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.dataplane.objects.stored_kind import StoredKind, stored_kind
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.etcd.marks.mark_difference import Write
from kwokctl.json_value import Json
from kwokctl.kube.client import Client

_LOOK_EVERY = 0.02
_PATIENCE = 5.0
"""Seconds after which the wait ends: the next comparison finds what is missing."""
_MISSING = 404


class ApiView:
    """The objects that an API server shows."""

    def __init__(self, client: Client, scope: RewindScope) -> None:
        """Ask through `client`."""
        self._client = client
        self._scope = scope

    async def wait_shown(self, written: Iterable[tuple[Write, int]]) -> None:
        """Wait until the watch of each kind that was written has reached its last write."""
        latest: dict[StoredKind, tuple[Write, int]] = {}
        for write, revision in written:
            kind = stored_kind(write.former if write.value is None else write.value)
            if kind and (kind not in latest or latest[kind][1] < revision):
                latest[kind] = write, revision
        shown = (self._shown(kind, *last) for kind, last in latest.items())
        await asyncio.gather(*shown)

    async def wait_established(self, definitions: Iterable[Write]) -> None:
        """Wait until the kinds of CustomResourceDefinitions are served."""
        served = (self._served(path) for each in definitions for path in _paths(each.value or b""))
        await asyncio.gather(*served)

    async def _shown(self, kind: StoredKind, write: Write, revision: int) -> None:
        """Ask for an object at a revision or later: the API server answers when its watch is there."""
        try:
            resource = await self._client.resource_for(kind.api_version, kind.kind)
            words = self._scope.words(write.key)
            path = resource.path(words[-2] if resource.namespaced else None, words[-1])
            await self._client.call("GET", f"{path}?{urlencode({'resourceVersion': revision})}")
        except (ApiError, NotFoundError):
            # The object is gone, or its kind is not served, so there is no watch to wait for. A kind that is
            # served late is found by the next comparison.
            return

    async def _served(self, path: str) -> None:
        until = asyncio.get_running_loop().time() + _PATIENCE
        while asyncio.get_running_loop().time() < until:
            try:
                await self._client.call("GET", f"{path}?limit=1")
            except ApiError as e:
                if e.status == _MISSING:
                    await asyncio.sleep(_LOOK_EVERY)
                    continue
            return


def _paths(definition: bytes) -> Sequence[str]:
    """Return the paths of the collections that a CustomResourceDefinition serves."""
    try:
        spec: Json = msgspec.json.decode(definition)["spec"]
        names = spec["names"]["plural"]
        return [
            f"/apis/{spec['group']}/{version['name']}/{names}"
            for version in spec["versions"]
            if version["served"]
        ]
    except (msgspec.MsgspecError, KeyError, TypeError):
        return ()
