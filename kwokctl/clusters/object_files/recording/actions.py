"""The changes of a recording: documents that the original writes and reads, too."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

import msgspec

from kwokctl.clusters.object_files.reading import ACTION_KIND, ACTION_VERSION, ObjectFile
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource
from kwokctl.kube.served_kinds import ServedKind, ServedKinds

_GENERATIONS = 8
"""Owners above each other that are looked at."""


class Method(StrEnum):
    """The kind of a change: an object is created, patched or deleted."""

    CREATE = "create"
    PATCH = "patch"
    DELETE = "delete"


class ActionResource(msgspec.Struct, frozen=True, omit_defaults=True):
    """A collection of the API."""

    version: str
    resource: str
    group: str = ""

    @property
    def api_version(self) -> str:
        """As objects have it."""
        return f"{self.group}/{self.version}" if self.group else self.version


class ActionTarget(msgspec.Struct, frozen=True, omit_defaults=True):
    """One object of it."""

    name: str
    namespace: str = ""


class RecordedAction(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One change of one object."""

    api_version: str = ""
    kind: str = ""
    resource: ActionResource
    target: ActionTarget
    duration_nanosecond: int
    """Since the recording began."""
    method: Method
    template: dict[str, Json] | None = None
    """The whole object, or a strategic merge patch of it; None for a deletion."""

    @property
    def seconds(self) -> float:
        """The time of the change in seconds."""
        return self.duration_nanosecond / 1e9

    def document(self) -> Mapping[str, Json]:
        """Return it as a document."""
        head = {"apiVersion": ACTION_VERSION, "kind": ACTION_KIND}
        fields: dict[str, Json] = msgspec.to_builtins(self)
        return head | fields


class ReplayAction(msgspec.Struct, frozen=True, kw_only=True):
    """A change, and of what kind the object is."""

    line: int
    action: RecordedAction
    kind: ServedKind

    @property
    def path(self) -> str:
        """The path of the object in the API."""
        target = self.action.target
        return self.kind.resource.path(target.namespace or None, target.name)

    @property
    def label(self) -> str:
        """Its name in messages."""
        target = self.action.target
        where = f"{target.namespace}/" if target.namespace else ""
        return f"{self.action.method} of {self.kind.resource.kind} '{where}{target.name}'"


def in_time(actions: Iterable[ReplayAction]) -> list[ReplayAction]:
    """Return changes in the order of their times, but none before its owner is created.

    Kinds are watched side by side: what follows from a change can have been seen before it.
    """
    ordered = sorted(actions, key=lambda each: each.action.duration_nanosecond)
    places = {uid: place for place, each in enumerate(ordered) if (uid := _uid(each))}
    known: dict[int, tuple[int, int]] = {}

    def place(number: int, depth: int = 0) -> tuple[int, int]:
        """Return the place of the last of an object and its owners, and how many they are."""
        if number not in known:
            above = [places[uid] for uid in _owners(ordered[number]) if uid in places]
            found = [place(each, depth + 1) for each in above if depth < _GENERATIONS]
            known[number] = max(((p, d + 1) for p, d in found if p >= number), default=(number, 0))
        return known[number]

    return [ordered[number] for number in sorted(range(len(ordered)), key=place)]


def _uid(action: ReplayAction) -> str:
    if action.action.method is not Method.CREATE:
        return ""
    return str(_metadata(action).get("uid") or "")


def _owners(action: ReplayAction) -> list[str]:
    if action.action.method is not Method.CREATE:
        return []
    owners = _metadata(action).get("ownerReferences") or ()
    return [str(each.get("uid", "")) for each in owners]


def _metadata(action: ReplayAction) -> Mapping[str, Json]:
    found: Mapping[str, Json] = (action.action.template or {}).get("metadata") or {}
    return found


def action_of(
    resource: Resource, metadata: Mapping[str, Json], method: Method, since: int
) -> RecordedAction:
    """Return what happened to an object, `since` nanoseconds after the beginning."""
    return RecordedAction(
        resource=ActionResource(resource.version, resource.plural, resource.group),
        target=ActionTarget(metadata["name"], metadata.get("namespace") or ""),
        duration_nanosecond=since,
        method=method,
    )


def checked_actions(
    file: ObjectFile, served: ServedKinds, start: int, defined: Mapping[tuple[str, str], ServedKind]
) -> Iterator[ReplayAction]:
    """Yield the changes of a file; SnapshotError, with the line, for one that cannot be done.

    `defined` are kinds that the file itself makes the cluster serve, by API version and plural.
    """
    known = {(k.resource.api_version, k.resource.plural): k for k in served.all} | dict(defined)
    for line, value in file.actions(start):
        try:
            action = msgspec.convert(value, RecordedAction)
        except msgspec.ValidationError as e:
            problem = str(e).replace("`", "'")
            raise file.fault(line, f"this change cannot be understood: {problem}") from e
        if (action.template is None) is not (action.method is Method.DELETE):
            has = "lacks the" if action.template is None else "must have no"
            raise file.fault(line, f"the change '{action.method}' {has} field 'template'")
        key = (action.resource.api_version, action.resource.resource)
        if key not in known:
            raise file.fault(
                line,
                f"this cluster does not serve '{key[1]}' of '{key[0]}'",
                "install what defines it, or record without it by --filter; nothing was touched",
            )
        yield ReplayAction(line=line, action=action, kind=known[key])
