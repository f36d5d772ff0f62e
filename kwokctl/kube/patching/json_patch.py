"""RFC 6902, JSON patch. Pure.

What the RFC leaves to implementations, what the API server does in its own way, and every step that
must fail raises UnknownPatchError.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from kwokctl.json_value import Json
from kwokctl.kube.patching.equality import is_same
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

_Words: TypeAlias = Sequence[str]

_WRONG_ESCAPE = re.compile(r"~(?![01])")
_INDEX = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_PLAIN_TEXT = re.compile(r"[ !#-%'-;=?-\[\]-~]*")
"""Texts that every encoder of JSON spells the same: the API server's `test` compares spellings."""


def apply(current: Json, steps: Json) -> Json:
    """Return `current` after all steps; what did not change is shared.

    If no step changes anything that is `current` itself.
    """
    if not isinstance(steps, list):
        raise UnknownPatchError("a JSON patch is not a list of operations")
    for step in steps:
        if not isinstance(step, dict):
            raise UnknownPatchError("a step of a JSON patch is not an operation")
        operation = step.get("op")
        act = _ACTS.get(operation) if isinstance(operation, str) else None
        if act is None:
            raise UnknownPatchError(f"the operation '{operation}' of a JSON patch is not known")
        current = act(current, step)
    return current


def _add(document: Json, step: Mapping[str, Json]) -> Json:
    path, value = _words(step, "path"), _value(step)
    container = _at(document, path[:-1])
    if isinstance(container, dict) and path[-1] in container:
        return _replaced(document, path, value)
    return _added(document, path, value)


def _remove(document: Json, step: Mapping[str, Json]) -> Json:
    return _removed(document, _words(step, "path"))


def _replace(document: Json, step: Mapping[str, Json]) -> Json:
    return _replaced(document, _words(step, "path"), _value(step))


def _move(document: Json, step: Mapping[str, Json]) -> Json:
    source, path = _words(step, "from"), _words(step, "path")
    if source == path[: len(source)]:
        raise UnknownPatchError("a JSON patch moves a value into itself")
    return _added(_removed(document, source), path, _at(document, source))


def _copy(document: Json, step: Mapping[str, Json]) -> Json:
    return _added(document, _words(step, "path"), _at(document, _words(step, "from")))


def _test(document: Json, step: Mapping[str, Json]) -> Json:
    if not _surely_equal(_at(document, _words(step, "path")), _value(step)):
        raise UnknownPatchError(f"the value at '{step['path']}' is not surely what a patch expects")
    return document


_ACTS: Mapping[str, Callable[[Json, Mapping[str, Json]], Json]] = {
    "add": _add, "remove": _remove, "replace": _replace,
    "move": _move, "copy": _copy, "test": _test,
}  # fmt: skip


def _added(document: Json, path: _Words, value: Json) -> Json:
    def add(container: Json, word: str) -> None:
        if isinstance(container, dict):
            container[word] = value
        elif word == "-" or word == str(len(container)):
            container.append(value)
        else:
            container.insert(_existing(container, word), value)

    return _changed(document, path, add)


def _replaced(document: Json, path: _Words, value: Json) -> Json:
    def replace(container: Json, word: str) -> None:
        container[_existing(container, word)] = value

    if is_same(_at(document, path), value):
        return document
    return _changed(document, path, replace)


def _removed(document: Json, path: _Words) -> Json:
    def remove(container: Json, word: str) -> None:
        del container[_existing(container, word)]

    return _changed(document, path, remove)


def _changed(document: Json, path: _Words, change: Callable[[Json, str], None]) -> Json:
    """Change a copy of the container that a path's last word lies in, and of those around it."""
    if not isinstance(document, (dict, list)):
        raise _absent(path[0])
    copied = document.copy()
    if len(path) == 1:
        change(copied, path[0])
    else:
        name = _existing(copied, path[0])
        copied[name] = _changed(copied[name], path[1:], change)
    return copied


def _at(document: Json, path: _Words) -> Json:
    for word in path:
        if not isinstance(document, (dict, list)):
            raise _absent(word)
        document = document[_existing(document, word)]
    return document


def _existing(container: Json, word: str) -> Json:
    """Return the key or the index that is meant."""
    if isinstance(container, dict):
        if word in container:
            return word
    elif _INDEX.fullmatch(word) and int(word) < len(container):
        return int(word)
    raise _absent(word)


def _words(step: Mapping[str, Json], name: str) -> _Words:
    """Take a pointer (RFC 6901) apart; it must not mean the whole document."""
    pointer = step.get(name)
    if not isinstance(pointer, str) or pointer[:1] != "/" or _WRONG_ESCAPE.search(pointer):
        raise UnknownPatchError(f"'{pointer}' does not point into the object")
    return [word.replace("~1", "/").replace("~0", "~") for word in pointer[1:].split("/")]


def _value(step: Mapping[str, Json]) -> Json:
    if "value" not in step:
        raise UnknownPatchError(f"the operation '{step['op']}' of a JSON patch has no value")
    return step["value"]


def _surely_equal(left: Json, right: Json) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_surely_equal(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_surely_equal, left, right))
    if isinstance(left, str):
        return left == right and _PLAIN_TEXT.fullmatch(left) is not None
    return isinstance(left, int) and left == right


def _absent(word: str) -> UnknownPatchError:
    return UnknownPatchError(f"there is no '{word}' where a JSON patch looks for it")
