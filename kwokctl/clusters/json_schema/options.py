"""Writes the JSON schema of one option, from its entry in the catalogue of options."""

from collections.abc import Mapping
from typing import get_origin

import msgspec

from kwokctl.config import checks
from kwokctl.config.declaring import Spelling
from kwokctl.config.document_kinds import KINDS, KWOK
from kwokctl.config.original.not_served import NotServed
from kwokctl.controller.configuration import ControllerOption
from kwokctl.json_value import Json

_TEXT: Mapping[str, Json] = {"type": ["string", "number", "null"]}
"""A number is read as its text, such as a version."""
_QUANTITY = r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)([kMGTPE]|[KMGTPE]i)?$"
_TYPES: Mapping[object, str] = {int: "integer", float: "number", bool: "boolean"}
_CHECKED: Mapping[checks.Check, Json] = {
    checks.address: {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
    checks.quantity: {"pattern": _QUANTITY},
    checks.network: {"pattern": r"^([0-9A-Fa-f:.]+/[0-9]{1,3})?$"},
    checks.resource_kind: {"enum": list(KINDS[KWOK])},
}
"""The JSON schemas of texts that a check accepts."""


def option_schema(spelling: Spelling) -> Json:
    """Return the schema of an option that is served."""
    default = spelling.default
    places = [place for place in (spelling.flag, spelling.env) if place]
    remark = f" ({', '.join(places)})" if places else ""
    return {
        "description": f"{spelling.help}{remark}",
        **_shape(spelling),
        "default": list(default) if isinstance(default, tuple) else default,
        **({"deprecated": True} if spelling.deprecated else {}),
    }


def not_served_schema(option: NotServed) -> Json:
    """Return the schema of an option that is not served: what it may be, and why no more."""
    if option.is_idle:
        return {"description": f"Without effect: {option.reason}.", "deprecated": True}
    nothing: list[Json] = [None, "", 0, "0", False, []]
    harmless = [None, option.default] if option.type is bool else nothing
    return {"description": f"Not supported: {option.reason}.", "enum": harmless}


def controller_option_schema(option: ControllerOption) -> Json:
    """Return the schema of an option of the controller."""
    differs = option.original is not None
    remark = f"The original's default is {msgspec.json.encode(option.original).decode()}."
    return {
        **({"description": remark} if differs else {}),
        **({"description": f"Not supported: {option.missing}."} if option.missing else {}),
        **_of_controller(option),
        "default": option.default,
    }


def _of_controller(option: ControllerOption) -> dict[str, Json]:
    default, said = option.default, _CHECKED.get(option.check, {})
    if isinstance(default, bool):
        return {"type": ["boolean", "null"]}
    if isinstance(default, int):
        return {"type": ["integer", "null"], **_bounds(option.within)}
    if isinstance(default, list):
        return {"type": ["array", "null"], "items": {"type": "string", **said}}
    return {"type": ["string", "null"], **said}


def _bounds(within: tuple[int, int]) -> dict[str, Json]:
    return dict(zip(("minimum", "maximum"), within, strict=True))


def _shape(spelling: Spelling) -> dict[str, Json]:
    if get_origin(spelling.type) is tuple:
        items = {"type": "string", **_CHECKED.get(spelling.check, {})}
        return {"type": ["array", "null"], "items": items}
    if spelling.choices:
        switches = [True, False] if "off" in spelling.choices else []
        return {"enum": [*spelling.choices, *switches, "", None]}
    if spelling.type is str:
        return {**_TEXT, **_CHECKED.get(spelling.check, {})}
    return {
        "type": [_TYPES[spelling.type], "null"],
        **({} if spelling.type is bool else _bounds(spelling.within)),
    }
