"""Pages of nodes that no Metric describes, such as those of an exporter of GPUs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from kwokctl.embedded.http.messages import Request
from kwokctl.json_value import Json
from kwokctl.kubelet.fleet.views import NodeView


class ScrapeTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A page that Prometheus is to read."""

    name: str
    """The label `metrics_name`."""
    path: str
    labels: Mapping[str, str]


class NodePages(Protocol):
    """The pages, and what they add to the summary of a node."""

    def at(self, request: Request) -> bytes | None:
        """Return the page for a path, None if there is none.

        Raises RefusedError for parameters that it does not know, and NoAnswerError when the kubelet is silent.
        """
        ...

    def targets(self, nodes: Iterable[NodeView]) -> Iterable[ScrapeTarget]:
        """Return a target for each page of these nodes."""
        ...

    def accelerators(self, node: str) -> Mapping[tuple[str, str], Sequence[Json]]:
        """Return the accelerators of containers, by the uid of the pod and by name."""
        ...

    def changed(self, node: str) -> None:
        """Note a change of a node or its pods, after the meters have."""
        ...
