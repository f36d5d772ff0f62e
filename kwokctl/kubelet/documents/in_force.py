"""The documents of one kind that count: those of files, and custom resources beside them."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar

from kwokctl.config.config_documents import Document
from kwokctl.embedded.documents.custom_documents import AcceptedDocument, CustomDocuments
from kwokctl.embedded.documents.custom_resource_watch import Use
from kwokctl.embedded.documents.verdicts import Bodies
from kwokctl.kubelet.documents.document_reader import (
    Subject,
    namespace_of,
    read_of_cluster,
    read_of_pod,
)
from kwokctl.kubelet.documents.lookup import Lookup

T = TypeVar("T")
V = TypeVar("V")

log = logging.getLogger(__name__)

Put = Callable[[Sequence[T], Sequence[T]], None]
"""Lets documents count from now on: first those of the cluster, then those of the files."""


class DocumentsInForce(Generic[T]):
    """Tells a subject which documents of a kind count, whenever custom resources have changed.

    A custom resource takes the place of the file's document of its name.
    """

    def __init__(
        self,
        kind: str,
        files: Iterable[tuple[str, Document]],
        read: Callable[[Document], T],
        put: Put[T],
    ) -> None:
        """Begin with the documents of the files, each with the key of its custom resource."""
        self._files = [(key, AcceptedDocument(each.body, read(each))) for key, each in files]
        self._custom = CustomDocuments(kind, read, dict(self._files))
        self._put = put

    def change(self, custom: Bodies) -> Mapping[str, str]:
        """Let these custom resources count; return what is wrong with some, by their keys."""
        found = self._custom.update(custom)
        for remark in found.remarks:
            log.log(remark.level, "%s", remark.text)
        if found.remarks:
            of_files = (each for key, each in self._files if key not in found.accepted)
            self._put(
                [each.value for each in found.accepted.values()], [each.value for each in of_files]
            )
        return found.refused


def lookup_uses(
    subject: Subject[V], lookup: Lookup[V], documents: Iterable[Document]
) -> Mapping[str, Use]:
    """Return what custom resources of both kinds of a subject do, by their kind.

    `documents` are those of the files. Of cluster-wide documents the custom resources come first.
    """
    known = tuple(documents)
    of_pods = DocumentsInForce(
        subject.kind,
        [
            (f"{namespace_of(each)}/{each.name}", each)
            for each in known
            if each.kind == subject.kind
        ],
        partial(read_of_pod, subject),
        lambda custom, files: lookup.put_of_pods([*custom, *files]),
    )
    of_cluster = DocumentsInForce(
        subject.cluster_kind,
        [(each.name, each) for each in known if each.kind == subject.cluster_kind],
        partial(read_of_cluster, subject),
        lambda custom, files: lookup.put_of_cluster([*custom, *files]),
    )
    return {subject.kind: of_pods.change, subject.cluster_kind: of_cluster.change}
