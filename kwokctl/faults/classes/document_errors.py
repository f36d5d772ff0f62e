"""Says which field of a document is wrong, and which name or value was probably meant."""

import re
from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec import inspect

from kwokctl.config.config_documents import Document, FieldError
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration
from kwokctl.json_value import Json

_UNKNOWN = re.compile(r"unknown field `(?P<name>[^`]*)`(?: - at `\$\.?(?P<path>[^`]*)`)?$")
_VALUE = re.compile(r"Invalid enum value '(?P<value>[^']*)'(?: - at `\$\.?(?P<path>[^`]*)`)?$")
_STEP = re.compile(r"\w+|\[[^]]*\]")
_Shape = TypeVar("_Shape")


def read(document: Document, value: Json, shape: type[_Shape], within: str = "") -> _Shape:
    """Return a value in its shape; `within` is the field that has it.

    Raises ConfigError, with file, document and field, for one that has another.
    """
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as e:
        raise _misfit(document, e, shape, within) from e


def read_each(document: Document, values: Json, shape: type[_Shape], within: str) -> None:
    """Check the values of a mapping one by one, so that an error names the key. Errors as `read`."""
    for name, value in values.items() if isinstance(values, Mapping) else ():
        read(document, value, shape, f"{within}.{name}")


def read_duration(document: Document, field: str, text: str, *, may_be_zero: bool = False) -> float:
    """Return the seconds of a duration in a field; ConfigError, with the field, for what is none, or no time at all."""
    try:
        seconds = parse_duration(text)
    except ExpressionError as e:
        raise document.fault(field, f"is '{text}', not a duration", hint=e.hint) from e
    if seconds < 0 or (seconds == 0 and not may_be_zero):
        raise document.fault(field, f"is '{text}', no time at all", hint="for example: 10m")
    return seconds


def _misfit(
    document: Document, error: msgspec.ValidationError, shape: object, within: str
) -> FieldError:
    if found := _UNKNOWN.search(str(error)):
        names = [each.encode_name for each in getattr(_at(shape, found["path"]), "fields", ())]
        hint = did_you_mean(found["name"], names) or f"fields are: {', '.join(names)}"
        path = f"{found['path']}.{found['name']}" if found["path"] else found["name"]
        return document.fault(
            _joined(within, path), f"is not a field of a {document.kind}", hint=hint
        )
    fault = document.misshapen(error, within)
    if found := _VALUE.search(str(error)):
        values = [str(each) for each in getattr(_at(shape, found["path"]), "values", ())]
        hint = f"choose from: {', '.join(values)}"
        if near := did_you_mean(found["value"], values):
            hint = f"{near} {hint}"
        return document.fault(fault.field, f"is '{found['value']}'", hint=hint)
    return fault


def _joined(within: str, path: str) -> str:
    return f"{within}{'' if not within or path[0] == '[' else '.'}{path}"


def _at(shape: object, path: str | None) -> inspect.Type:
    """Return the type of a field, such as that of `spec.conditions[0].status`."""
    found = _plain(inspect.type_info(shape))
    for step in _STEP.findall(path or ""):
        found = _plain(_below(found, step))
    return found


def _below(found: inspect.Type, step: str) -> inspect.Type:
    if isinstance(found, inspect.StructType):
        return next(each.type for each in found.fields if each.encode_name == step)
    if isinstance(found, inspect.DictType):
        return found.value_type
    return found.item_type if isinstance(found, inspect.CollectionType) else found


def _plain(found: inspect.Type) -> inspect.Type:
    """Return a type without the None that may stand in its place, and without its limits."""
    if isinstance(found, inspect.Metadata):
        return _plain(found.type)
    if isinstance(found, inspect.UnionType):
        return next(_plain(each) for each in found.types if not isinstance(each, inspect.NoneType))
    return found
