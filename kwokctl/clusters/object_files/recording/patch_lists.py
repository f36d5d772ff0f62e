"""The strategies with which a strategic merge patch merges lists, as the API server publishes them.

That is in its OpenAPI documents, with `x-kubernetes-patch-strategy` and
`x-kubernetes-patch-merge-key`; of custom resources nothing is published: their lists are replaced.
"""

from collections.abc import Iterable, Mapping

import msgspec
import orjson

from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.resource import Resource

_ROOT = "/openapi/v3"
_KINDS = "x-kubernetes-group-version-kind"
_STRATEGY, _MERGED = "x-kubernetes-patch-strategy", "merge"
_REFERENCE = "#/components/schemas/"


class PatchSchema(msgspec.Struct, frozen=True):
    """The merge strategies of an object, or of a field of an object."""

    schema: Mapping[str, Json]
    others: Mapping[str, Mapping[str, Json]]
    """All schemas of the document, by name."""

    @property
    def is_merged(self) -> bool:
        """Whether the items of the list are merged with those that are there."""
        return _MERGED in str(self.schema.get(_STRATEGY, "")).split(",")

    def field(self, name: str) -> "PatchSchema":
        """Return what is known of a field, or of the values of a map."""
        known = self._resolved
        found = (known.get("properties") or {}).get(name)
        if found is None:
            more = known.get("additionalProperties")
            found = more if isinstance(more, dict) else {}
        return PatchSchema(found, self.others)

    @property
    def _resolved(self) -> Mapping[str, Json]:
        schema = self.schema
        for part in (schema, *(schema.get("allOf") or ())):
            if name := part.get("$ref"):
                return self.others.get(str(name).removeprefix(_REFERENCE), {})
        return schema


UNKNOWN = PatchSchema({}, {})


async def patch_schemas(
    client: Client, resources: Iterable[Resource]
) -> dict[Resource, PatchSchema]:
    """Return the schemas of kinds; those that are not published are left out."""
    try:
        root = orjson.loads(await client.call("GET", _ROOT))
    except ApiError as e:
        if e.status in (403, 404):
            return {}
        raise
    found: dict[Resource, PatchSchema] = {}
    wanted = list(resources)
    for version in {resource.api_version for resource in wanted}:
        path = f"apis/{version}" if "/" in version else f"api/{version}"
        if path in root["paths"]:
            url = root["paths"][path]["serverRelativeURL"]
            schemas = orjson.loads(await client.call("GET", url))["components"]["schemas"]
            found |= _schemas(schemas, [r for r in wanted if r.api_version == version])
    return found


def _schemas(
    schemas: Mapping[str, Mapping[str, Json]], wanted: Iterable[Resource]
) -> dict[Resource, PatchSchema]:
    by_kind = {
        (each["group"], each["version"], each["kind"]): schema
        for schema in schemas.values()
        for each in schema.get(_KINDS, ())
        if "metadata" in schema.get("properties", {})
    }
    keys = {resource: (resource.group, resource.version, resource.kind) for resource in wanted}
    return {r: PatchSchema(by_kind[key], schemas) for r, key in keys.items() if key in by_kind}
