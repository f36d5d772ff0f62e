"""From flags, environment and configuration documents to one checked value.

A flag wins over an environment variable, that over the configuration documents (the later one
wins), and those over the built-in default. Numbers and switches that cannot be read are errors
that name the place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_origin

from kwokctl.artifacts.versions import kube_version
from kwokctl.config.documents import Document
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.not_served import NOT_SERVED
from kwokctl.config.options import ClusterOptions, Spelling, spellings
from kwokctl.errors import ConfigError, NotServedError, UsageError

_FILES = {"FILE", "PROGRAM", "IMAGE-OR-FILE"}
_AUTO = "auto"
"""Says of the runtime what saying nothing says, too."""
_SWITCH = {"1": True, "t": True, "true": True, "0": False, "f": False, "false": False}
_ON_OFF = {True: "on", False: "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The options of a cluster, which of them somebody chose, and what to warn about."""

    options: ClusterOptions
    chosen: frozenset[str]
    """Names of the fields that did not come from the built-in defaults."""
    warnings: tuple[str, ...]


def resolve_options(
    flags: Mapping[str, Any], environ: Mapping[str, str], documents: Sequence[Document]
) -> Resolved:
    """Merge what was given in all places; `flags` holds only flags that were given, by field name.

    Raises NotServedError for an option that is not served yet, ConfigError for a bad value and
    UsageError for what is no version and none of the choices.
    """
    given: dict[str, Any] = {}
    warnings = [
        f"{option.env} is set, but '{option.flag}' is not served yet"
        for option in NOT_SERVED
        if option.env and environ.get(option.env)
    ]
    for document in documents:
        if document.kind == "KwokctlConfiguration":
            given.update(_from_document(document))
    types = _types()
    for spelling in spellings():
        text = environ.get(spelling.env, "") if spelling.env else ""
        if text:
            given[spelling.field] = _read(text, types[spelling.field], spelling.env)
    given.update(flags)
    _read_words(given)
    return Resolved(
        options=ClusterOptions(**given), chosen=frozenset(given), warnings=tuple(warnings)
    )


def _read_words(given: dict[str, Any]) -> None:
    """Write what was given in words as clusters keep it; UsageError for what is none of them."""
    if given.get("runtime") == _AUTO:
        del given["runtime"]
    if "kube_version" in given:
        given["kube_version"] = kube_version(given["kube_version"])
    for spelling in spellings():
        if spelling.metavar in _FILES and spelling.field in given:
            given[spelling.field] = _whole_path(given[spelling.field])
        if spelling.choices and given.get(spelling.field) == "":
            del given[spelling.field]
        elif spelling.choices and spelling.field in given:
            given[spelling.field] = _choice(given[spelling.field], spelling)


def options_to_document(options: ClusterOptions) -> dict[str, Any]:
    """Write options under their configuration keys, as the saved state holds them."""
    return {
        spelling.key: list(value) if isinstance(value, tuple) else value
        for spelling in spellings()
        if spelling.key
        for value in [getattr(options, spelling.field)]
    }


def options_from_document(body: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Read options from their configuration keys; return them by field name."""
    by_key = {spelling.key: spelling for spelling in spellings() if spelling.key}
    types = _types()
    given = {}
    for key, value in body.items():
        spelling = by_key.get(key)
        if spelling is None:
            raise _unknown_key(key, by_key, where)
        if isinstance(value, bool) and "off" in spelling.choices:
            given[spelling.field] = _ON_OFF[value]  # YAML reads a bare on or off as a switch
        else:
            given[spelling.field] = _typed(value, types[spelling.field], f"{where}.{key}")
    return given


def parse_extra_args(
    texts: Sequence[str], known: Sequence[str]
) -> dict[str, dict[str, str | None]]:
    """Read `COMPONENT=KEY[=VALUE]` words into arguments by component.

    A bare key means a flag without a value. Raises UsageError for a malformed word or an unknown
    component.
    """
    parsed: dict[str, dict[str, str | None]] = {}
    for text in texts:
        component, _, argument = text.partition("=")
        key, has_value, value = argument.partition("=")
        key = key.strip().lstrip("-")
        if not component or not key:
            raise UsageError(
                f"'--extra-args {text}' is not COMPONENT=KEY=VALUE",
                hint="for example: --extra-args kube-scheduler=v=4",
            )
        if component not in known:
            raise UsageError(
                f"'--extra-args {text}' names the unknown component '{component}'",
                hint=did_you_mean(component, known) or f"components are: {', '.join(known)}",
            )
        parsed.setdefault(component, {})[key] = value if has_value else None
    return parsed


def _from_document(document: Document) -> dict[str, Any]:
    options = document.body.get("options") or {}
    if not isinstance(options, Mapping):
        raise ConfigError(f"{document.source}: 'options' must be a mapping")
    if document.body.get("componentsPatches"):
        raise NotServedError(
            f"{document.source}: 'componentsPatches' is not served yet",
            hint="pass arguments with --extra-args",
        )
    return options_from_document(options, f"{document.source}: options")


def _unknown_key(key: str, by_key: Mapping[str, Spelling], where: str) -> Exception:
    if any(key == option.key for option in NOT_SERVED):
        return NotServedError(f"{where}.{key} is not served yet")
    return ConfigError(f"{where}.{key} is not an option", hint=did_you_mean(key, by_key))


def _choice(text: str, spelling: Spelling) -> str:
    """Check a word that must be one of a few; a switch may be written as other switches are."""
    word = text.lower()
    if "off" in spelling.choices and word in _SWITCH:
        word = _ON_OFF[_SWITCH[word]]
    if word not in spelling.choices:
        raise UsageError(
            f"'{spelling.flag}' is '{text}'", hint=f"choose from: {', '.join(spelling.choices)}"
        )
    return word


def _types() -> dict[str, Any]:
    return {f.name: f.type for f in fields(ClusterOptions)}


def _read(text: str, kind: Any, where: str) -> Any:
    """Read an environment variable's text as the type of its option."""
    if kind is bool:
        if text.lower() not in _SWITCH:
            raise ConfigError(f"{where} is '{text}', not true or false")
        return _SWITCH[text.lower()]
    if kind is int:
        try:
            return int(text)
        except ValueError as e:
            raise ConfigError(f"{where} is '{text}', not a whole number") from e
    if get_origin(kind) is tuple:
        return tuple(word.strip() for word in text.split(",") if word.strip())
    return text


def _whole_path(text: str) -> str:
    """Let a file that is here mean the same to later commands, whatever folder they run in."""
    file, sign, member = text.partition("#")
    path = Path(file).expanduser()
    return f"{path.absolute()}{sign}{member}" if path.is_file() else text


def _typed(value: Any, kind: Any, where: str) -> Any:
    """Check a value of a configuration document against the type of its option."""
    if get_origin(kind) is tuple:
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise ConfigError(f"{where} must be a list of strings")
        return tuple(value)
    if kind is str and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ConfigError(f"{where} must be a {kind.__name__}, not '{value}'")
    return value
