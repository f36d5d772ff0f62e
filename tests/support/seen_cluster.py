"""Nodes and pods as a watch shows them to a view, without a cluster."""

from typing import Any

import msgspec

from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.pods import PodTracker
from kwokctl.view.state.forgetting_texts import ForgettingTexts
from kwokctl.view.state.node_watch import PlacedNodes
from kwokctl.view.state.seen_fleet import SeenFleet
from kwokctl.view.state.seen_pods import SeenPods


class SeenCluster:
    """Nodes and pods as a watch shows them, and what is known of them."""

    def __init__(self, fleet: SeenFleet | None = None, pods: SeenPods | None = None) -> None:
        """Keep what is seen in these states, or in new ones."""
        self.fleet = fleet or SeenFleet()
        self.pods = pods or SeenPods(self.fleet.occupy)
        self.time = 0
        take = self.pods.take
        self._pods = PodTracker(take, ForgettingTexts(take), labels=(), takes_existing=True)
        self._nodes = PlacedNodes(self.fleet.take, Texts(self.fleet.take), self.fleet.note)

    def begin(self) -> None:
        """Let what comes from now on be new."""
        for each in (self._pods, self._nodes):
            each.begin()

    def pod(self, name: str, node: str = "", phase: str = "Pending", **more: Any) -> None:
        """Show a pod; `message` says why it cannot be scheduled."""
        message, cpu = more.get("message", ""), more.get("cpu", "1")
        scheduled = {"type": "PodScheduled", "status": "False", "message": message}
        raw = msgspec.json.encode({
            "metadata": {
                "name": name, "namespace": "default", "uid": f"uid-{name}",
                "ownerReferences": [{"kind": "Job", "name": "j", "uid": more.get("owner", "j")}],
            },
            "spec": {
                "containers": [{"name": "x", "resources": {"requests": {"cpu": cpu}}}],
                **({"nodeName": node} if node else {}),
            },
            "status": {"phase": phase, "conditions": [scheduled] if message else []},
        })  # fmt: skip
        self.time += 1
        self._pods.see(self._pods.decode(raw), raw, self.time, listed=more.get("listed", False))

    def node(self, name: str, *, ready: bool = True, cordoned: bool = False, **notes: str) -> None:
        """Show a node; `place` and `faults` are its annotations."""
        names = {"place": "kwokctl.dev/place", "faults": "kwokctl.dev/open-faults"}
        raw = msgspec.json.encode({
            "metadata": {
                "name": name, "uid": f"uid-{name}",
                "labels": {"topology.kubernetes.io/zone": "zone-a"},
                "annotations": {names[key]: value for key, value in notes.items()},
            },
            "spec": {"unschedulable": cordoned},
            "status": {
                "allocatable": {"cpu": "4", "pods": "110"},
                "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            },
        })  # fmt: skip
        self.time += 1
        self._nodes.see(self._nodes.decode(raw), raw, self.time, listed=False)

    def gone(self, name: str) -> None:
        """Show that a pod or a node is deleted."""
        self._pods.gone(f"uid-{name}", self.time)
        self._nodes.gone(f"uid-{name}", self.time)
