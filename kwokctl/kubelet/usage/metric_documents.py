"""The documents of kind Metric, `kwok.x-k8s.io/v1alpha1`: their fields, and their reader."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from kwokctl.config.config_documents import Document
from kwokctl.kubelet.usage.cel_expressions import check_amount, check_text

NODE_NAME = "{nodeName}"
"""Stands in a path for the name of a node."""
_ROOT = "/metrics"
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


class _Shape(Struct, rename="camel", forbid_unknown_fields=True):
    """The base of all parts of a Metric."""


class LabelShape(_Shape):
    """A label, and the expression of its value."""

    name: str
    value: str

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid label name or text expression."""
        if not _LABEL.fullmatch(self.name):
            raise ValueError(f"'{self.name}' is not a name for a label")
        check_text(self.value)


class BucketShape(_Shape):
    """A bucket of a histogram: how many observations are in it alone."""

    le: float
    value: str
    hidden: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid expression of a number."""
        check_amount(self.value)


class FamilyShape(_Shape):
    """A metric: one series for each node, pod or container."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str = ""
    dimension: Literal["node", "pod", "container"] = "node"
    labels: tuple[LabelShape, ...] = ()
    value: str = ""
    buckets: tuple[BucketShape, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid name, or without what its kind needs."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"'{self.name}' is not a name for a metric")
        if self.kind == "histogram":
            _check_buckets(self.buckets)
        elif not self.value:
            raise ValueError(f"a {self.kind} needs a 'value'")
        else:
            check_amount(self.value)


class MetricSpec(_Shape):
    """A path, and the metrics that it returns."""

    path: Annotated[str, Meta(min_length=1)]
    metrics: tuple[FamilyShape, ...] = ()
    timestamps: bool = False
    """Whether each value is written with its time, as a kubelet does at `/metrics/resource`; ours."""

    def __post_init__(self) -> None:
        """Raise ValueError for a path that is not below `/metrics`."""
        if not self.path.startswith(f"{_ROOT}/"):
            raise ValueError(f"the path '{self.path}' does not start with '{_ROOT}/'")
        if self.path.count(NODE_NAME) > 1:
            raise ValueError(f"the path '{self.path}' names the node more than once")


def _check_buckets(buckets: tuple[BucketShape, ...]) -> None:
    bounds = [bucket.le for bucket in buckets]
    if not bounds:
        raise ValueError("a histogram needs 'buckets'")
    if len(set(bounds)) < len(bounds):
        raise ValueError("two of the 'buckets' have the same 'le'")


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
