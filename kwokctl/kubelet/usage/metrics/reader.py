"""Reads the documents of kind Metric."""

from collections.abc import Iterable, Mapping

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.kubelet.usage.metrics.schema import NODE_NAME, MetricSpec

METRIC = "Metric"
"""The kind."""


class MetricDocument(msgspec.Struct, frozen=True):
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
    return by_path(read_metric(each) for each in documents if each.kind == METRIC)


def by_path(metrics: Iterable[MetricDocument]) -> Mapping[str, MetricDocument]:
    """Return the last Metric of each path."""
    return {each.spec.path: each for each in metrics}


def read_metric(document: Document) -> MetricDocument:
    """Read a Metric; raises ConfigError like `read_metrics`."""
    document.check_fields(("spec", "status"))
    if not document.name:
        raise document.fault("metadata.name", "is missing")
    try:
        spec = msgspec.convert(document.body.get("spec"), MetricSpec)
    except msgspec.ValidationError as e:
        raise document.misshapen(e, "spec") from e
    return MetricDocument(document.name, spec)
