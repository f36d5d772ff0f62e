"""A file of rules for fields."""

from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from kwokctl.errors import ConfigError, KwokctlError
from kwokctl.expr import yaml
from kwokctl.json_value import Json

API_VERSION, KIND = "kwokctl.dev/v1alpha1", "SnapshotRules"
TWIN = "twin"


class FieldAction(StrEnum):
    """The actions of a rule on a field."""

    KEEP = "keep"
    HASH = "hash"
    STRIP = "strip"


class FieldRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule for fields; paths are names separated by dots, `*` is any one, `**` any number."""

    kinds: tuple[str, ...] = ()
    """Kinds as objects have them, such as `Pod`; without any, all."""
    drop: bool = False
    """Leave the objects out."""
    keep: tuple[str, ...] = ()
    hash: tuple[str, ...] = ()
    strip: tuple[str, ...] = ()
    set: dict[str, Json] = {}
    """Values of fields, by paths without stars."""


class SnapshotRules(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """Rules in their order: of a field, the first that names it counts."""

    api_version: str = API_VERSION
    kind: str = KIND
    base: Literal["none", "twin"] = "none"
    """The rules for all fields that no rule names."""
    nodes: Literal["real", "fake"] = "real"
    """Whether nodes are marked as those that fake kubelets play."""
    salt: str = ""
    """The salt of the pseudonyms; without it each export has other pseudonyms."""
    rules: tuple[FieldRule, ...] = ()


def load_rules(word: str) -> SnapshotRules:
    """Read the file of rules, or return those that a word stands for.

    Raises ConfigError, with the place, for an invalid one.
    """
    if word == TWIN:
        return SnapshotRules(base="twin", nodes="fake")
    path = Path(word)
    try:
        document = yaml.load(path.read_text(encoding="utf-8"))
    except OSError as e:
        hint = f"give a file, or '{TWIN}'"
        raise ConfigError(f"the rules '{word}' cannot be read: {e.strerror}", hint=hint) from e
    except (KwokctlError, UnicodeDecodeError) as e:
        raise ConfigError(f"the rules '{word}' are not YAML", detail=str(e)) from e
    return _read(word, document)


def _read(word: str, document: Json) -> SnapshotRules:
    try:
        rules = msgspec.convert(document, SnapshotRules)
    except msgspec.ValidationError as e:
        raise ConfigError(f"the rules '{word}': {str(e).replace('`', chr(39))}") from e
    if (rules.api_version, rules.kind) != (API_VERSION, KIND):
        raise ConfigError(
            f"'{word}' is {rules.kind} of {rules.api_version}, not {KIND} of {API_VERSION}"
        )
    return rules
