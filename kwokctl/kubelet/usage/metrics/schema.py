"""The shape of a Metric document, `kwok.x-k8s.io/v1alpha1`, as its author writes it."""

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

from kwokctl.kubelet.usage.expressions.language import check_amount, check_text

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
