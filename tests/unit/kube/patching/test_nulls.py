from collections.abc import Iterator

from kwokctl.dataplane.objects.api_types import SCALARS, ApiField, Many, api_type, type_of_kind
from kwokctl.kube.patching.nulls import MAPS


def all_fields(full_name: str, seen: set[str]) -> Iterator[ApiField]:
    """Yield the fields of a type, and of all types within it."""
    if full_name in SCALARS or full_name in seen:
        return
    seen.add(full_name)
    for field in api_type(full_name).fields:
        yield field
        yield from all_fields(field.of, seen)


def test_the_maps_of_nodes_and_pods_are_those_of_the_api() -> None:
    kinds = [type_of_kind("v1", kind) for kind in ("Node", "Pod")]
    fields = [each for kind in kinds if kind for each in all_fields(f"core/v1.{kind.name}", set())]

    assert {field.name for field in fields if field.many is Many.MAP} == MAPS
