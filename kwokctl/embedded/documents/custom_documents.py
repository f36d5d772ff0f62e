"""Reads custom resources as the documents that they stand for, and notes what has changed."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from kwokctl.config.config_documents import Document, FieldError
from kwokctl.config.document_kinds import API_VERSIONS
from kwokctl.embedded.documents.verdicts import Bodies
from kwokctl.errors import KwokctlError
from kwokctl.json_value import Json

T = TypeVar("T")

_SOURCE = "the cluster"
"""The source of a custom resource, for messages."""


class AcceptedDocument(msgspec.Struct, Generic[T], frozen=True):
    """A document, and what was read from it."""

    body: Mapping[str, Json]
    value: T


class RefusedDocument(msgspec.Struct, frozen=True):
    """A custom resource that cannot be read, and why."""

    body: Mapping[str, Json]
    problem: str


_Found: TypeAlias = AcceptedDocument[T] | RefusedDocument


class Remark(NamedTuple):
    """A line for the log."""

    level: int
    text: str


class DocumentChange(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """The custom resources of a kind that count, what is wrong with others, and what is new."""

    accepted: Mapping[str, AcceptedDocument[T]]
    """By their keys, "name" or "namespace/name", in the order of these."""
    refused: Mapping[str, str]
    """The faults of documents that are left out, by their keys."""
    remarks: Sequence[Remark] = ()
    """The changes since the last time."""


class CustomDocuments(msgspec.Struct, Generic[T]):
    """Reads the custom resources of a kind; one whose content has not changed stays the same value.

    One that cannot be read is left out, as if it were not there.
    """

    kind: str
    read: Callable[[Document], T]
    """Raises KwokctlError for a document that is wrong."""
    files: Mapping[str, AcceptedDocument[T]]
    """The documents of the files; a custom resource with the same key replaces one of them."""
    title: str = ""
    """The name of the kind in the log; by default its own."""
    counts: str = "counts"
    """The remark on a document in force."""
    returns: bool = True
    """Whether the document of a file counts again when the custom resource in its place is gone."""
    _seen: Bodies = msgspec.field(default_factory=dict)
    _known: dict[str, "_Found[T]"] = msgspec.field(default_factory=dict)

    def update(self, custom: Bodies) -> DocumentChange[T]:
        """Return what counts of these custom resources."""
        found = {key: self._reading(key, custom[key]) for key in sorted(custom)}
        remarks = tuple(self._remarks(found))
        self._seen, self._known = custom, found
        return DocumentChange(
            accepted={
                key: each for key, each in found.items() if isinstance(each, AcceptedDocument)
            },
            refused={
                key: each.problem
                for key, each in found.items()
                if isinstance(each, RefusedDocument)
            },
            remarks=remarks,
        )

    def _reading(self, key: str, given: Mapping[str, Json]) -> "_Found[T]":
        known = self._known.get(key)
        if known is not None and self._seen.get(key) is given:
            return known
        body = self.content(given)
        for same in (known, self.files.get(key)):
            if same is not None and self.content(same.body) == body:
                return same
        try:
            return AcceptedDocument(body, self.read(self._document(body)))
        except FieldError as e:
            return RefusedDocument(body, f"'{e.field}' {e.problem}")
        except KwokctlError as e:
            return RefusedDocument(body, str(e))
        except RecursionError:
            return RefusedDocument(body, "it is nested too deeply")

    def content(self, body: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return what makes a document this one; the rest is what the cluster notes about it."""
        metadata = body.get("metadata") or {}
        names = {name: metadata[name] for name in ("namespace", "name") if metadata.get(name)}
        return {
            "apiVersion": API_VERSIONS[self.kind],
            "kind": self.kind,
            "metadata": names,
            "spec": body.get("spec"),
        }

    def _document(self, body: Mapping[str, Json]) -> Document:
        return Document(
            kind=self.kind,
            api_version=API_VERSIONS[self.kind],
            name=body["metadata"]["name"],
            body=dict(body),
            source=_SOURCE,
        )

    def _remarks(self, found: Mapping[str, "_Found[T]"]) -> Iterator[Remark]:
        for key in sorted({*self._known, *found}):
            before, now = self._known.get(key), found.get(key)
            if now is not before:
                yield self._remark(key, before, now)

    def _remark(self, key: str, before: "_Found[T] | None", now: "_Found[T] | None") -> Remark:
        subject = f"{self.title or self.kind} '{key}' of the cluster"
        is_in_file = key in self.files
        if isinstance(now, RefusedDocument):
            rest = f"; the file's {self.counts}" if is_in_file and self.returns else ""
            return Remark(logging.ERROR, f"{subject} is left out: {now.problem}{rest}")
        if now is None:
            rest = f": the file's {self.counts} again" if is_in_file and self.returns else ""
            return Remark(logging.INFO, f"{subject} is gone{rest}")
        if isinstance(before, AcceptedDocument):
            return Remark(logging.INFO, f"{subject} has changed")
        rest = " in place of the file's" if is_in_file else ""
        return Remark(logging.INFO, f"{subject} {self.counts}{rest}")
