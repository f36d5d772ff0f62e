"""Finds out what the program of each container does.

What says so, the first that counts: an annotation for the container, one for its pod, a document of the
cluster, the container's own command where it can be read, its image where that is one of those that wait.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from kwokctl.controller.lifecycle.containers.container_commands import FINITE, read_words
from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram, changed

ANNOTATION = "kwokctl.dev/program"
"""For all containers of a pod."""
ANNOTATION_OF = "program.kwokctl.dev/"
"""With the name of a container behind it: for this one, before the other."""
_PAUSE = re.compile(r"(?:.*/)?pause(?:[:@].*)?")
"""The image whose program waits for the end of the pod."""
_FIELD = re.compile(r"metadata\.(annotations|labels)\['([^']+)'\]")
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")


class ProgramRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of a document about the programs of some images or commands."""

    image: str = "*"
    """A pattern of the image, as the pod names it."""
    command: str = "*"
    """A pattern of the command and the arguments, with spaces between them."""
    program: str
    """The behaviour of the program, in the words of the annotation."""
    place: str
    """The place of the document, for messages."""

    def is_for(self, image: str, words: Sequence[str]) -> bool:
        """Return whether it is about such a container."""
        return fnmatchcase(image, self.image) and fnmatchcase(" ".join(words), self.command)


ProgramRules = tuple[ProgramRule, ...]
"""The first that is for a container counts."""


def program_of(
    container: Mapping[str, Any],
    meta: Mapping[str, Any],
    *,
    ends: bool,
    rules: ProgramRules = (),
) -> ContainerProgram:
    """Return what a container does; `ends` says whether programs of this pod end by themselves.

    Raises ExpressionError where an annotation cannot be read.
    """
    own = ANNOTATION_OF + container["name"]
    annotations: Mapping[str, str] = meta.get("annotations") or {}
    said = tuple((key, text) for key in (ANNOTATION, own) if (text := annotations.get(key)))
    return _program(_command_of(container, meta), said, rules, ends=ends)


def is_told(
    container: Mapping[str, Any], meta: Mapping[str, Any], rules: ProgramRules = ()
) -> bool:
    """Return whether an annotation, a document or its own command says what the program of a container does."""
    annotations: Mapping[str, str] = meta.get("annotations") or {}
    if annotations.get(ANNOTATION) or annotations.get(ANNOTATION_OF + container["name"]):
        return True
    image, words, variables, kept = _command_of(container, meta)
    if any(each.is_for(image, words) for each in rules):
        return True
    return read_words(words, variables=dict(variables), kept=kept) is not None


class _Command(NamedTuple):
    """The command of a container, as far as it decides what the container does."""

    image: str
    words: Sequence[str]
    variables: tuple[tuple[str, str], ...] = ()
    kept: tuple[str, ...] = ()
    """The folders whose files are there again after a restart."""


def _command_of(container: Mapping[str, Any], meta: Mapping[str, Any]) -> _Command:
    image = container.get("image") or ""
    words = (*(container.get("command") or ()), *(container.get("args") or ()))
    if len(words) < 2:
        return _Command(image, words)
    kept = tuple(each["mountPath"] for each in container.get("volumeMounts") or ())
    if not any("$" in word for word in words):
        return _Command(image, words, kept=kept)
    variables = _variables(container, meta)
    words = tuple(_expanded(word, variables) for word in words)
    return _Command(image, words, tuple(variables.items()), kept)


@lru_cache(maxsize=1024)
def _program(
    command: _Command, said: tuple[tuple[str, str], ...], rules: ProgramRules, *, ends: bool
) -> ContainerProgram:
    image, words, variables, kept = command
    program = read_words(words, variables=dict(variables), kept=kept, ends=ends)
    if program is None:
        waits = not words and _PAUSE.fullmatch(image)
        program = ContainerProgram(run=FINITE if ends and not waits else None)
    rule = next((each for each in rules if each.is_for(image, words)), None)
    if rule is not None:
        program = changed(program, rule.program, rule.place)
    for key, text in said:
        program = changed(program, text, f"annotation '{key}'")
    return program


def _variables(container: Mapping[str, Any], meta: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment of a container, as far as it follows from the pod."""
    found: dict[str, str] = {}
    for each in container.get("env") or ():
        value = _value(each, meta)
        if value is not None:
            found[each["name"]] = value
    return found


def _value(variable: Mapping[str, Any], meta: Mapping[str, Any]) -> str | None:
    path = ((variable.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath")
    if path is None:
        return None if "valueFrom" in variable else variable.get("value") or ""
    if path in ("metadata.name", "metadata.namespace", "metadata.uid"):
        name: str = meta[path.partition(".")[2]]
        return name
    found = _FIELD.fullmatch(path)
    return None if found is None else (meta.get(found[1]) or {}).get(found[2]) or ""


def _expanded(word: str, variables: Mapping[str, str]) -> str:
    """Put in variables where Kubernetes does: `$(NAME)`, and `$$` for a dollar."""

    def text(found: re.Match[str]) -> str:
        return "$" if found[1] is None else variables.get(found[1], found[0])

    return _REFERENCE.sub(text, word)
