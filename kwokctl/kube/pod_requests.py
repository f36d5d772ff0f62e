"""The resources that a pod requests, as the scheduler and the kubelet count them. Pure.

Source: PodRequests in k8s.io/component-helpers, resource/helpers.go of Kubernetes 1.36.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from kwokctl.expr.cel.values.quantities import parse_quantity

Amounts = tuple[tuple[str, int], ...]
"""Names of resources with whole numbers: thousandths of a processor, bytes, or pieces."""
_CPU = "cpu"
_NANOS = 10**9


def requests_of(spec: Mapping[str, Any]) -> Amounts:
    """Return what a pod with this spec requests; zeros are left out."""
    total = _of_containers(spec)
    total |= _requested(spec)
    total.update(amounts(spec.get("overhead") or {}))
    return _kept(tuple(sorted((name, value) for name, value in total.items() if value)))


def amounts(quantities: Mapping[str, str | int]) -> dict[str, int]:
    """Return quantities as whole numbers, rounded up."""
    return {name: amount(name, str(quantity)) for name, quantity in quantities.items()}


@lru_cache(maxsize=1024)
def amount(resource: str, text: str) -> int:
    """Return a quantity of a resource as a whole number, rounded up."""
    quantity = parse_quantity(text)
    return quantity.thousandths() if resource == _CPU else -(-quantity.nanos // _NANOS)


def _of_containers(spec: Mapping[str, Any]) -> Counter[str]:
    """Return the most that is requested at a time: by an init container, or by all that run on."""
    beside: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for each in spec.get("initContainers") or ():
        own = _requested(each)
        if is_sidecar(each):
            beside += own
        most |= beside if is_sidecar(each) else beside + own
    return most | _sum([beside, *(_requested(each) for each in spec.get("containers") or ())])


def _requested(of: Mapping[str, Any]) -> Counter[str]:
    return Counter(amounts((of.get("resources") or {}).get("requests") or {}))


def _sum(parts: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in parts:
        total.update(each)
    return total


@lru_cache(maxsize=1024)
def _kept(found: Amounts) -> Amounts:
    """Return one shared value for equal amounts: a node may have thousands of pods of one workload."""
    return found


def is_sidecar(container: Mapping[str, Any]) -> bool:
    """Return whether an init container restarts always, and runs beside the others."""
    return container.get("restartPolicy") == "Always"
