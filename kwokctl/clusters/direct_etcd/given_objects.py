"""Reads the objects to put into etcd: YAML, JSON, or lists of either."""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.expr.nesting import TOO_DEEP, is_too_deep
from kwokctl.json_value import Json

_STDIN = "-"
_STORED_AS_JSON = re.compile(r"^# (/\S+) \| application/json$", re.MULTILINE)
"""A comment that `etcd get -o yaml` writes."""


class GivenObject(msgspec.Struct, frozen=True, kw_only=True):
    """An object of a file."""

    place: str
    """Its place in the file, for messages."""
    document: Mapping[str, Json]


class GivenObjects(msgspec.Struct, frozen=True, kw_only=True):
    """The objects of a file."""

    all: tuple[GivenObject, ...]
    json_keys: frozenset[str]
    """The keys of the objects that etcd held as JSON when the file was written."""


def given_objects(path: str) -> GivenObjects:
    """Read every object of a file, `-` for standard input; ConfigError names a document that is not an object."""
    name = "standard input" if path == _STDIN else f"'{path}'"
    try:
        content = sys.stdin.buffer.read() if path == _STDIN else Path(path).read_bytes()
        text = content.decode("utf-8-sig")
        bodies = list(_bodies(text))
    except OSError as e:
        raise ConfigError(f"cannot read {name}: {e.strerror}") from e
    except ValueError as e:
        raise ConfigError(f"{name} is not YAML or JSON: {e}") from e
    except ConfigError as e:
        raise ConfigError(f"{name}: {e}", hint=e.hint) from e
    numbered = enumerate(bodies, start=1)
    found = tuple(each for n, body in numbered for each in _objects(body, f"{name}, document {n}"))
    if not found:
        raise ConfigError(f"{name} holds no object", hint="give YAML or JSON documents")
    return GivenObjects(all=found, json_keys=frozenset(_STORED_AS_JSON.findall(text)))


def _bodies(text: str) -> Iterator[Json]:
    """Yield documents: those in JSON need no separator."""
    text = text.lstrip()
    if not text.startswith("{"):
        yield from yaml.load_all(text)
        return
    decoder = json.JSONDecoder()
    number = 1
    while text:
        try:
            body, end = decoder.raw_decode(text)
        except RecursionError as e:
            raise _too_deep(number) from e
        if is_too_deep(body):
            raise _too_deep(number)
        yield body
        number += 1
        text = text[end:].lstrip()


def _too_deep(number: int) -> ConfigError:
    return ConfigError(f"{TOO_DEEP} in document {number}", hint="nest less deeply")


def _objects(body: Json, place: str) -> Iterator[GivenObject]:
    if body is None:
        return
    if not isinstance(body, Mapping):
        raise ConfigError(f"{place}: it is not an object")
    if str(body.get("kind", "")).endswith("List") and isinstance(body.get("items"), list):
        for number, item in enumerate(body["items"], start=1):
            yield from _objects(item, f"{place}, item {number}")
    else:
        yield GivenObject(place=place, document=body)
