"""Finds out which objects of gangs a cluster serves, and which of them may be listed."""

import asyncio
from collections.abc import Mapping

from kwokctl.errors import ApiError, NotFoundError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, one_page
from kwokctl.kube.resource import Resource
from kwokctl.measure.watching.gangs import GANG_KINDS, GangKind

_REFUSED = (403, 404)


async def served_gangs(client: Client, namespace: str) -> Mapping[str, Resource | str]:
    """Return the served kinds by their names: the resource, or why its objects are not watched."""
    found = await asyncio.gather(*(_served(client, kind, namespace) for kind in GANG_KINDS))
    return {kind.name: each for kind, each in zip(GANG_KINDS, found, strict=True) if each}


async def _served(client: Client, kind: GangKind, namespace: str) -> Resource | str | None:
    try:
        resource = await _resource(client, kind)
        if resource is not None:
            query = ListQuery(resource=resource, namespace=namespace or None)
            await one_page(client.pool, query.path(limit="1"))
    except ApiError as e:
        if e.status not in _REFUSED:
            raise
        return f"the API server refused to list {kind.name}"
    return resource


async def _resource(client: Client, kind: GangKind) -> Resource | None:
    for version in await client.versions_of(kind.group):
        try:
            return await client.resource_for(version, kind.kind)
        except NotFoundError:
            pass  # scheduling.k8s.io has PodGroups in one of its versions only
    return None
