"""Checks, before anything is changed, that a cluster can take the objects of a file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kwokctl.clusters.object_files.reading import FileObject, ObjectFile
from kwokctl.errors import SnapshotError, UsageError
from kwokctl.kube.resource import Resource
from kwokctl.kube.served_kinds import ServedKind, ServedKinds

DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
_NAMED = 5
"""The most kinds that a message names."""


class RestoreItem(msgspec.Struct, frozen=True, kw_only=True):
    """An object of a file, with its kind in the cluster."""

    object: FileObject
    kind: ServedKind

    @property
    def resource(self) -> Resource:
        """The resource of the object."""
        return self.kind.resource

    @property
    def is_definition(self) -> bool:
        """Whether it is a definition that makes the cluster serve another kind."""
        return (self.resource.group, self.resource.kind) == DEFINITION


def checked(
    file: ObjectFile, served: ServedKinds, words: Sequence[str], start: int
) -> list[RestoreItem]:
    """Return the objects of a file, with `words` only those of the kinds that they name.

    Raises SnapshotError if the file is damaged or has no objects, if the cluster does not serve the
    kind of one, or if one lacks its namespace; UsageError for a word that names no kind.
    """
    objects = list(file.objects(start))
    if not objects:
        raise SnapshotError(
            f"'{file.path}' holds no objects",
            hint="save some with: kwokctl snapshot save --format k8s",
        )
    kinds = _Kinds(served, _defined(objects))
    wanted = [_group_and_kind(served, kinds, word) for word in words]
    if wanted:
        objects = [each for each in objects if (each.group, each.kind) in wanted]
    _demand(file, kinds, objects)
    items = [RestoreItem(object=each, kind=kinds.of(each)) for each in objects]
    _demand_namespaces(file, items)
    return items


class _Kinds:
    """The kinds that a cluster serves, and those that definitions of a file add."""

    def __init__(self, served: ServedKinds, defined: Mapping[tuple[str, str], ServedKind]) -> None:
        self.served = served
        self.defined = defined

    def find(self, each: FileObject) -> ServedKind | None:
        key = each.api_version, each.kind
        return self.served.get(*key) or self.defined.get(key)

    def of(self, each: FileObject) -> ServedKind:
        found = self.find(each)
        assert found is not None
        return found


def _group_and_kind(served: ServedKinds, kinds: _Kinds, word: str) -> tuple[str, str]:
    found = served.find(word) or ServedKinds(kinds.defined.values()).find(word)
    if found is None:
        raise UsageError(
            f"'--filter' is '{word}', which this cluster does not serve",
            hint="give names of: kubectl api-resources --output name",
        )
    return found.resource.group, found.resource.kind


def _demand(file: ObjectFile, kinds: _Kinds, objects: Iterable[FileObject]) -> None:
    """Raise SnapshotError if the cluster does not serve the kinds of objects."""
    lines: dict[tuple[str, str], int] = {}
    for each in objects:
        if kinds.find(each) is None:
            lines.setdefault((each.api_version, each.kind), each.line)
    if not lines:
        return
    named = [_unknown(kinds.served, *key, line) for key, line in lines.items()]
    more = f"; and {len(named) - _NAMED} more kinds" if len(named) > _NAMED else ""
    raise SnapshotError(
        f"this cluster does not serve kinds of '{file.path}': {'; '.join(named[:_NAMED])}{more}",
        hint="install what defines them, or name the kinds to restore with --filter; nothing was "
        "touched",
    )


def _demand_namespaces(file: ObjectFile, items: Iterable[RestoreItem]) -> None:
    """Raise SnapshotError for objects of namespaced kinds that do not name their namespace."""
    lost = [
        f"{item.object.label} (line {item.object.line})"
        for item in items
        if item.resource.namespaced and not item.object.namespace
    ]
    if lost:
        more = f"; and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        raise SnapshotError(
            f"objects of '{file.path}' have no 'metadata.namespace': {'; '.join(lost[:_NAMED])}{more}",
            hint="write it into the file; nothing was touched",
        )


def _unknown(served: ServedKinds, api_version: str, kind: str, line: int) -> str:
    versions = served.versions(api_version.rpartition("/")[0], kind)
    known = f", but {', '.join(versions)}" if versions else ""
    return f"'{kind}' of '{api_version}' (line {line}){known}"


def _defined(objects: Iterable[FileObject]) -> dict[tuple[str, str], ServedKind]:
    found: dict[tuple[str, str], ServedKind] = {}
    for each in objects:
        if (each.group, each.kind) == DEFINITION:
            found |= {(k.resource.api_version, k.resource.kind): k for k in kinds_of(each)}
    return found


class _Names(msgspec.Struct, rename="camel"):
    plural: str
    kind: str
    singular: str = ""
    short_names: list[str] = []


class _Version(msgspec.Struct):
    name: str
    served: bool = True
    subresources: dict[str, msgspec.Raw] = {}


class _Spec(msgspec.Struct):
    group: str
    names: _Names
    scope: str
    versions: list[_Version]


class _Definition(msgspec.Struct):
    spec: _Spec


def kinds_of(definition: FileObject) -> Iterator[ServedKind]:
    """Yield the kinds that a CustomResourceDefinition makes a cluster serve."""
    try:
        spec = msgspec.json.decode(definition.body, type=_Definition).spec
    except msgspec.ValidationError:
        return  # the API server refuses such a definition, so it adds no kind
    names = (spec.names.plural, spec.names.singular, spec.names.kind.lower())
    for version in spec.versions:
        yield ServedKind(
            resource=Resource(
                spec.group,
                version.name,
                spec.names.plural,
                spec.names.kind,
                namespaced=spec.scope == "Namespaced",
            ),
            names=frozenset((*filter(None, names), *spec.names.short_names)),
            verbs=frozenset(("list", "create", "update")),
            has_status="status" in version.subresources,
        )
