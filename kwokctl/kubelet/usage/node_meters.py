"""The meters of nodes and of the pods on them, for all nodes that have been requested."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from operator import is_

from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import FleetView, NodeView, PodView
from kwokctl.kubelet.usage.cel_expressions import UsageLanguage, node_object
from kwokctl.kubelet.usage.pod_meters import Meter, PodMeters, Scene
from kwokctl.kubelet.usage.usage_rules import UsageRules
from kwokctl.kubelet.usage.usage_shape import UsageEntry


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


class FleetMeters:
    """Measures nodes: from the start of their containers, though the first question may come later."""

    def __init__(
        self,
        fleet: FleetView,
        documents: Lookup[UsageEntry],
        clock: Callable[[], float],
    ) -> None:
        """Measure nodes of the fleet by documents; `clock` gives the POSIX time."""
        self.language = UsageLanguage(self._started)
        self.documents = documents
        self._fleet = fleet
        self._rules = UsageRules(documents, self.language)
        self._clock = clock
        self._nodes: dict[str, NodeMeters] = {}
        self._rules_changed = asyncio.Event()
        documents.listen(self._rules_changed.set)

    async def run(self) -> None:
        """Follow changes of the documents until cancelled, node after node."""
        while True:
            await self._rules_changed.wait()
            self._rules_changed.clear()
            for name in list(self._nodes):
                self.follow_rules(name)
                await asyncio.sleep(0)

    def follow_rules(self, name: str) -> None:
        """Measure a node by the documents as they are now, from now on."""
        if name in self._nodes:
            now = self._clock()
            self.language.moment = round(now * 1e9)
            self._nodes[name].follow_rules(now)

    def node(self, name: str) -> NodeMeters | None:
        """Return the meters of a node as they are now, None if there is no such node.

        Raises NoAnswerError when its kubelet is silent; the usage of its containers is measured nevertheless.
        """
        view = self._fleet.node(name)
        if view is not None:
            view.demand_answer()
        return self._update(name, is_asked=True)

    def known(self, name: str) -> NodeMeters | None:
        """Return the meters of a node that has been asked about, as they were at its last change."""
        return self._nodes.get(name)

    def changed(self, name: str) -> None:
        """Follow a change of a node or of its pods at once, so that its time is known."""
        if name in self._nodes:
            self._update(name, is_asked=False)

    def _started(self, name: str) -> float:
        node = self._update(name, is_asked=True)
        return node.started_containers() if node is not None else 0.0

    def now(self) -> float:
        """Return the moment that was looked at last."""
        return self.language.moment / 1e9

    def _update(self, name: str, *, is_asked: bool) -> NodeMeters | None:
        view = self._fleet.node(name)
        if view is None:
            self._nodes.pop(name, None)
            return None
        now = self._clock()
        self.language.moment = round(now * 1e9)
        pods = list(self._fleet.pods_on(name))
        found = self._nodes.get(name)
        if found is not None:
            found.follow(view, pods, now)
        elif is_asked:
            found = NodeMeters(view, pods, self._rules, self.language)
            self._nodes[name] = found
        return found
