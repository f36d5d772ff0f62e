"""Reads the documents of a subject, such as Logs and ClusterLogs, and says where one is wrong."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.config.nearest import did_you_mean
from kwokctl.json_value import Json
from kwokctl.kubelet.documents.lookup import (
    ClusterDocument,
    DocumentEntry,
    Lookup,
    PodDocument,
    PodSelector,
)

T = TypeVar("T")
S = TypeVar("S")


class Subject(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A pair of kinds of documents: one for single pods, one for the cluster."""

    kind: str
    cluster_kind: str
    entries: str
    """The field of `spec` that lists the entries: `logs`."""
    entry: type[T]
    """The shape of an entry: a `msgspec.Struct` that forbids unknown fields."""
    names: Callable[[T], Iterable[Hashable]]
    """Returns the containers, or ports, that an entry is for."""
    problem: Callable[[T], str | None] = lambda _: None
    """Returns what else is wrong with an entry, as the end of a sentence: `has two files`.

    An entry that lacks what it needs is not wrong until a client asks for it: such documents are in use.
    """


def read_lookup(subject: Subject[T], documents: Iterable[Document]) -> Lookup[T]:
    """Read all documents of a subject; those of other kinds are left out.

    Raises ConfigError that names the file, the document and the field of what is wrong.
    """
    known = tuple(documents)
    return Lookup(
        [read_of_pod(subject, each) for each in known if each.kind == subject.kind],
        [read_of_cluster(subject, each) for each in known if each.kind == subject.cluster_kind],
    )


def read_of_pod(subject: Subject[T], document: Document) -> PodDocument[T]:
    """Read a document for a single pod; raises ConfigError like `read_lookup`."""
    spec = _spec(document, (subject.entries,))
    return PodDocument(
        namespace=_shaped(document, namespace_of(document), str, "metadata.namespace"),
        name=document.name,
        entries=tuple(_entries(subject, document, spec)),
    )


def read_of_cluster(subject: Subject[T], document: Document) -> ClusterDocument[T]:
    """Read a cluster-wide document; raises ConfigError like `read_lookup`."""
    spec = _spec(document, ("selector", subject.entries))
    return ClusterDocument(
        name=document.name,
        selector=_shaped(document, spec.get("selector", {}), PodSelector, "spec.selector"),
        entries=tuple(_entries(subject, document, spec)),
    )


def namespace_of(document: Document) -> Json:
    """Return the namespace that a document names, or the one that is meant without a name."""
    return (document.body.get("metadata") or {}).get("namespace") or "default"


def _spec(document: Document, fields: tuple[str, ...]) -> Mapping[str, Json]:
    document.check_fields(("spec", "status"))
    if not document.name:
        raise document.fault("metadata.name", "is missing")
    spec = document.body.get("spec")
    if spec is None:
        return {}
    if not isinstance(spec, Mapping):
        raise document.fault("spec", "must be a mapping")
    for name in spec:
        if name not in fields:
            hint = did_you_mean(name, fields) or f"fields are: {', '.join(fields)}"
            raise document.fault(f"spec.{name}", f"is not a field of a {document.kind}", hint=hint)
    return {name: _without_nulls(value) for name, value in spec.items() if value is not None}


def _entries(
    subject: Subject[T], document: Document, spec: Mapping[str, Json]
) -> Iterator[DocumentEntry[T]]:
    field = f"spec.{subject.entries}"
    for index, value in enumerate(
        _shaped(document, spec.get(subject.entries, []), list[Json], field)
    ):
        at = f"{field}[{index}]"
        entry = _shaped(document, value, subject.entry, at)
        if problem := subject.problem(entry):
            raise document.fault(at, problem)
        yield DocumentEntry(frozenset(subject.names(entry)), entry)


def _without_nulls(value: Json) -> Json:
    """Leave out fields that are null: they are as those that are absent, here and to the API server."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _shaped(document: Document, value: Json, shape: type[S], field: str) -> S:
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as e:
        raise document.misshapen(e, field) from e
