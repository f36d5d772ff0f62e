"""Writes the JSON schema of one option, from its entry in the catalogue of options."""

from collections.abc import Mapping
from typing import get_origin

from kwokctl.config import checks
from kwokctl.config.declaring import Spelling
from kwokctl.config.kinds import KINDS, KWOK
from kwokctl.config.not_served import NotServed
from kwokctl.json_value import Json

_TEXT: Mapping[str, Json] = {"type": ["string", "number", "null"]}
"""A number is read as its text, such as a version."""
_QUANTITY = r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)([kMGTPE]|[KMGTPE]i)?$"
_TYPES: Mapping[object, str] = {int: "integer", float: "number", bool: "boolean"}
_CHECKED: Mapping[checks.Check, Json] = {
    checks.address: {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
    checks.quantity: {"pattern": _QUANTITY},
    checks.resource_kind: {"enum": list(KINDS[KWOK])},
}
"""What a schema can say of texts that a check accepts."""


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


def _shape(spelling: Spelling) -> dict[str, Json]:
    if get_origin(spelling.type) is tuple:
        items = {"type": "string", **_CHECKED.get(spelling.check, {})}
        return {"type": ["array", "null"], "items": items}
    if spelling.choices:
        switches = [True, False] if "off" in spelling.choices else []
        return {"enum": [*spelling.choices, *switches, "", None]}
    if spelling.type is str:
        return {**_TEXT, **_CHECKED.get(spelling.check, {})}
    bounds = dict(zip(("minimum", "maximum"), spelling.within, strict=True))
    return {
        "type": [_TYPES[spelling.type], "null"],
        **({} if spelling.type is bool else bounds),
    }
