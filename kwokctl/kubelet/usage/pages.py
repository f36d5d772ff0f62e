"""The pages of Metric documents: finds the one for a path, and keeps those that are requested."""

from collections.abc import Iterable, Sequence

from kwokctl import assets
from kwokctl.config.config_documents import Document
from kwokctl.expr import yaml
from kwokctl.kubelet.documents.in_force import DocumentsInForce
from kwokctl.kubelet.usage.meters.fleet import FleetMeters
from kwokctl.kubelet.usage.metrics.page import MetricPage
from kwokctl.kubelet.usage.metrics.reader import (
    METRIC,
    MetricDocument,
    by_path,
    read_metric,
    read_metrics,
)

_USUAL = "metrics/resource.yaml"
_RESOURCE = "/metrics/nodes/{nodeName}/metrics/resource"
"""The path of what metrics-server reads, which a kubelet has at `/metrics/resource`."""


def usual_metrics() -> Document:
    """Return the Metric that every node has, where metrics-server expects it."""
    body = yaml.load(assets.text(_USUAL))
    return Document(
        kind="Metric", api_version=body["apiVersion"], name=body["metadata"]["name"],
        body=body, source=_USUAL,
    )  # fmt: skip


class MetricPages:
    """The pages at the paths of Metric documents."""

    def __init__(self, documents: Iterable[Document], meters: FleetMeters) -> None:
        """Serve the pages of the documents; the last document counts for a path.

        Raises ConfigError that names file and field of what is wrong with one.
        """
        known = [each for each in documents if each.kind == METRIC]
        self._metrics = read_metrics(known)
        self._meters = meters
        self._pages: dict[tuple[str, str], MetricPage] = {}
        named = ((each.name, each) for each in known)
        self.in_force = DocumentsInForce(METRIC, named, read_metric, self._put)
        """Takes custom resources."""

    def _put(self, custom: Sequence[MetricDocument], files: Sequence[MetricDocument]) -> None:
        before, self._metrics = self._metrics, by_path([*files, *custom])
        same = {path for path, metric in self._metrics.items() if metric == before.get(path)}
        self._pages = {key: page for key, page in self._pages.items() if key[0] in same}

    def metrics(self) -> Iterable[MetricDocument]:
        """Return all documents."""
        return self._metrics.values()

    def at(self, path: str) -> str | None:
        """Return the text for a path, None if there is no such path or no such node."""
        found = ((metric, metric.node_in(path)) for metric in self._metrics.values())
        return next((self._text(metric, node) for metric, node in found if node), None)

    def resource(self, node: str) -> str | None:
        """Return what a node uses, None if there is no such node or no such metric."""
        if _RESOURCE not in self._metrics:
            return None
        return self._text(self._metrics[_RESOURCE], node)

    def _text(self, metric: MetricDocument, node: str) -> str | None:
        key = (metric.spec.path, node)
        meters = self._meters.node(node)
        if meters is None:
            self._pages.pop(key, None)
            return None
        page = self._pages.get(key)
        if page is None or page.meters is not meters or page.version != meters.version:
            page = MetricPage(metric.spec, meters, self._meters.language)
            self._pages[key] = page
        return page.text(self._meters.now())

    def forget(self, node: str) -> None:
        """Drop the pages of a node that is gone."""
        for metric in self._metrics:
            self._pages.pop((metric, node), None)
