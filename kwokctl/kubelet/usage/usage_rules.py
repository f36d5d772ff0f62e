"""Finds the usage of containers: in the documents for them, else in annotations of the pod."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import inf
from zlib import crc32

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.expr.cel import MeasuredObject
from kwokctl.expr.cel.cel_errors import CelValueError
from kwokctl.expr.cel.values.quantities import parse_quantity
from kwokctl.kubelet.documents.document_reader import Subject as DocumentPair
from kwokctl.kubelet.documents.document_reader import read_lookup
from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import ContainerView, NodeView, PodView
from kwokctl.kubelet.usage.cel_expressions import UsageLanguage, container_object, expression_curve
from kwokctl.kubelet.usage.curves import NO_USE, Curve
from kwokctl.kubelet.usage.usage_shape import UsageEntry, UsageShape, UsageSubject

PREFIX = "kwok.x-k8s.io/usage-"
"""Followed by the name of the resource, with a hyphen for the slash: a key has no second one."""
_USUAL: Mapping[str, UsageShape] = {
    "cpu": UsageShape(value="1m"),
    "memory": UsageShape(value="1Mi"),
}
"""The default usage; metrics-server leaves out pods that use nothing."""
FRAMEBUFFER = "nvidia.com/gpu.memory"
"""The memory of the GPUs of a container: an amount, or a share of all that they have."""
_OF_DEVICES = UsageShape(value="90%")
_OF_FRAMEBUFFER = UsageShape(value="80%")
"""The default usage of devices, for containers that have some."""


def usual_usage(resource: str) -> UsageShape | None:
    """Return what is used where nothing is said, None of resources that are rarely measured."""
    return _USUAL.get(resource)


def annotated_usage(annotations: Mapping[str, str], resource: str) -> UsageShape | None:
    """Return what an annotation says; raise ValueError if that is no usage."""
    given = annotations.get(PREFIX + resource.replace("/", "-"))
    return None if given is None else _read_annotation(given)


@lru_cache(maxsize=4096)
def _read_annotation(text: str) -> UsageShape:
    if "{" not in text:
        return UsageShape(value=text)
    try:
        return msgspec.convert(yaml.load(text), UsageShape)
    except (ConfigError, msgspec.ValidationError) as e:
        raise ValueError(f"'{text}' is not a usage: {e}") from e


USAGES = DocumentPair(
    kind="ResourceUsage",
    cluster_kind="ClusterResourceUsage",
    entries="usages",
    entry=UsageEntry,
    names=lambda entry: entry.containers,
)


def read_usages(documents: Iterable[Document]) -> Lookup[UsageEntry]:
    """Read the documents of kind ResourceUsage and ClusterResourceUsage.

    Raises ConfigError that names file and field of what is wrong.
    """
    return read_lookup(USAGES, documents)


class UsageRules:
    """Finds out how much a container uses."""

    def __init__(self, documents: Lookup[UsageEntry], language: UsageLanguage) -> None:
        self._documents = documents
        self._language = language

    def of_container(
        self,
        container: ContainerView,
        resource: str,
        pod: PodView,
        objects: Callable[[], tuple[MeasuredObject, MeasuredObject]],
    ) -> Curve:
        """Return the use of a container; `objects` gives its node and its pod, for expressions."""
        shape = self._shape(container, resource, pod)
        if shape is None:
            return NO_USE
        held = held_devices(pod, container.name, resource)
        most = held if held and resource != FRAMEBUFFER else inf

        def expressed(source: str) -> Curve:
            values = (*objects(), container_object(container))
            return expression_curve(self._language, source, container.started_at, values, most=most)

        return shape.curve(
            UsageSubject(
                request=held or _quantity(container.requests, resource),
                most=most,
                started=container.started_at,
                number=_number(pod.namespace, pod.name, container.name, resource),
                expressed=expressed,
            )
        )

    def of_node(self, node: NodeView, resource: str) -> Curve:
        """Return what a node uses besides its pods."""
        shape = self._annotated(node, resource) or usual_usage(resource)
        if shape is None:
            return NO_USE
        whole = UsageSubject(
            request=_quantity(node.capacity, resource),
            started=node.created,
            number=_number(node.name),
            expressed=lambda _: NO_USE,
        )
        return shape.curve(whole)

    def _shape(self, container: ContainerView, resource: str, pod: PodView) -> UsageShape | None:
        entry = self._documents.find(pod, container.name)
        found = entry.by_resource.get(resource) if entry is not None else None
        if container.is_beside:
            # What is said of a pod is meant for its own containers: with a sidecar it would be doubled.
            return found if entry is not None and container.name in entry.containers else None
        usual = usual_usage(resource) or _usual_of_devices(pod, container.name, resource)
        return found or self._annotated(pod, resource) or usual

    def _annotated(self, of: NodeView | PodView, resource: str) -> UsageShape | None:
        try:
            return annotated_usage(of.annotations, resource)
        except ValueError as e:
            self._language.complain(f"'{of.name}': {e}")
            return None


def held_devices(pod: PodView, container: str, resource: str) -> float:
    """Return how many devices of a resource a container has; 1 for their memory as a whole, if it has any."""
    own = [each.resource for each in pod.devices if each.container == container]
    return float(bool(own)) if resource == FRAMEBUFFER else float(own.count(resource))


def _usual_of_devices(pod: PodView, container: str, resource: str) -> UsageShape | None:
    if not held_devices(pod, container, resource):
        return None
    return _OF_FRAMEBUFFER if resource == FRAMEBUFFER else _OF_DEVICES


def _quantity(amounts: Mapping[str, str], resource: str) -> float:
    try:
        return float(parse_quantity(amounts.get(resource, "0")))
    except CelValueError:
        return 0.0


def _number(*names: str) -> int:
    return crc32("/".join(names).encode())
