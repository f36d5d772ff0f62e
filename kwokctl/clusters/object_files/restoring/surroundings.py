"""The objects that a file refers to but does not have: owners, namespaces, service accounts."""

import asyncio
from collections import defaultdict
from http import HTTPStatus

import orjson

from kwokctl.clusters.object_files.reading import Owner
from kwokctl.clusters.object_files.restoring.checking import RestoreItem
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.kube.client import Client
from kwokctl.kube.resource import NAMESPACES, SERVICE_ACCOUNTS, Resource
from kwokctl.kube.stored_json import ObjectInJson


class Surroundings:
    """The objects of a cluster that are not in a file."""

    def __init__(self, client: Client) -> None:
        """Read and create objects through `client`."""
        self._client = client
        self._uids: dict[tuple[str, str, str | None, str], str] = {}
        self._made: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._done: set[str] = set()

    async def uid_of(self, owner: Owner, namespace: str | None) -> str:
        """Return the uid of an owner in the cluster; empty if it does not exist."""
        key = (owner.api_version, owner.kind, namespace, owner.name)
        if not self._uids.get(key):
            self._uids[key] = await self._found(owner, namespace)
        return self._uids[key]

    async def helped(self, refusal: ApiError, item: RestoreItem, value: ObjectInJson) -> bool:
        """Create the object that a refused one lacks; False if that is not the reason of the refusal."""
        text, namespace = str(refusal).lower(), item.object.namespace
        if refusal.status == HTTPStatus.NOT_FOUND and namespace:
            await self._make(NAMESPACES, None, namespace)
            return True
        if refusal.status != HTTPStatus.FORBIDDEN or "found" not in text:
            return False
        if "serviceaccount" in text and namespace:
            name = (value.get("spec") or {}).get("serviceAccountName") or "default"
            await self._make(SERVICE_ACCOUNTS, namespace, name)
        return True

    async def _found(self, owner: Owner, namespace: str | None) -> str:
        try:
            resource = await self._client.resource_for(owner.api_version, owner.kind)
        except NotFoundError:
            return ""
        where = namespace if resource.namespaced else None
        found = await self._client.find(resource, where, owner.name)
        return str(found["metadata"]["uid"]) if found else ""

    async def _make(self, resource: Resource, namespace: str | None, name: str) -> None:
        """Create an object with only a name, at most once."""
        path = resource.path(namespace, name)
        async with self._made[path]:
            if path in self._done:
                return
            self._done.add(path)
            body = {
                "apiVersion": resource.api_version,
                "kind": resource.kind,
                "metadata": {"name": name},
            }
            try:
                await self._client.create(resource, namespace, orjson.dumps(body))
            except ApiError as e:
                if e.reason != "AlreadyExists":
                    raise
