"""The meters of a node and of the pods on it."""

from collections import defaultdict
from collections.abc import Sequence
from operator import is_

from kwokctl.kubelet.fleet.views import NodeView, PodView
from kwokctl.kubelet.usage.expressions.language import UsageLanguage
from kwokctl.kubelet.usage.expressions.objects import node_object
from kwokctl.kubelet.usage.meters.meter import Meter
from kwokctl.kubelet.usage.meters.pod import PodMeters
from kwokctl.kubelet.usage.meters.scene import Scene
from kwokctl.kubelet.usage.rules.rules import UsageRules


class NodeMeters:
    """Measures a node: its pods, and what it uses beside them.

    Its counters never fall: they keep what pods have used that are gone.
    """

    def __init__(
        self, view: NodeView, pods: Sequence[PodView], rules: UsageRules, language: UsageLanguage
    ) -> None:
        self.view = view
        self.version = 0
        """Grows when there are others to measure."""
        self.object = node_object(view, self)
        self._scene = Scene(rules, language, self.object)
        self._own: dict[str, Meter] = {}
        self._gone: defaultdict[str, float] = defaultdict(float)
        self._gone_count = 0
        self._seen = list(pods)
        self.pods = {pod.uid: PodMeters(pod, self._scene) for pod in pods}

    def follow(self, view: NodeView, pods: Sequence[PodView], now: float) -> None:
        """Continue with the present state of the node and of its pods."""
        if view is self.view and _are_same(self._seen, pods):
            return
        self.version += 1
        if view is not self.view:
            self._follow_node(view, now)
        before, self.pods, self._seen = self.pods, {}, list(pods)
        for pod in pods:
            self.pods[pod.uid] = self._followed(before.pop(pod.uid, None), pod, now)
        for meters in before.values():
            self._retire(meters, now)

    def follow_rules(self, now: float) -> None:
        """Go on with what the documents say of the same pods now."""
        for pod in self.pods.values():
            pod.follow(pod.view, now)

    def usage(self, resource: str, _: str = "") -> float:
        """Return what is used now."""
        now = self._scene.now
        used = sum([pod.rate(resource, now) for pod in self.pods.values()])
        return used + self._meter(resource).rate(now)

    def cumulative_usage(self, resource: str, _: str = "") -> float:
        """Return what has been used so far."""
        now = self._scene.now
        used = sum([pod.total(resource, now) for pod in self.pods.values()])
        return used + self._meter(resource).total(now) + self._gone.get(resource, 0.0)

    def started_at(self, container: str) -> float:
        """Raise KeyError: a node is not a pod that has containers."""
        raise KeyError(container)

    def started_containers(self) -> float:
        """Return how many containers have been started."""
        return self._gone_count + sum(pod.started_containers() for pod in self.pods.values())

    def _meter(self, resource: str) -> Meter:
        found = self._own.get(resource)
        if found is None:
            curve = self._scene.rules.of_node(self.view, resource)
            found = self._own[resource] = Meter(curve, self.view.created)
        return found

    def _follow_node(self, view: NodeView, now: float) -> None:
        self.view, self.object = view, node_object(view, self)
        self._scene.node_object = self.object
        for resource, meter in self._own.items():
            meter.follow(self._scene.rules.of_node(view, resource), now)

    def _followed(self, known: PodMeters | None, pod: PodView, now: float) -> PodMeters:
        if known is None:
            return PodMeters(pod, self._scene)
        if known.view is not pod:
            known.follow(pod, now)
        return known

    def _retire(self, pod: PodMeters, now: float) -> None:
        self._gone_count += int(pod.started_containers())
        for resource in pod.resources():
            self._gone[resource] += pod.total(resource, now)


def _are_same(some: Sequence[PodView], others: Sequence[PodView]) -> bool:
    """Tell whether both are the very same views in the same order: equal ones take long to compare."""
    return len(some) == len(others) and all(map(is_, some, others))
