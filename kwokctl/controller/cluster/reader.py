"""Looks at single objects over the Kubernetes API."""

from collections.abc import Sequence

from kwokctl.dataplane.port import Target
from kwokctl.kube.client import Client
from kwokctl.kube.resource import Resource


class ApiReader:
    """Reads through a client."""

    def __init__(self, client: Client) -> None:
        """Use the client; who made it closes it."""
        self._client = client

    async def get(self, target: Target) -> bytes:
        """Return one object as it is now."""
        return await self._client.get_raw(target.resource, target.namespace, target.name)

    async def list(
        self, resource: Resource, *, namespace: str = "", field_selector: str = ""
    ) -> Sequence[bytes]:
        """Return the objects of a kind, each as JSON of its own without `apiVersion` and `kind`."""
        pages = self._client.list_pages(
            resource, namespace=namespace or None, field_selector=field_selector
        )
        return [bytes(item) async for page in pages for item in page.objects]

    async def resolve(self, api_version: str, kind: str) -> Resource:
        """Find the resource that serves a kind; NotFoundError if there is none."""
        return await self._client.resource_for(api_version, kind)
