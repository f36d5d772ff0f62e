"""Checks whether an API server certainly decodes the status of an object.

It reads etcd without validation, and one value that it cannot decode breaks every list
of that kind. So a status must pass this check before it is written to etcd.
"""

import re
from functools import cache
from typing import Any

import msgspec

from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.statuses.leaves import Address, leaf_of
from kwokctl.kube.statuses.table import NODE_TYPES, POD_TYPES, Structs, read_tables

_Decoder = msgspec.json.Decoder[msgspec.Struct]

_KINDS = frozenset({NODES, PODS})

_PLACED = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)
_SOME_KEY = "[...]"
_STEP = re.compile(r"[^.\[\]]+")

TYPES = read_tables(NODE_TYPES, POD_TYPES)
"""The types of the API, by the names it has for them, with their fields."""


def check_status(resource: Resource, raw: bytes) -> str | None:
    """Return what an API server might not decode in the JSON of a status, with its place, or None.

    Such as `allocatable.cpu: '1O' is not a quantity`. Fields that are not known here count, too.
    Whether the API server would have admitted a change is another question.
    """
    if resource not in _KINDS:
        return f"the status of kind '{resource.kind}' is not known here"
    return _problem(_decoder(f"{resource.kind}Status"), raw)


def _check_node_address(address: Any) -> None:
    if address.type in {"InternalIP", "ExternalIP"}:
        leaf_of(Address, address.address)


_structs = Structs(TYPES, {"NodeAddress": _check_node_address})


@cache
def _decoder(name: str) -> _Decoder:
    return msgspec.json.Decoder(_structs.struct(name), dec_hook=leaf_of)


def _problem(decoder: _Decoder, raw: bytes) -> str | None:
    try:
        decoder.decode(raw)
    except msgspec.ValidationError as e:
        return _phrase(decoder, raw, str(e))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        return f"not JSON: {e}"
    return None


def _phrase(decoder: _Decoder, raw: bytes, message: str) -> str:
    found = _PLACED.fullmatch(message)
    problem, place = found.groups() if found else (message, "")
    problem = problem[:1].lower() + problem[1:].replace("`", "'")
    if place.endswith(_SOME_KEY):
        place = place.removesuffix(_SOME_KEY)
        place = f"{place}.{_wrong_key(decoder, raw, place)}"
    return f"{place}: {problem}" if place else problem


def _wrong_key(decoder: _Decoder, raw: bytes, place: str) -> str:
    """Return the key of the map at a place whose value is refused; messages do not name it."""
    document = msgspec.json.decode(raw)
    values = document
    for step in _STEP.findall(place):
        values = values[int(step) if isinstance(values, list) else step]
    for key, value in list(values.items()):
        values.clear()
        values[key] = value
        try:
            decoder.decode(msgspec.json.encode(document))
        except msgspec.ValidationError:
            return str(key)
    return "?"
