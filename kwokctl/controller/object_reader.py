"""Reads single objects for the controller, beside its watches."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from kwokctl.dataplane.port import ObjectKey
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_from_cache, list_pages
from kwokctl.kube.resource import Resource


class ObjectReader(Protocol):
    """Reads objects as JSON. Every method raises ApiError when the cluster refuses."""

    async def get(self, target: ObjectKey) -> bytes:
        """Return one object as it is now."""
        ...

    async def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        field_selector: str = "",
        label_selector: str = "",
    ) -> Sequence[bytes]:
        """Return the objects of a kind, each as JSON without `apiVersion` and `kind`."""
        ...

    def pages(self, resource: Resource) -> AsyncIterator[Sequence[bytes]]:
        """Yield the objects of a kind, not older than they are now, some at a time."""
        ...

    def cached(self, resource: Resource, namespace: str) -> AsyncIterator[Sequence[bytes]]:
        """Yield the objects of a kind in a namespace as they were shortly ago, some at a time."""
        ...

    async def resolve(self, api_version: str, kind: str) -> Resource:
        """Find the resource that serves a kind; NotFoundError without one."""
        ...


class ApiObjectReader:
    """Reads over the Kubernetes API."""

    def __init__(self, client: Client) -> None:
        """Read with `client`, which the caller closes."""
        self._client = client

    async def get(self, target: ObjectKey) -> bytes:
        """Return one object as it is now."""
        return await self._client.get_raw(target.resource, target.namespace, target.name)

    async def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        field_selector: str = "",
        label_selector: str = "",
    ) -> Sequence[bytes]:
        """Return the objects of a kind, each as JSON of its own without `apiVersion` and `kind`."""
        query = ListQuery(
            resource=resource,
            namespace=namespace,
            field_selector=field_selector,
            label_selector=label_selector,
        )
        return [item async for page in self._pages(query) for item in page]

    def pages(self, resource: Resource) -> AsyncIterator[Sequence[bytes]]:
        """Yield the objects of a kind, not older than they are now, some at a time."""
        return self._pages(ListQuery(resource=resource))

    async def cached(self, resource: Resource, namespace: str) -> AsyncIterator[Sequence[bytes]]:
        """Yield the objects of a kind in a namespace from the API server's cache."""
        query = ListQuery(resource=resource, namespace=namespace)
        async for page in list_from_cache(self._client.pool, query):
            yield [bytes(item) for item in page.objects]

    async def resolve(self, api_version: str, kind: str) -> Resource:
        """Find the resource that serves a kind; NotFoundError without one."""
        return await self._client.resource_for(api_version, kind)

    async def _pages(self, query: ListQuery) -> AsyncIterator[Sequence[bytes]]:
        async for page in list_pages(self._client.pool, query):
            yield [bytes(item) for item in page.objects]
