"""The sources of the values of series: a meter, or an expression.

Most series are those of the usual metrics, which ask for the use of one container. Their meters
are read without the expression around.
"""

from collections.abc import Callable

from kwokctl.expr.cel import CelProgram
from kwokctl.expr.cel.syntax.cel_nodes import CelCall, CelLiteral, CelNode, qualified
from kwokctl.kubelet.usage.expressions.language import number
from kwokctl.kubelet.usage.meters.pod import PodMeters
from kwokctl.kubelet.usage.metrics.places import Place

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
