"""The kinds of objects in an etcd, with their names and the folders of their keys.

No API server is needed: the built-in kinds are in the table `kubernetes/resources.txt`, all others are
defined by CustomResourceDefinitions in the same etcd.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec

from kwokctl import assets
from kwokctl.config.nearest import did_you_mean
from kwokctl.dataplane.objects.api_types import versions_of_kind
from kwokctl.errors import NotFoundError
from kwokctl.json_value import Json

DEFINITION = "CustomResourceDefinition"
DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions/"
"""The folder of CustomResourceDefinitions."""


class StoredResource(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of object."""

    group: str
    kind: str
    plural: str
    is_namespaced: bool
    folder: str
    """The folder of its keys, below the prefix of all keys."""
    others: tuple[str, ...]
    """Further names: the singular and the short names."""
    versions: tuple[str, ...]
    """The `apiVersion`s of its objects."""
    is_custom: bool

    @property
    def names(self) -> Iterator[str]:
        """Yield all its names."""
        for name in (self.plural, *self.others):
            yield name
            if self.group:
                yield f"{name}.{self.group}"


class StoredResources(msgspec.Struct, frozen=True):
    """All kinds of one etcd."""

    all: tuple[StoredResource, ...]

    def find(self, word: str) -> StoredResource:
        """Return the resource with a name such as `no`, `pods` or `deployments.apps`; NotFoundError if none has."""
        word = word.lower()
        for each in self.all:
            if word in each.names or word == each.kind.lower():
                return each
        known = [each.plural for each in self.all]
        raise NotFoundError(
            f"no kind of object is called '{word}'",
            hint=did_you_mean(word, known) or f"kinds are: {', '.join(sorted(known))}",
        )

    def of_kind(self, api_version: str, kind: str) -> StoredResource:
        """Return the resource of a kind; NotFoundError for an unknown kind or version."""
        group = api_version.rpartition("/")[0]
        found = next((e for e in self.all if (e.group, e.kind) == (group, kind)), None)
        if found is None:
            near = did_you_mean(kind, [each.kind for each in self.all if each.group == group])
            raise NotFoundError(
                f"there is no kind '{kind}' in '{api_version}'",
                hint=near or "a kind of your own needs its CustomResourceDefinition first",
            )
        if api_version not in found.versions:
            raise NotFoundError(
                f"the kind '{kind}' has no version '{api_version}'",
                hint=f"it has {', '.join(found.versions)}",
            )
        return found

    def defining(self, definitions: Iterable[Mapping[str, Json]]) -> "StoredResources":
        """Return these kinds with those of other CustomResourceDefinitions in place of the present ones."""
        custom = (each for each in self.all if each.is_custom)
        return StoredResources((*resources_with(definitions).all, *custom))

    def namespace_of(self, key: str) -> str | None:
        """Return the namespace in a key without the prefix; None if the kind has no namespaces."""
        for each in self.all:
            folder = f"{each.folder}/"
            if each.is_namespaced and key.startswith(folder):
                namespace, _, name = key.removeprefix(folder).partition("/")
                return namespace if name else None
        return None


def resources_with(definitions: Iterable[Mapping[str, Json]]) -> StoredResources:
    """Return the built-in kinds and those of CustomResourceDefinitions."""
    custom = (found for each in definitions for found in _defined(each))
    return StoredResources((*_built_in(), *custom))


def is_built_in(group: str, kind: str) -> bool:
    """Return whether a kind is built into API servers."""
    return (group, kind) in _built_in_kinds()


@cache
def _built_in_kinds() -> frozenset[tuple[str, str]]:
    return frozenset((each.group, each.kind) for each in _built_in())


@cache
def _built_in() -> tuple[StoredResource, ...]:
    lines = assets.text("kubernetes/resources.txt").splitlines()
    return tuple(_read(line.split()) for line in lines if not line.startswith("#"))


def _read(words: list[str]) -> StoredResource:
    group, kind, plural, scope, folder, *short = words
    group = "" if group == "-" else group
    return StoredResource(
        group=group,
        kind=kind,
        plural=plural,
        is_namespaced=scope == "namespaced",
        folder=plural if folder == "-" else folder,
        others=(kind.lower(), *short),
        versions=versions_of_kind(group, kind),
        is_custom=False,
    )


def _defined(definition: Mapping[str, Json]) -> Iterator[StoredResource]:
    """Yield the kind of a definition; nothing for an incomplete definition."""
    try:
        spec = msgspec.convert(definition, _Definition).spec
    except msgspec.ValidationError:
        return
    names, group = spec.names, spec.group
    yield StoredResource(
        group=group,
        kind=names.kind,
        plural=names.plural,
        is_namespaced=spec.scope == "Namespaced",
        folder=f"{group}/{names.plural}",
        others=(names.singular or names.kind.lower(), *(names.short_names or ())),
        versions=tuple(f"{group}/{each.name}" for each in spec.versions),
        is_custom=True,
    )


class _Names(msgspec.Struct, rename="camel"):
    kind: str
    plural: str
    singular: str = ""
    short_names: list[str] | None = None


class _Version(msgspec.Struct):
    name: str


class _Spec(msgspec.Struct):
    group: str
    scope: str
    names: _Names
    versions: list[_Version]


class _Definition(msgspec.Struct):
    spec: _Spec
