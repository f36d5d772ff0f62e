"""The kinds that an API server serves, by all their names."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.resource import Resource

_CORE = "/api/v1"


class ServedKind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind, and what can be done with it."""

    resource: Resource
    names: frozenset[str]
    """In lower case: plural, singular, kind, and short names."""
    verbs: frozenset[str]
    has_status: bool
    """Whether its status is written by a request of its own."""


class _Entry(msgspec.Struct, rename="camel"):
    name: str
    kind: str
    namespaced: bool = False
    verbs: list[str] = []
    singular_name: str = ""
    short_names: list[str] = []


class _ResourceList(msgspec.Struct):
    resources: list[_Entry] = []


class _Version(msgspec.Struct, rename="camel"):
    group_version: str


class _Group(msgspec.Struct, rename="camel"):
    versions: list[_Version]
    preferred_version: _Version

    @property
    def in_order(self) -> Iterator[str]:
        """Its versions, the preferred one first."""
        first = self.preferred_version.group_version
        yield first
        yield from (v.group_version for v in self.versions if v.group_version != first)


class _GroupList(msgspec.Struct):
    groups: list[_Group] = []


class ServedKinds:
    """The kinds of one API server; those of the core group come first."""

    def __init__(self, kinds: Iterable[ServedKind]) -> None:
        """Of one kind in several versions, the first is preferred."""
        self.all: Sequence[ServedKind] = tuple(kinds)
        self._by_version = {(k.resource.api_version, k.resource.kind): k for k in self.all}

    def find(self, word: str) -> ServedKind | None:
        """Return the kind that a word names: `po`, `deployment.apps`, `jobs.v1.batch`."""
        name, _, rest = word.lower().partition(".")
        for kind in self.all:
            resource = kind.resource
            groups = ("", resource.group, f"{resource.version}.{resource.group}".rstrip("."))
            if name in kind.names and rest in groups:
                return kind
        return None

    def get(self, api_version: str, kind: str) -> ServedKind | None:
        """Return a kind in the version that objects of it say."""
        return self._by_version.get((api_version, kind))

    def with_verbs(self, *verbs: str) -> list[Resource]:
        """Return each kind with which all of this can be done, in the version that the API server prefers."""
        preferred: dict[tuple[str, str], Resource] = {}
        for each in self.all:
            if each.verbs.issuperset(verbs):
                preferred.setdefault((each.resource.group, each.resource.plural), each.resource)
        return list(preferred.values())

    def versions(self, group: str, kind: str) -> list[str]:
        """Return the API versions in which a kind of a group is served."""
        resources = (each.resource for each in self.all)
        return [r.api_version for r in resources if (r.group, r.kind) == (group, kind)]


async def served_kinds(client: Client) -> ServedKinds:
    """Ask an API server; groups whose own server does not answer are left out."""
    answer = await client.call("GET", "/apis")
    groups = msgspec.json.decode(answer, type=_GroupList).groups
    versions = ["v1", *(version for group in groups for version in group.in_order)]
    found = await asyncio.gather(*(_served_in(client, version) for version in versions))
    return ServedKinds(kind for kinds in found for kind in kinds)


async def _served_in(client: Client, api_version: str) -> list[ServedKind]:
    path = f"/apis/{api_version}" if "/" in api_version else _CORE
    try:
        answer = await client.call("GET", path)
    except ApiError as e:
        if e.status in (404, 503):  # the server behind it is away
            return []
        raise
    entries = msgspec.json.decode(answer, type=_ResourceList).resources
    below = {entry.name for entry in entries if "/" in entry.name}
    group, _, version = api_version.rpartition("/")
    return [_kind(group, version, each, below) for each in entries if "/" not in each.name]


def _kind(group: str, version: str, entry: _Entry, below: set[str]) -> ServedKind:
    names = (entry.name, entry.singular_name, entry.kind.lower(), *entry.short_names)
    return ServedKind(
        resource=Resource(group, version, entry.name, entry.kind, namespaced=entry.namespaced),
        names=frozenset(filter(None, names)),
        verbs=frozenset(entry.verbs),
        has_status=f"{entry.name}/status" in below,
    )
