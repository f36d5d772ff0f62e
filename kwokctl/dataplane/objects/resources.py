"""Which kinds there are, by what names they are called, and where their objects are in etcd.

Nothing is asked of an API server: the built-in kinds are those of the table `kubernetes/resources.txt`, the
others are defined by CustomResourceDefinitions, which are in the same etcd.
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
"""The folder of what defines other kinds."""


class StoredResource(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of object."""

    group: str
    kind: str
    plural: str
    is_namespaced: bool
    folder: str
    """Below the prefix of all keys."""
    others: tuple[str, ...]
    """More names: singular and short ones."""
    versions: tuple[str, ...]
    """The `apiVersion`s that its objects may have."""
    is_custom: bool

    @property
    def names(self) -> Iterator[str]:
        """Return all that it may be called."""
        for name in (self.plural, *self.others):
            yield name
            if self.group:
                yield f"{name}.{self.group}"


class StoredResources(msgspec.Struct, frozen=True):
    """All kinds of one etcd."""

    all: tuple[StoredResource, ...]

    def find(self, word: str) -> StoredResource:
        """Return the kind that a name stands for, such as `no`, `pods` or `deployments.apps`."""
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
        """Return the resource of a kind; NotFoundError if it has no such version either."""
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
        """Return these with what CustomResourceDefinitions define, in place of what they did before."""
        custom = (each for each in self.all if each.is_custom)
        return StoredResources((*resources_with(definitions).all, *custom))

    def namespace_of(self, key: str) -> str | None:
        """Return the namespace in a key, given without the prefix; None if it is in none."""
        for each in self.all:
            folder = f"{each.folder}/"
            if each.is_namespaced and key.startswith(folder):
                namespace, _, name = key.removeprefix(folder).partition("/")
                return namespace if name else None
        return None


def resources_with(definitions: Iterable[Mapping[str, Json]]) -> StoredResources:
    """Return the built-in kinds, and those that CustomResourceDefinitions define."""
    custom = (found for each in definitions for found in _defined(each))
    return StoredResources((*_built_in(), *custom))


def is_built_in(group: str, kind: str) -> bool:
    """Tell whether an API server has a kind without any definition."""
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
    """Yield the kind of a definition; none for one that defines nothing."""
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
