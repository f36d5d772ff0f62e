"""The objects of a cluster, over connections that stay open between two calls."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from kwokctl.clusters.objects.apply import apply_all
from kwokctl.clusters.objects.kinds import KindFinder
from kwokctl.clusters.objects.wait import ObjectWait, wait_for
from kwokctl.errors import ApiError, UsageError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool

_MISSING = 404


class ClusterObjects:
    """Reads and writes objects; all within one event loop."""

    def __init__(self, kubeconfig: Path) -> None:
        self._kubeconfig = kubeconfig
        self._client: Client | None = None
        self._finder: KindFinder | None = None

    async def apply(
        self, objects: Sequence[Mapping[str, Json]], namespace: str
    ) -> list[dict[str, Json]]:
        """Apply objects, and return them as they are stored."""
        return await apply_all(self._connected(), objects, namespace=namespace)

    async def get(self, what: str, namespace: str) -> dict[str, Json]:
        """Return the object `KIND/NAME`."""
        resource, name = await self._located(what)
        return await self._connected().get(resource, namespace, name)

    async def remove(self, what: str, namespace: str) -> None:
        """Delete the object `KIND/NAME`, if it is there."""
        resource, name = await self._located(what)
        try:
            await self._connected().call("DELETE", resource.path(namespace, name))
        except ApiError as e:
            if e.status != _MISSING:
                raise

    async def find(self, kind: str, namespace: str | None, selector: str) -> list[dict[str, Json]]:
        """Return the objects of a kind."""
        client = self._connected()
        resource = await self._kinds(client).find(kind)
        query = ListQuery(resource=resource, namespace=namespace, label_selector=selector)
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        return [
            {**head, **msgspec.json.decode(each)}
            async for page in list_pages(client.pool, query)
            for each in page.objects
        ]

    async def wait_for(self, wanted: ObjectWait, seconds: float) -> list[dict[str, Json]]:
        """Wait until objects are as wanted."""
        client = self._connected()
        return await wait_for(client.pool, self._kinds(client), wanted, seconds)

    def forget_kinds(self) -> None:
        """Look for kinds again: a rewind may have removed some."""
        if self._client is not None:
            self._client = Client(self._client.pool)
        self._finder = None

    async def close(self) -> None:
        """Let the connections go."""
        client, self._client, self._finder = self._client, None, None
        if client is not None:
            await client.pool.close()

    def _connected(self) -> Client:
        if self._client is None:
            self._client = Client(Pool(load_access(self._kubeconfig)))
        return self._client

    def _kinds(self, client: Client) -> KindFinder:
        if self._finder is None:
            self._finder = KindFinder(client)
        return self._finder

    async def _located(self, what: str) -> tuple[Resource, str]:
        kind, slash, name = what.partition("/")
        if not (slash and name):
            raise UsageError(f"'{what}' is not KIND/NAME", hint="for example: deployment/web")
        return await self._kinds(self._connected()).find(kind), name
