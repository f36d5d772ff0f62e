"""Reads and writes options under their keys in documents of kind KwokctlConfiguration."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, get_origin

from kwokctl.config.config_documents import Document
from kwokctl.config.declaring import OptionValue, Spelling
from kwokctl.config.document_kinds import OF_CLUSTERS
from kwokctl.config.given import Given
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.options import ClusterOptions, spellings, value_of
from kwokctl.config.original.not_served import NOT_SERVED
from kwokctl.errors import ConfigError
from kwokctl.json_value import Json

KIND = OF_CLUSTERS
_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}
_ON_OFF = {True: "on", False: "off"}
_NAME = "name"
_FIELDS = ("options", "components", "componentsPatches", "status", _NAME)


def from_document(document: Document, usual: ClusterOptions) -> dict[str, Given]:
    """Read the options of a KwokctlConfiguration, by field.

    Raises ConfigError for an unknown field or key. Options that are not served are left
    out: they are found where all places are looked through. `status` is what the original writes, not what a user asks;
    a `name` is ignored.
    """
    document.check_fields(_FIELDS)
    where = f"{document.source}: options"
    not_served = {option.key for option in NOT_SERVED}
    asked = {key: value for key, value in options_of(document).items() if key not in not_served}
    by_field = {spelling.field: spelling for spelling in spellings(usual)}
    return {
        field: Given(value=value, place=f"{where}.{by_field[field].key}")
        for field, value in options_from_document(asked, where, usual).items()
    }


def named_without_effect(documents: Iterable[Document]) -> Iterator[str]:
    """Yield a warning for each document that names a cluster: that has no effect, as in the original."""
    for document in documents:
        if name := document.body.get(_NAME):
            yield f"{document.source}: 'name' has no effect; '--name {name}' names a cluster"


def options_of(document: Document) -> Mapping[str, Json]:
    """Return the options of a document; ConfigError if they are no mapping."""
    options = document.body.get("options") or {}
    if not isinstance(options, Mapping):
        raise ConfigError(f"{document.source}: 'options' must be a mapping")
    return options


def options_to_document(
    options: ClusterOptions, *, only: Collection[str] | None = None
) -> dict[str, object]:
    """Write options under their configuration keys, as the saved state holds them.

    `only` are the names of those to write; without it all are.
    """
    return {
        spelling.key: list(value) if isinstance(value, tuple) else value
        for spelling in spellings(options)
        if spelling.key and (only is None or spelling.field in only)
        for value in [value_of(options, spelling)]
    }


def options_from_document(
    body: Mapping[str, object], where: str, usual: ClusterOptions
) -> dict[str, OptionValue]:
    """Read those options from their configuration keys that `usual` has; return them by name."""
    by_key = {spelling.key: spelling for spelling in spellings(usual) if spelling.key}
    given: dict[str, OptionValue] = {}
    for key, value in body.items():
        spelling = by_key.get(key)
        if spelling is None:
            raise _unknown_key(key, by_key, where)
        if isinstance(value, bool) and "off" in spelling.choices:
            given[spelling.field] = _ON_OFF[value]  # YAML reads a bare on or off as a switch
        elif value is not None:
            given[spelling.field] = _typed(value, spelling.type, f"{where}.{key}")
    return given


def _unknown_key(key: str, by_key: Mapping[str, Spelling], where: str) -> Exception:
    return ConfigError(f"{where}.{key} is not an option", hint=did_you_mean(key, by_key))


def _typed(value: object, kind: Any, where: str) -> OptionValue:
    """Check a value of a configuration document against the type of its option."""
    if get_origin(kind) is tuple:
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise ConfigError(f"{where} must be a list of strings")
        return tuple(value)
    if kind is str and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, where)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ConfigError(f"{where} must be {_WORDS[kind]}, not '{value}'")
    found: OptionValue = value
    return found


def _number(value: float, where: str) -> float:
    if not isfinite(value):
        raise ConfigError(f"{where} must be a number, not '{value}'")
    return int(value) if value == int(value) else value
