"""Reads the documents of kind Metric."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from kwokctl.config.documents import Document
from kwokctl.kubelet.documents.reader import misshapen
from kwokctl.kubelet.usage.metrics.schema import NODE_NAME, MetricSpec

_KIND = "Metric"


@dataclass(frozen=True, slots=True)
class MetricDocument:
    """A path and what it returns."""

    name: str
    spec: MetricSpec

    @property
    def is_of_any_node(self) -> bool:
        """Whether the path names the node; else the document's own name does, as for kwok."""
        return NODE_NAME in self.spec.path

    def path_of(self, node: str) -> str:
        """Return the path for a node."""
        return self.spec.path.replace(NODE_NAME, node)

    def node_in(self, path: str) -> str:
        """Return the node that a path names, nothing if it is not one of these."""
        before, mark, after = self.spec.path.partition(NODE_NAME)
        if not mark:
            return self.name if path == before else ""
        if not path.startswith(before) or not path.endswith(after):
            return ""
        node = path[len(before) : len(path) - len(after)]
        return "" if "/" in node else node


def read_metrics(documents: Iterable[Document]) -> Mapping[str, MetricDocument]:
    """Read all Metric documents, by path; a later one replaces an earlier one with its path.

    Raises ConfigError that names file and field of what is wrong.
    """
    found = [_read(each) for each in documents if each.kind == _KIND]
    return {each.spec.path: each for each in found}


def _read(document: Document) -> MetricDocument:
    document.check_fields(("spec", "status"))
    if not document.name:
        raise document.fault("metadata.name", "is missing")
    try:
        spec = msgspec.convert(document.body.get("spec"), MetricSpec)
    except msgspec.ValidationError as e:
        raise misshapen(document, "spec", e) from e
    return MetricDocument(document.name, spec)
