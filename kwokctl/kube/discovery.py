"""Finds the resources that an API server has for kinds."""

import msgspec

from kwokctl.errors import NotFoundError
from kwokctl.kube.resource import KNOWN, Resource, quoted
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.refusals import refusal

_KNOWN = {(r.api_version, r.kind): r for r in KNOWN}


class Discovery:
    """Finds resources; what was found once is not asked for again."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._found = dict(_KNOWN)

    async def resource_for(self, api_version: str, kind: str) -> Resource:
        """Return the resource that serves a kind; NotFoundError lists the kinds that are served."""
        if known := self._found.get((api_version, kind)):
            return known
        served = await self._served(api_version)
        if served is None:
            raise NotFoundError(
                f"this cluster does not serve '{api_version}', the API version of '{kind}'",
                hint=f"it serves {', '.join(await self._versions())}",
            )
        for resource in served:
            self._found[resource.api_version, resource.kind] = resource
        if found := self._found.get((api_version, kind)):
            return found
        kinds = sorted({resource.kind for resource in served})
        raise NotFoundError(
            f"this cluster has no kind '{kind}' in '{api_version}'",
            hint=f"it has {', '.join(kinds)}",
        )

    async def versions_of(self, group: str) -> list[str]:
        """Return the API versions of a group that are served, the preferred one first; none without the group."""
        response = await self._pool.request("GET", f"/apis/{quoted(group)}")
        if response.status == 404:
            return []
        if response.status >= 400:
            raise refusal(response.status, response.body)
        found = msgspec.json.decode(response.body)
        return list(dict.fromkeys(
            each["groupVersion"] for each in (found["preferredVersion"], *found["versions"])
        ))  # fmt: skip

    def forget(self, resource: Resource) -> None:
        """Ask for a resource again."""
        self._found.pop((resource.api_version, resource.kind), None)

    async def _served(self, api_version: str) -> list[Resource] | None:
        group, _, version = api_version.rpartition("/")
        root = f"/apis/{quoted(group)}/{quoted(version)}" if group else f"/api/{quoted(version)}"
        response = await self._pool.request("GET", root)
        if response.status == 404:
            return None
        if response.status >= 400:
            raise refusal(response.status, response.body)
        return [
            Resource(group, version, each["name"], each["kind"], namespaced=each["namespaced"])
            for each in msgspec.json.decode(response.body)["resources"]
            if "/" not in each["name"]
        ]

    async def _versions(self) -> list[str]:
        response = await self._pool.request("GET", "/apis")
        if response.status >= 400:
            raise refusal(response.status, response.body)
        groups = msgspec.json.decode(response.body)["groups"]
        return ["v1", *(each["groupVersion"] for group in groups for each in group["versions"])]
