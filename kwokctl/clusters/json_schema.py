"""Writes the JSON schema of configuration documents, for editors and other tools.

The schema of options is that of the catalogue of options, that of kwok's kinds the one of their
CustomResourceDefinitions. The form is https://json-schema.org/draft/2020-12/schema.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_origin

import msgspec

from kwokctl import assets
from kwokctl.clusters.object_files.rules import rules_file as rules
from kwokctl.clusters.object_files.rules.rules_file import SnapshotRules
from kwokctl.clusters.state.companion_templates import COMPANIONS, MADE_FOR
from kwokctl.components.catalog import usual_options
from kwokctl.config import checks
from kwokctl.config.add_ons import folder as add_ons
from kwokctl.config.add_ons.folder import AddOnShape
from kwokctl.config.declaring import Spelling
from kwokctl.config.document_kinds import API_VERSIONS, CUSTOM, OWN, PROGRAM
from kwokctl.config.extras.extras_reader import FIELD as EXTRAS
from kwokctl.config.extras.extras_reader import ExtraComponentShape
from kwokctl.config.option_keys import KIND
from kwokctl.config.options import spellings
from kwokctl.config.original.not_served import NOT_SERVED, NotServed
from kwokctl.config.patches.patch_reader import FIELD, ComponentPatchShape
from kwokctl.controller.configuration import KIND as OF_CONTROLLER
from kwokctl.controller.configuration import OPTIONS, ControllerOption
from kwokctl.controller.documents.program_documents import ContainerProgramShape
from kwokctl.expr import yaml
from kwokctl.faults.classes.class_schema import SHAPED as FAULTS
from kwokctl.faults.repairs.policy_schema import SHAPED as POLICIES
from kwokctl.faults.storms.schedule_schema import SHAPED as SCHEDULES
from kwokctl.json_value import Json

_RESOURCE = "KwokctlResource"
Shaped = tuple[str, str, type[msgspec.Struct]]
"""A kind that is read by a shape: its name, its apiVersion, and the shape."""
_SHAPED: tuple[Shaped, ...] = (
    (add_ons.KIND, add_ons.API_VERSION, AddOnShape),
    (rules.KIND, rules.API_VERSION, SnapshotRules),
    (PROGRAM, OWN, ContainerProgramShape),
    *FAULTS,
    *SCHEDULES,
    *POLICIES,
)
_PRESERVED = "x-kubernetes-preserve-unknown-fields"
_EXTENSION = "x-kubernetes-"


def schema(more: Sequence[Shaped] = ()) -> dict[str, Json]:
    """Return the schema of one document; which one it is, its `kind` says.

    `more` are the kinds of what is above clusters.
    """
    shaped = (*_SHAPED, *more)
    (patches, extras, *_), shapes = msgspec.json.schema_components(
        [
            list[ComponentPatchShape],
            list[ExtraComponentShape],
            *(shape for *_, shape in shaped),
        ],
        ref_template="#/$defs/{name}",
    )
    shapes = msgspec.json.decode(msgspec.json.encode(shapes))  # as JSON has it: no tuples
    kinds = {**_custom_kinds(), **_own_kinds(patches, extras)}
    for kind, version, shape in shaped:
        kinds[kind] = _named(shapes.pop(shape.__name__), kind, version)
    names = sorted({*API_VERSIONS, *kinds})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of kwokctl",
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": names}},
        "allOf": [
            {"if": {"properties": {"kind": {"const": kind}}}, "then": {"$ref": f"#/$defs/{kind}"}}
            for kind in names
        ],
        "$defs": {
            **{kind: kinds.get(kind) or _document(kind, {}) for kind in names},
            **shapes,
        },
    }


def _own_kinds(patches: Json, extras: Json) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "options": _mapping(_options()),
        FIELD: patches,
        EXTRAS: extras,
        "status": {"type": "object"},
    }
    tracing = {"endpoint": {"type": "string"}, "samplingRatePerMillion": {"type": "integer"}}
    options: dict[str, Json] = {
        name: controller_option_schema(option) for name, option in OPTIONS.items()
    }
    template = {
        "type": "string",
        "description": "A Go template of the object; without it, that of the built-in node.",
    }
    return {
        KIND: _closed(_document(KIND, fields)),
        OF_CONTROLLER: _closed(
            _document(OF_CONTROLLER, {"options": _mapping(options), "tracing": _mapping(tracing)})
        ),
        _RESOURCE: {
            **_closed(
                _document(_RESOURCE, {"parameters": {}, "template": template, **_companions()})
            ),
            "required": ["kind", "metadata"],
            "anyOf": [{"required": ["template"]}, {"required": ["parameters"]}],
        },
    }


def _companions() -> dict[str, Json]:
    """Return the field for further objects of a KwokctlResource."""
    entry = {
        "for": {"enum": list(MADE_FOR)},
        "template": {
            "type": "string",
            "description": "A Go template of an object, or of a List of them.",
        },
        "servedBy": {"type": "string"},
    }
    items = {
        "type": "object",
        "properties": entry,
        "required": ["for", "template"],
        "additionalProperties": False,
    }
    return {COMPANIONS: {"type": ["array", "null"], "items": items}}


def _options() -> dict[str, Json]:
    served = {each.key: option_schema(each) for each in spellings(usual_options()) if each.key}
    others = {each.key: not_served_schema(each) for each in NOT_SERVED}
    return dict(sorted({**served, **others}.items()))


def _named(shape: Json, kind: str, version: str) -> Json:
    """Return the schema of a kind of its own, which says so by its `kind` and its `apiVersion`."""
    own = {"apiVersion": {"const": version}, "kind": {"const": kind}}
    return {**shape, "properties": {**shape["properties"], **own}}


def _document(kind: str, fields: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {
            "apiVersion": {"const": API_VERSIONS[kind]},
            "kind": {"const": kind},
            "metadata": {"type": ["object", "null"]},
            **fields,
        },
    }


def _mapping(properties: Mapping[str, Json]) -> Json:
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


def _closed(shape: dict[str, Json]) -> dict[str, Json]:
    return {**shape, "additionalProperties": False}


def _custom_kinds() -> dict[str, Json]:
    """Return the schema of each kind that has a CustomResourceDefinition, by kind."""
    found: dict[str, Json] = {}
    for definition in _definitions():
        kind = definition["spec"]["names"]["kind"]
        (version,) = definition["spec"]["versions"]
        shape = _strict(version["schema"]["openAPIV3Schema"])
        if kind in API_VERSIONS:  # FaultPages are for controllers alone
            found[kind] = _named(shape, kind, API_VERSIONS[kind])
    return found


def _definitions() -> Iterator[Mapping[str, Json]]:
    """Yield every CustomResourceDefinition that kwokctl has."""
    for file in sorted(assets.path("crds").glob("*.yaml")):
        for document in yaml.load_all(file.read_text(encoding="utf-8")):
            yield from document["items"] if document["kind"] == "List" else [document]


def _strict(shape: Json) -> Json:
    """Return a schema of Kubernetes in which, as kwokctl reads documents, other fields are errors."""
    if not isinstance(shape, dict):
        return shape
    kept = {key: value for key, value in shape.items() if not key.startswith(_EXTENSION)}
    if "properties" in kept:
        kept["properties"] = {name: _strict(each) for name, each in kept["properties"].items()}
        if not shape.get(_PRESERVED) and "additionalProperties" not in kept:
            kept["additionalProperties"] = False
    if kept.get("exclusiveMinimum") is True:  # as OpenAPI 3.0 writes it
        kept["exclusiveMinimum"] = kept.pop("minimum")
    for key in ("items", "additionalProperties"):
        if key in kept:
            kept[key] = _strict(kept[key])
    return kept


_TEXT: Mapping[str, Json] = {"type": ["string", "number", "null"]}
"""A number is read as its text, such as a version."""
_QUANTITY = r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)([kMGTPE]|[KMGTPE]i)?$"
_TYPES: Mapping[object, str] = {int: "integer", float: "number", bool: "boolean"}
_CHECKED: Mapping[checks.Check, Json] = {
    checks.address: {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
    checks.quantity: {"pattern": _QUANTITY},
    checks.network: {"pattern": r"^([0-9A-Fa-f:.]+/[0-9]{1,3})?$"},
    checks.resource_kind: {"enum": list(CUSTOM)},
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
