"""The paths that report the usage of nodes, and the addresses of the fleet's metrics.

Usage is in the form of a kubelet's `/stats/summary`, https://pkg.go.dev/k8s.io/kubelet/pkg/apis/stats/v1alpha1#Summary
The addresses are in the form of Prometheus' HTTP service discovery, https://prometheus.io/docs/prometheus/latest/http_sd/
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Protocol

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.embedded.documents.custom_resource_watch import Use
from kwokctl.embedded.http.messages import Answer, RefusedError, Request
from kwokctl.embedded.http.route_table import Route
from kwokctl.embedded.resource_metrics import ANNOTATION, path_of
from kwokctl.expr.cel.cel_errors import CelValueError
from kwokctl.expr.cel.values.quantities import parse_quantity
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kubelet.documents.in_force import lookup_uses
from kwokctl.kubelet.fleet.dialled_node import node_at
from kwokctl.kubelet.fleet.views import FleetView, NodeView
from kwokctl.kubelet.usage.metric_documents import METRIC, MetricDocument, read_metrics
from kwokctl.kubelet.usage.metric_pages import MetricPages
from kwokctl.kubelet.usage.node_meters import FleetMeters, NodeMeters
from kwokctl.kubelet.usage.node_pages import NodePages, ScrapeTarget
from kwokctl.kubelet.usage.pod_meters import PodMeters
from kwokctl.kubelet.usage.usage_rules import USAGES, read_usages

_NANO = 1e9


class _Meters(Protocol):
    def usage(self, resource: str, container: str = "") -> float: ...

    def cumulative_usage(self, resource: str, container: str = "") -> float: ...


Accelerators = Mapping[tuple[str, str], Sequence[Json]]
"""The accelerators of containers, by the uid of the pod and by name."""


def summary(node: NodeMeters, now: float, accelerators: Accelerators) -> bytes:
    """Return the summary of a node, at the moment that its meters are looked at."""
    time = format_time(now)
    used = _used(node, time)
    used["memory"].update(_available(node))
    own = {"nodeName": node.view.name, **_start(node.view.created), **used}
    pods = [_pod(pod, time, accelerators) for pod in node.pods.values()]
    return msgspec.json.encode({"node": own, "pods": pods})


def _pod(pod: PodMeters, time: str, accelerators: Accelerators) -> dict[str, Json]:
    view = pod.view

    def of_container(name: str) -> dict[str, Json]:
        found = accelerators.get((view.uid, name))
        return {"accelerators": found} if found else {}

    return {
        "podRef": {"name": view.name, "namespace": view.namespace, "uid": view.uid},
        **_start(view.start_time or view.created),
        "containers": [
            {
                "name": name,
                **_start(meters.view.started_at),
                **_used(pod, time, name),
                **of_container(name),
            }
            for name, meters in pod.containers.items()
        ],
        **_used(pod, time),
    }


def _used(meters: _Meters, time: str, container: str = "") -> dict[str, dict[str, Json]]:
    memory = int(meters.usage("memory", container))
    return {
        "cpu": {
            "time": time,
            "usageNanoCores": int(meters.usage("cpu", container) * _NANO),
            "usageCoreNanoSeconds": int(meters.cumulative_usage("cpu", container) * _NANO),
        },
        "memory": {
            "time": time,
            "usageBytes": memory,
            "workingSetBytes": memory,
            "rssBytes": memory,
        },
    }


def _available(node: NodeMeters) -> Mapping[str, int]:
    try:
        whole = float(parse_quantity(node.view.capacity.get("memory", "")))
    except CelValueError:
        return {}
    return {"availableBytes": max(int(whole - node.usage("memory")), 0)}


def _start(seconds: float) -> dict[str, str]:
    return {"startTime": format_time(seconds)} if seconds else {}


def discovery(targets: Iterable[ScrapeTarget], *, host: str, scheme: str) -> bytes:
    """Return the targets in the form of the discovery."""
    return msgspec.json.encode(
        [
            {
                "targets": [host],
                "labels": {
                    "metrics_name": target.name,
                    "__scheme__": scheme,
                    "__metrics_path__": target.path,
                    **target.labels,
                },
            }
            for target in targets
        ]
    )


def _targets(
    metrics: Iterable[MetricDocument], nodes: Sequence[NodeView]
) -> Iterator[ScrapeTarget]:
    """Yield a target for each Metric, or for each node if its path names one."""
    for metric in metrics:
        if metric.is_of_any_node:
            for node in nodes:
                path, labels = metric.path_of(node.name), {"node": node.name}
                yield ScrapeTarget(name=metric.name, path=path, labels=labels)
        else:
            yield ScrapeTarget(name=metric.name, path=metric.spec.path, labels={})


_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_JSON = "application/json"
_SCHEMES = ("https", "http")


class UsageRoutes:
    """Answers with what nodes, pods and containers use.

    A node is named by the path, or by the address at which the server was reached: one that several
    nodes have tells nothing, so it is answered with 404, and never with another node's data.
    """

    def __init__(
        self,
        fleet: FleetView,
        documents: Iterable[Document],
        meters: FleetMeters,
        others: NodePages,
    ) -> None:
        """Answer for the nodes of the fleet; `others` are the pages that no document describes.

        A Metric with the path of one of those takes its place. Raises ConfigError that names file and field of
        what is wrong with a document.
        """
        known = tuple(documents)
        self._fleet = fleet
        self._meters = meters
        self._others = others
        self._pages = MetricPages(known, meters)
        self.run = meters.run
        """Follows changes of the documents until cancelled."""
        self.uses: Mapping[str, Use] = {
            METRIC: self._pages.in_force.change,
            **lookup_uses(USAGES, meters.documents, known),
        }
        """The functions that put custom resources into force, by kind."""

    def routes(self) -> Sequence[Route]:
        """Return the paths."""
        return (
            Route(path="/metrics", is_tree=True, answer=self._metrics),
            Route(path="/metrics/resource", answer=self._resource),
            Route(path="/stats/summary", answer=self._summary),
            Route(path="/stats/nodes", is_tree=True, answer=self._summary_of_named),
            Route(path="/discovery/prometheus", answer=self._discovery),
        )

    def changed(self, node: str) -> None:
        """Note a change of a node or its pods at once, so that counters know its time."""
        self._meters.changed(node)
        self._others.changed(node)
        if self._fleet.node(node) is None:
            self._pages.forget(node)

    async def _metrics(self, request: Request) -> Answer:
        await self._fleet.watched()
        found = self._pages.at(request.path.rstrip("/"))
        if found is None and (page := self._others.at(request)) is not None:
            return Answer(body=page, content_type=_TEXT)
        return _text(found, request.path)

    async def _resource(self, request: Request) -> Answer:
        await self._fleet.watched()
        return _text(self._pages.resource(self._node_at(request)), request.path)

    async def _summary(self, request: Request) -> Answer:
        await self._fleet.watched()
        return self._summary_of(self._node_at(request))

    async def _summary_of_named(self, request: Request) -> Answer:
        await self._fleet.watched()
        match request.segments:
            case ("stats", "nodes", node, "summary"):
                return self._summary_of(node)
            case _:
                raise _nothing(request.path)

    async def _discovery(self, request: Request) -> Answer:
        await self._fleet.watched()
        scheme = request.parameter("scheme") or _SCHEMES[0]
        if scheme not in _SCHEMES:
            raise RefusedError(400, f"'{scheme}' is neither of {', '.join(_SCHEMES)}")
        nodes = list(self._fleet.nodes())
        targets = chain(_targets(self._pages.metrics(), nodes), self._others.targets(nodes))
        found = discovery(targets, host=request.header("host"), scheme=scheme)
        return Answer(body=found, content_type=_JSON)

    def _summary_of(self, node: str) -> Answer:
        meters = self._meters.node(node)
        if meters is None:
            raise RefusedError(404, f"there is no fake node '{node}'")
        accelerators = self._others.accelerators(node)
        return Answer(body=summary(meters, self._meters.now(), accelerators), content_type=_JSON)

    def _node_at(self, request: Request) -> str:
        by_name = (
            f"{path_of('NAME')}, which clients take from the annotation '{ANNOTATION}' of a node"
        )
        return node_at(request, self._fleet, by_name)


def check_usage_documents(documents: Sequence[Document]) -> None:
    """Raise ConfigError that names file and field of what is wrong with one."""
    read_usages(documents)
    read_metrics(documents)


def _text(found: str | None, path: str) -> Answer:
    if found is None:
        raise _nothing(path)
    return Answer(body=found.encode(), content_type=_TEXT)


def _nothing(path: str) -> RefusedError:
    return RefusedError(404, f"there is nothing at '{path}': no such metric, or no such fake node")
