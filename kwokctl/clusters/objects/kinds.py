"""Finds a kind by the word for it that kubectl knows, too: `pods`, `deploy`, `widgets.example.com`."""

import asyncio

import msgspec

from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import NotFoundError
from kwokctl.kube.client import Client
from kwokctl.kube.resource import KNOWN, Resource


class _Served(msgspec.Struct, rename="camel"):
    name: str
    kind: str
    namespaced: bool
    singular_name: str = ""
    short_names: tuple[str, ...] = ()


class _Version(msgspec.Struct):
    resources: list[_Served]


class _Preferred(msgspec.Struct, rename={"group_version": "groupVersion"}):
    group_version: str


class _Group(msgspec.Struct, rename={"preferred": "preferredVersion"}):
    preferred: _Preferred


class _Groups(msgspec.Struct):
    groups: list[_Group]


class KindFinder:
    """Knows the kinds that a cluster serves, as far as they were looked for."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._found: dict[str, Resource] = {}
        for resource in KNOWN:
            self._learn(resource, ())

    async def find(self, word: str) -> Resource:
        """Return the resource of a word; NotFoundError if the cluster serves none of that name."""
        key = word.lower()
        if key not in self._found:
            await self._look()
        if found := self._found.get(key):
            return found
        raise NotFoundError(
            f"the cluster has no kind '{word}'",
            hint=did_you_mean(key, self._found) or "list them with: kubectl api-resources",
        )

    async def _look(self) -> None:
        """Ask for every kind in the version that the API server prefers; the first of a name wins."""
        groups = msgspec.json.decode(await self._client.call("GET", "/apis"), type=_Groups)
        versions = ["v1", *(each.preferred.group_version for each in groups.groups)]
        roots = ["/api/v1", *(f"/apis/{version}" for version in versions[1:])]
        answers = await asyncio.gather(*(self._client.call("GET", root) for root in roots))
        for version, answer in zip(versions, answers, strict=True):
            for each in msgspec.json.decode(answer, type=_Version).resources:
                if "/" not in each.name:
                    group, _, number = version.rpartition("/")
                    resource = Resource(group, number, each.name, each.kind, each.namespaced)
                    self._learn(resource, (each.singular_name, *each.short_names))

    def _learn(self, resource: Resource, others: tuple[str, ...]) -> None:
        for word in filter(None, (resource.plural, resource.kind, *others)):
            self._found.setdefault(word.lower(), resource)
            self._found.setdefault(f"{word.lower()}.{resource.group}", resource)
