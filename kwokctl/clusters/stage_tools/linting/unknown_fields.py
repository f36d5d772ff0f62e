"""Fields of a Stage document that are not in the schema of Stages."""

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import get_args, get_origin

import msgspec

from kwokctl.config.nearest import did_you_mean
from kwokctl.controller.stages.schema import StageSpecShape
from kwokctl.json_value import Json


def unknown_fields(body: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield the path of each field that is not known, and which one may have been meant."""
    yield from _unknown("spec", StageSpecShape, body.get("spec"))


def without(body: Mapping[str, Json], paths: set[str]) -> Json:
    """Return the document without the fields at these paths."""
    return _without("", body, paths)


def _unknown(path: str, shape: object, value: Json) -> Iterator[tuple[str, str]]:
    shape = _of_union(shape)
    if get_origin(shape) is list and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown(f"{path}[{index}]", get_args(shape)[0], item)
    elif isinstance(shape, type) and issubclass(shape, msgspec.Struct) and isinstance(value, dict):
        known = {field.encode_name: field.type for field in msgspec.structs.fields(shape)}
        for name, inner in value.items():
            if name in known:
                yield from _unknown(f"{path}.{name}", known[name], inner)
            else:
                hint = did_you_mean(name, known) or f"fields are: {', '.join(known)}"
                yield f"{path}.{name}", hint


def _of_union(shape: object) -> object:
    """Return the type of a field without None."""
    if isinstance(shape, UnionType):
        return next(each for each in get_args(shape) if each is not type(None))
    return shape


def _without(path: str, value: Json, paths: set[str]) -> Json:
    if isinstance(value, list):
        return [_without(f"{path}[{i}]", item, paths) for i, item in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    inner = {key: f"{path}.{key}".removeprefix(".") for key in value}
    return {
        key: _without(inner[key], item, paths)
        for key, item in value.items()
        if inner[key] not in paths
    }
