"""A fleet that a test changes by hand, and a clock that it moves."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kwokctl.config.config_documents import Document
from kwokctl.embedded.http.messages import Request
from kwokctl.expr import yaml
from kwokctl.kubelet.fleet.views import ContainerView, NodeView, PodView
from kwokctl.kubelet.telemetry.gpu_pages import GpuPages
from kwokctl.kubelet.telemetry.gpu_state import GpuStates
from kwokctl.kubelet.usage.metric_documents import read_metrics
from kwokctl.kubelet.usage.metric_pages import usual_metrics
from kwokctl.kubelet.usage.node_meters import FleetMeters
from kwokctl.kubelet.usage.usage_routes import UsageRoutes
from kwokctl.kubelet.usage.usage_rules import read_usages

START = 1_800_000_000.0
"""When the containers of a test start."""
_USUAL = usual_metrics()
read_metrics([_USUAL])  # loads what no test may load while its loop runs
_SERIES = re.compile(r"(\w+(?:\{.*\})?) (\S+)(?: \d+)?")
RESOURCE = "/metrics/nodes/{}/metrics/resource"


def running(name: str = "app", **more: Any) -> ContainerView:
    """Return a container that runs since START."""
    usual: dict[str, Any] = {"name": name, "is_running": True, "started_at": START}
    return ContainerView(**usual | more)


def pod(name: str = "web", *containers: ContainerView, **more: Any) -> PodView:
    """Return a pod on node `a`, with one container unless some are given."""
    usual: dict[str, Any] = {
        "namespace": "default",
        "name": name,
        "uid": f"uid-{name}",
        "node": "a",
        "containers": containers or (running(),),
        "phase": "Running",
        "created": START,
        "start_time": START,
    }
    return PodView(**usual | more)


def node(name: str = "a", **more: Any) -> NodeView:
    """Return a node."""
    usual: dict[str, Any] = {"name": name, "uid": f"uid-{name}", "created": START}
    return NodeView(**usual | more)


def documents(text: str) -> list[Document]:
    """Read documents."""
    return [
        Document(
            kind=body["kind"],
            api_version="kwok.x-k8s.io/v1alpha1",
            name=body["metadata"]["name"],
            body=body,
            source="some.yaml",
        )
        for body in yaml.load_all(text)
    ]


@dataclass
class HandFleet:
    """A fleet as the kubelet server sees it, with the answers of the usage paths."""

    pods: list[PodView] = field(default_factory=list)
    of_nodes: list[NodeView] = field(default_factory=lambda: [node()])
    text: str = ""
    """Documents."""
    age: float = 0.0
    """Seconds since START."""

    def __post_init__(self) -> None:
        """Begin to serve."""
        known = [_USUAL, *documents(self.text)]
        meters = FleetMeters(self, read_usages(known), lambda: START + self.age)
        self.gpus = GpuStates(meters)
        self.routes = UsageRoutes(self, known, meters, GpuPages(self.gpus))

    async def watched(self) -> None:
        """Do nothing: all is known."""

    async def pod(self, namespace: str, name: str) -> PodView | None:
        """Return a pod."""
        found = (p for p in self.pods if (p.namespace, p.name) == (namespace, name))
        return next(found, None)

    def node(self, name: str) -> NodeView | None:
        """Return a node."""
        return next((each for each in self.of_nodes if each.name == name), None)

    def nodes(self) -> Iterable[NodeView]:
        """Return all nodes."""
        return self.of_nodes

    def pods_on(self, node: str) -> Iterable[PodView]:
        """Return the pods on a node."""
        return [each for each in self.pods if each.node == node]

    def nodes_at(self, address: str) -> Iterable[NodeView]:
        """Return the nodes that have an address."""
        return [each for each in self.of_nodes if address in each.addresses]

    def changed(self, node: str = "a") -> None:
        """Tell that a node or its pods have changed, as the watch does."""
        self.routes.changed(node)

    async def get(self, path: str, **more: Any) -> bytes:
        """Return what is answered at a path; raise RefusedError for a refusal."""
        exact = {route.path: route for route in self.routes.routes() if not route.is_tree}
        trees = [r for r in self.routes.routes() if r.is_tree and path.startswith(r.path + "/")]
        route = exact.get(path) or trees[0]
        assert route.answer is not None
        answer = await route.answer(Request(method="GET", path=path, **more))
        assert isinstance(answer.body, bytes)
        return answer.body

    async def series(self, path: str = RESOURCE.format("a"), **more: Any) -> Mapping[str, float]:
        """Return the values of all series at a path."""
        lines = (await self.get(path, **more)).decode().splitlines()
        found = (_SERIES.fullmatch(line) for line in lines if not line.startswith("#"))
        return {match[1]: float(match[2]) for match in found if match}
