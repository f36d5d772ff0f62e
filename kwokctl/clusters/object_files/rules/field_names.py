"""Tells the fields of a custom resource's definition from names that users have chosen. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Self

import msgspec

from kwokctl.json_value import Json

_EMBEDDED = "x-kubernetes-embedded-resource"


def _fields(*names: str) -> dict[str, Json]:
    return {"properties": {name: {} for name in names}}


_METADATA = _fields(
    "name", "generateName", "namespace", "uid", "resourceVersion", "generation",
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "labels", "annotations", "finalizers", "selfLink", "ownerReferences",
)  # fmt: skip
_METADATA["properties"]["ownerReferences"] = {
    "items": _fields("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
}
"""The fields of any object's metadata."""
_OF_OBJECTS: Mapping[str, Json] = {"apiVersion": {}, "kind": {}, "metadata": _METADATA}


class DeclaredFields(msgspec.Struct, frozen=True):
    """The part of a schema (structural, as in `openAPIV3Schema`) that belongs to one value."""

    schema: Mapping[str, Json] = msgspec.field(default_factory=dict)
    """Empty where nothing is declared, so that every name is the user's."""
    is_object: bool = False
    """Whether the value is a whole object, which has metadata whatever the schema says."""

    def declares(self, name: str) -> bool:
        """Return whether `name` is a field, and not a key that a user has chosen."""
        return name in self._fields

    def below(self, name: str) -> Self:
        """Return what is declared of the value of a field or key."""
        return self._part(self._fields.get(name) or self.schema.get("additionalProperties"))

    def item(self) -> Self:
        """Return what is declared of the items of a list."""
        return self._part(self.schema.get("items"))

    @property
    def _fields(self) -> Mapping[str, Json]:
        own: Mapping[str, Json] = self.schema.get("properties") or {}
        return {**own, **_OF_OBJECTS} if self.is_object else own

    def _part(self, schema: Json) -> Self:
        if not isinstance(schema, dict):
            return type(self)()
        return type(self)(schema, is_object=schema.get(_EMBEDDED) is True)


CustomFields = Mapping[tuple[str, str], DeclaredFields]
"""The fields of custom resources, by API version and kind."""


def custom_fields(definitions: Iterable[Mapping[str, Json]]) -> CustomFields:
    """Return what CustomResourceDefinitions declare."""
    return {key: found for each in definitions for key, found in _versions(each["spec"])}


def _versions(spec: Mapping[str, Json]) -> Iterator[tuple[tuple[str, str], DeclaredFields]]:
    for version in spec.get("versions") or ():
        schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        key = f"{spec['group']}/{version['name']}", str(spec["names"]["kind"])
        yield key, DeclaredFields(schema, is_object=True)
