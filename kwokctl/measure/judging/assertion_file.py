"""Reads a file of assertions: the least and the most that figures may be, also of one group only."""

from pathlib import Path

import msgspec

from kwokctl.errors import ConfigError, KwokctlError, UsageError
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.measure.judging.assertions import Assertion, AssertionReader


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    figure: str
    min: str | float | int | None = None
    max: str | float | int | None = None
    group: str = ""
    """`KEY=VALUE`: only these pods count."""
    load: str = ""
    """The same as the group `load=NAME`."""


def read_assertions(path: Path, reader: AssertionReader) -> list[Assertion]:
    """Return the assertions of a file; ConfigError, with the entry, for what cannot be understood."""
    found: list[Assertion] = []
    for number, entry in enumerate(_entries(path), 1):
        place = f"entry {number} of '{path}'"
        try:
            wanted = msgspec.convert(entry, _Entry)
        except msgspec.ValidationError as e:
            raise ConfigError(f"{place}: {str(e).replace('`', chr(39))}") from e
        if wanted.min is None and wanted.max is None:
            raise ConfigError(f"{place} has neither 'min' nor 'max'", hint="such as: max: 5s")
        found += _read(wanted, reader, place)
    return found


def _read(entry: _Entry, reader: AssertionReader, place: str) -> list[Assertion]:
    group = entry.group or (f"load={entry.load}" if entry.load else "")
    name, statistic = entry.figure, ""
    if group:
        before, _, last = entry.figure.rpartition(".")
        is_whole = reader.is_figure(entry.figure)
        name, statistic = (entry.figure, "") if is_whole else (before, f".{last}")
        name = f"{name}[{group}]"
    limits = ((">=", entry.min), ("<=", entry.max))
    texts = (
        f"{name}{statistic} {compare} {limit}" for compare, limit in limits if limit is not None
    )
    try:
        return [reader.read(text, place) for text in texts]
    except UsageError as e:
        raise ConfigError(str(e), hint=e.hint) from e


def _entries(path: Path) -> list[Json]:
    try:
        document = yaml.load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"'{path}' cannot be read: {e}") from e
    except KwokctlError as e:
        raise ConfigError(f"'{path}' is not YAML", detail=str(e)) from e
    if not isinstance(document, list):
        raise ConfigError(
            f"'{path}' is not a list of assertions",
            hint="begin each with a dash: '- figure: pods.created_to_bound.p99', and 'max: 5s'",
        )
    return document
