"""The subjects of a node's series, and their labels."""

from collections.abc import Iterator, Sequence

from kwokctl.errors import ExpressionError
from kwokctl.expr.cel import MeasuredObject
from kwokctl.json_value import Json
from kwokctl.kubelet.fleet.views import ContainerView
from kwokctl.kubelet.usage.expressions.language import UsageLanguage, text
from kwokctl.kubelet.usage.expressions.objects import container_object
from kwokctl.kubelet.usage.meters.node import NodeMeters
from kwokctl.kubelet.usage.meters.pod import PodMeters
from kwokctl.kubelet.usage.metrics.schema import FamilyShape


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
