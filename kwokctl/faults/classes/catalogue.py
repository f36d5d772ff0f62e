"""The classes of faults and the dialects: those that come with kwokctl, and those of the user's documents.

A file is read when its class is needed: there are some seventy.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from kwokctl import assets
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.config.document_kinds import FAULT_CLASS, FAULT_DIALECT
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import UsageError
from kwokctl.faults.classes.class_checks import check_class
from kwokctl.faults.classes.class_schema import (
    FaultClassShape,
    FaultClassSpec,
    FaultDialectShape,
    FaultDialectSpec,
    FaultParameter,
    FaultSignal,
)
from kwokctl.faults.classes.document_errors import read, read_each
from kwokctl.json_value import Json
from kwokctl.kube.names import LABEL_RULE, is_label

_CLASSES, _DIALECTS = "faults", "faults/dialects"


class FaultDialect(msgspec.Struct, frozen=True, kw_only=True):
    """A stack that looks for faults."""

    name: str
    spec: FaultDialectSpec
    document: Mapping[str, Json]
    """Its whole document."""


class FaultClass(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of fault."""

    name: str
    spec: FaultClassSpec
    document: Mapping[str, Json]
    """Its whole document, which can be changed and given to `--config`."""


class FaultCatalogue:
    """The classes and dialects by name: the user's `documents` before the built-in ones."""

    def __init__(self, documents: Sequence[Document] = ()) -> None:
        """Take over the documents of both kinds; others are ignored."""
        self._classes = {each.name: each for each in documents if each.kind == FAULT_CLASS}
        self._dialects = {each.name: each for each in documents if each.kind == FAULT_DIALECT}
        self._found: dict[str, FaultClass] = {}

    @property
    def names(self) -> Sequence[str]:
        """The names of the classes: the user's, then the built-in ones."""
        return [*self._classes, *(each for each in _files(_CLASSES) if each not in self._classes)]

    @property
    def dialect_names(self) -> Sequence[str]:
        """The names of the dialects, in the same order."""
        built_in = _files(_DIALECTS)
        return [*self._dialects, *(each for each in built_in if each not in self._dialects)]

    def classes(self) -> Iterator[FaultClass]:
        """Yield every class; errors as `find`."""
        return map(self.find, self.names)

    def dialects(self) -> Iterator[FaultDialect]:
        """Yield every dialect; errors as `dialect`."""
        return map(self.dialect, self.dialect_names)

    def find(self, name: str) -> FaultClass:
        """Return a class.

        Raises UsageError, with the nearest name, if there is none, and ConfigError if its document is not valid.
        """
        if name not in self._found:
            document = _document(name, "class of faults", self._classes, _CLASSES, self.names)
            self._found[name] = self._read(document)
        return self._found[name]

    def followers(self, found: FaultClass) -> Sequence[FaultClass]:
        """Return the classes that follow from a class, and from those."""
        followers: dict[str, FaultClass] = {}
        waiting = [found]
        while waiting:
            for cascade in waiting.pop().spec.cascades:
                if cascade.class_name not in followers:
                    follower = followers[cascade.class_name] = self.find(cascade.class_name)
                    waiting.append(follower)
        return [*followers.values()]

    def dialect(self, name: str) -> FaultDialect:
        """Return a dialect; errors as `find`."""
        known = self.dialect_names
        return _read_dialect(_document(name, "dialect of faults", self._dialects, _DIALECTS, known))

    def _read(self, document: Document) -> FaultClass:
        _check_name(document)
        spec = document.body.get("spec")
        if isinstance(spec, Mapping):
            read_each(document, spec.get("parameters"), FaultParameter, "spec.parameters")
            read_each(document, spec.get("signals"), tuple[FaultSignal, ...], "spec.signals")
        found = read(document, document.body, FaultClassShape).spec
        if document.name in self._classes:  # a test checks those that come with kwokctl
            check_class(document, found, self.names, self.dialect_names)
        return FaultClass(name=document.name, spec=found, document=document.body)


def _document(
    name: str, kind: str, own: Mapping[str, Document], folder: str, known: Sequence[str]
) -> Document:
    if name in own:
        return own[name]
    if name not in _files(folder):
        hint = did_you_mean(name, known) or f"there are: {', '.join(known)}"
        raise UsageError(f"there is no {kind} called '{name}'", hint=hint)
    return _shipped(_files(folder)[name])


@cache
def _files(folder: str) -> Mapping[str, Path]:
    return {file.stem: file for file in sorted(assets.path(folder).glob("*.yaml"), key=_in_order)}


def _in_order(file: Path) -> list[str | int]:
    """Order files by name, and numbers in names by their value: `xid-13` comes before `xid-109`."""
    parts = re.split(r"(\d+)", file.stem)
    return [int(part) if part.isdecimal() else part for part in parts]


@cache
def _shipped(file: Path) -> Document:
    (document,) = load_documents([str(file)])
    return document


def _read_dialect(document: Document) -> FaultDialect:
    _check_name(document)
    found = read(document, document.body, FaultDialectShape)
    return FaultDialect(name=document.name, spec=found.spec, document=document.body)


def _check_name(document: Document) -> None:
    if not is_label(document.name):
        raise document.fault(
            "metadata.name", f"cannot be the name of a {document.kind}", hint=LABEL_RULE
        )
