"""Fields that do not exist: of a Stage document, or of the objects that its conditions are about."""

import re
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import get_args, get_origin

import msgspec

from kwokctl.clusters.stage_tools.rules import expression_of
from kwokctl.config.nearest import did_you_mean
from kwokctl.controller.stages.compiled_stage import Kind, Stage
from kwokctl.controller.stages.selectors import Requirement
from kwokctl.controller.stages.stage_schema import StageSpecShape
from kwokctl.expr.cel import cel_types
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


_KINDS = (Kind("v1", "Node"), Kind("v1", "Pod"))
_PATH = re.compile(r"(?:\.(?:[A-Za-z][A-Za-z0-9]*|\[\d*\])|\[\d*\])+", re.ASCII)
_PART = re.compile(r"[A-Za-z][A-Za-z0-9]*|\[\d*\]", re.ASCII)
_TYPE_FIELDS = frozenset({"apiVersion", "kind"})


def wrong_fields(stage: Stage) -> Iterator[tuple[int, str]]:
    """Yield each condition in jq on a field that does not exist, by its place, and what is wrong.

    Only paths are looked at, such as `.status.conditions.[].type`, and only those of nodes and pods.
    """
    if stage.kind not in _KINDS or stage.selector is None:
        return
    for index, rule in enumerate(stage.selector.conditions):
        path = expression_of(rule)
        if _PATH.fullmatch(path) and (why := _wrong(stage.kind.name, path, rule)):
            yield index, why


def _wrong(kind: str, path: str, rule: Requirement) -> str:
    """Follow a path from struct to struct, as far as its types are known."""
    found = cel_types.struct(kind)
    for part in _PART.findall(path):
        if part.startswith("["):
            if found.kind not in {"list", "map"}:
                return ""
            found = found.params[-1]
            continue
        known = cel_types.fields(found.name) if found.kind == "struct" else {}
        if not known:
            return ""
        if part not in known:
            return "" if part in _TYPE_FIELDS else _unknown_part(part, kind, list(known))
        found = known[part]
    if found.kind == "int" and rule.operator in {"In", "NotIn"}:
        return "never equals a value: it returns a number, and values are strings; add '| tostring'"
    if found.kind == "bool" and rule.operator == "In" and not rule.values & {"true", "false"}:
        return "never equals a value: it returns true or false, which are written in lower case"
    return ""


def _unknown_part(part: str, kind: str, known: list[str]) -> str:
    hint = did_you_mean(part, known) or f"fields there are: {', '.join(known)}"
    return f"reads '{part}', which a {kind} does not have at this place; {hint}"
