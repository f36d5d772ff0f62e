"""The meters of the containers of a pod."""

from collections.abc import Callable, Mapping

import msgspec

from kwokctl.expr.cel import MeasuredObject
from kwokctl.kubelet.fleet.views import ContainerView, PodView
from kwokctl.kubelet.usage.cel_expressions import UsageLanguage, pod_object
from kwokctl.kubelet.usage.curves import Curve
from kwokctl.kubelet.usage.usage_rules import UsageRules

_FIRST = 1e-6
"""The first value of every counter: metrics-server takes 0 for a container that it knows nothing of."""


class Meter:
    """Counts what a curve gives, and what the curves before it have given."""

    __slots__ = ("_before", "_curve", "_least", "_since", "_started")

    def __init__(self, curve: Curve, started: float, least: float = 0.0) -> None:
        """Begin when the container was started; it uses at least so much."""
        self._least = least
        self._curve = curve
        self._started = started
        self._since = started
        self._before = _FIRST

    def rate(self, now: float) -> float:
        """Return what is used now."""
        return max(self._curve.at(now - self._started), self._least)

    def total(self, now: float) -> float:
        """Return what has been used until now, times the seconds for which it was."""
        if now <= self._since:
            return self._before
        started = self._started
        return self._before + self._curve.between(self._since - started, now - started)

    def follow(self, curve: Curve, now: float) -> None:
        """Follow another curve from now on."""
        if curve != self._curve:
            self._before, self._since, self._curve = self.total(now), max(now, self._since), curve


class Scene(msgspec.Struct):
    """The rules for what the containers of a node use, and the moment of the measurement."""

    rules: UsageRules
    language: UsageLanguage
    node_object: MeasuredObject

    @property
    def now(self) -> float:
        """The moment, as a POSIX time stamp."""
        return self.language.moment / 1e9


_LEAST = {"memory": 1.0}
"""The least usage of a container that runs: metrics-server drops a pod with a container that uses nothing."""
CurveOf = Callable[[ContainerView, str], Curve]
"""Returns what a container uses of a resource."""
_NOTHING: Mapping[str, float] = {}


class ContainerMeters:
    """The meters of one start of a container, by resource."""

    __slots__ = ("by_resource", "view")

    def __init__(self, view: ContainerView) -> None:
        self.view = view
        self.by_resource: dict[str, Meter] = {}

    def of(self, resource: str, curve: CurveOf) -> Meter:
        """Return the meter of a resource, which follows `curve` if there was none before."""
        found = self.by_resource.get(resource)
        if found is None:
            least = _LEAST.get(resource, 0.0)
            found = Meter(curve(self.view, resource), self.view.started_at, least)
            self.by_resource[resource] = found
        return found


class PodMeters:
    """Measures a pod: its running containers, init containers and sidecars included.

    A counter of the pod goes on when a container stops, so it never falls.
    """

    __slots__ = ("_scene", "_stopped", "_stopped_count", "containers", "view")

    def __init__(self, view: PodView, scene: Scene) -> None:
        self._scene = scene
        self._stopped: Mapping[str, float] = _NOTHING
        self._stopped_count = 0
        self.containers: dict[str, ContainerMeters] = {}
        self.view = view
        self._admit(view)

    @property
    def object(self) -> MeasuredObject:
        """The pod as expressions see it: made when one looks, for it is larger than all meters."""
        return pod_object(self.view, self)

    def follow(self, view: PodView, now: float) -> None:
        """Continue with the present state of the pod."""
        before = self.containers
        self.view, self.containers = view, {}
        self._admit(view, before)
        for name, meters in before.items():
            if self.containers.get(name) is not meters:
                self._retire(meters, now)
        for meters in self.containers.values():
            for resource, meter in meters.by_resource.items():
                meter.follow(self._curve(meters.view, resource), now)

    def usage(self, resource: str, container: str = "") -> float:
        """Return what is used at the moment of the scene."""
        return self.rate(resource, self._scene.now, container)

    def cumulative_usage(self, resource: str, container: str = "") -> float:
        """Return what has been used until the moment of the scene."""
        return self.total(resource, self._scene.now, container)

    def rate(self, resource: str, now: float, container: str = "") -> float:
        """Return what is used at a time."""
        if container:
            meters = self.containers.get(container)
            return meters.of(resource, self._curve).rate(now) if meters else 0.0
        used = 0.0
        for meters in self.containers.values():
            used += meters.of(resource, self._curve).rate(now)
        return used

    def total(self, resource: str, now: float, container: str = "") -> float:
        """Return what has been used until a time; that of a stopped container only in the whole."""
        if container:
            meters = self.containers.get(container)
            return meters.of(resource, self._curve).total(now) if meters else 0.0
        used = self._stopped.get(resource, 0.0)
        for meters in self.containers.values():
            used += meters.of(resource, self._curve).total(now)
        return used

    def started_at(self, container: str) -> float:
        """Return when a container that runs was started; KeyError for one that does not."""
        return self.containers[container].view.started_at

    def started_containers(self) -> float:
        """Return how many containers have been started."""
        return len(self.containers) + self._stopped_count

    def resources(self) -> set[str]:
        """Return the resources that are measured."""
        measured = (meters.by_resource for meters in self.containers.values())
        return set(self._stopped).union(*measured)

    def meter(self, container: str, resource: str) -> Meter:
        """Return the meter of a container that runs; KeyError for one that does not."""
        return self.containers[container].of(resource, self._curve)

    def _admit(self, view: PodView, before: dict[str, ContainerMeters] | None = None) -> None:
        """Take in the containers that run, with the meters of those that ran before."""
        for container in view.containers:
            if container.is_running:
                known = (before or {}).get(container.name)
                is_same = known is not None and known.view.started_at == container.started_at
                meters = known if known is not None and is_same else ContainerMeters(container)
                meters.view = container
                self.containers[container.name] = meters

    def _retire(self, meters: ContainerMeters, now: float) -> None:
        self._stopped_count += 1
        stopped = dict(self._stopped)
        for resource, meter in meters.by_resource.items():
            stopped[resource] = stopped.get(resource, 0.0) + meter.total(now)
        self._stopped = stopped

    def _curve(self, container: ContainerView, resource: str) -> Curve:
        scene = self._scene
        return scene.rules.of_container(
            container, resource, self.view, lambda: (scene.node_object, self.object)
        )
