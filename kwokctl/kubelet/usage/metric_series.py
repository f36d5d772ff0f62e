"""The series of a node's metrics, with their subjects, labels and sources of values.

A source is a meter or an expression. Most series are those of the usual metrics, which ask for the use of one
container. Their meters are read without the expression around.
"""

from collections.abc import Callable, Iterator, Sequence

from kwokctl.errors import ExpressionError
from kwokctl.expr.cel import CelProgram, MeasuredObject
from kwokctl.expr.cel.syntax.cel_nodes import CelCall, CelLiteral, CelNode, qualified
from kwokctl.json_value import Json
from kwokctl.kubelet.fleet.views import ContainerView
from kwokctl.kubelet.usage.cel_expressions import UsageLanguage, container_object, number, text
from kwokctl.kubelet.usage.metric_documents import FamilyShape
from kwokctl.kubelet.usage.node_meters import NodeMeters
from kwokctl.kubelet.usage.pod_meters import PodMeters


class Place:
    """The subject of a series: a node, a pod or a container."""

    __slots__ = ("container", "pod", "values")

    def __init__(
        self,
        node: MeasuredObject,
        pod: PodMeters | None = None,
        pod_object: MeasuredObject | None = None,
        container: ContainerView | None = None,
    ) -> None:
        self.pod = pod
        self.container = container
        its = None if container is None else container_object(container)
        self.values: tuple[Json, ...] = (node, pod_object, its)


Labelled = Sequence[tuple[str, Place]]
"""SeriesPlaces with the labels of their series, such as `{pod="a"}`."""


class SeriesPlaces:
    """All places of a node; what has the same labels shares them, which are most of a page."""

    def __init__(self, node: NodeMeters, language: UsageLanguage) -> None:
        self._language = language
        self._node = Place(node.object)
        self._pods = [Place(node.object, p, p.object) for p in node.pods.values() if p.containers]
        self._labelled: dict[tuple[object, ...], Labelled] = {}

    def labelled(self, shape: FamilyShape) -> Labelled:
        """Return the places of a metric; those are left out whose labels cannot be evaluated."""
        key = (shape.dimension, *((label.name, label.value) for label in shape.labels))
        found = self._labelled.get(key)
        if found is None:
            places = self._of(shape.dimension)
            pairs = ((labels, place) for place in places for labels in self._labels(shape, place))
            found = self._labelled[key] = list(pairs)
        return found

    def _of(self, dimension: str) -> Iterator[Place]:
        if dimension == "node":
            yield self._node
        elif dimension == "pod":
            yield from self._pods
        else:
            yield from (place for pod in self._pods for place in _containers(pod))

    def _labels(self, shape: FamilyShape, place: Place) -> Iterator[str]:
        """Yield the labels of a series, nothing if one of them cannot be evaluated."""
        try:
            pairs = [
                f'{label.name}="{_escaped(text(self._language.compile(label.value), *place.values))}"'
                for label in shape.labels
            ]
        except ExpressionError as e:
            self._language.complain(f"metric '{shape.name}': {e}")
            return
        yield f"{{{','.join(pairs)}}}" if pairs else ""


def _containers(of: Place) -> Iterator[Place]:
    node, seen, _ = of.values
    if of.pod is not None:
        for meters in of.pod.containers.values():
            yield Place(node, of.pod, seen, meters.view)


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


Source = Callable[[float], float]
"""Gives the value at a POSIX time; raises ExpressionError if it has none."""


class Reading:
    """An expression, for all places of a metric."""

    def __init__(self, program: CelProgram) -> None:
        self._program = program
        self._asked = _asked(program.tree)

    def source(self, place: Place) -> Source:
        """Return where the value for a place comes from."""
        values, program = place.values, self._program
        return self._measured(place) or (lambda _: number(program, *values))

    def _measured(self, place: Place) -> Source | None:
        pod, container = place.pod, place.container
        if self._asked is None or pod is None:
            return None
        function, resource, *of = self._asked
        is_total = function == "CumulativeUsage"
        if not of:
            return _TotalOfPod(pod, resource) if is_total else _RateOfPod(pod, resource)
        if container is None:
            return None
        meter = pod.meter(container.name, resource)
        return meter.total if is_total else meter.rate


def _asked(tree: CelNode) -> tuple[str, ...] | None:
    """Return the function, the resource, and what else `pod.Usage("cpu", container.name)` names."""
    if not isinstance(tree, CelCall) or tree.name not in {"CumulativeUsage", "Usage"}:
        return None
    resource, *of = tree.args
    names = tuple(map(qualified, of))
    is_plain = tree.target is not None and qualified(tree.target) == "pod"
    if not is_plain or names not in {(), ("container.name",)}:
        return None
    return (tree.name, str(resource.value), *names) if isinstance(resource, CelLiteral) else None


class _OfPod:
    """A resource of a pod; a class, because there is one for each pod, and a closure is larger."""

    __slots__ = ("_pod", "_resource")

    def __init__(self, pod: PodMeters, resource: str) -> None:
        self._pod = pod
        self._resource = resource


class _TotalOfPod(_OfPod):
    __slots__ = ()

    def __call__(self, now: float) -> float:
        return self._pod.total(self._resource, now)


class _RateOfPod(_OfPod):
    __slots__ = ()

    def __call__(self, now: float) -> float:
        return self._pod.rate(self._resource, now)
