"""The meters of all nodes that have been requested."""

import asyncio
from collections.abc import Callable

from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import FleetView
from kwokctl.kubelet.usage.expressions.language import UsageLanguage
from kwokctl.kubelet.usage.meters.node import NodeMeters
from kwokctl.kubelet.usage.rules.rules import UsageRules
from kwokctl.kubelet.usage.rules.schema import UsageEntry


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
