"""Finds what documents say of a pod's container or port.

The rule is kwok's (https://kwok.sigs.k8s.io/docs/user/logs-configuration/): a document with the
pod's namespace and name counts alone, even if it says nothing of this container; without one the
first cluster-wide document that selects the pod and says something of the container. Within a
document an entry that names the container comes before one that names none.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from kwokctl.kubelet.fleet.views import PodView


class PodSelector(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Selects pods by namespace and by name; what is not given selects all."""

    match_namespaces: tuple[str, ...] = ()
    match_names: tuple[str, ...] = ()

    def matches(self, pod: PodView) -> bool:
        """Tell whether a pod is selected."""
        return _has(self.match_namespaces, pod.namespace) and _has(self.match_names, pod.name)


def _has(names: tuple[str, ...], name: str) -> bool:
    return not names or name in names


T = TypeVar("T")


class DocumentEntry(msgspec.Struct, Generic[T], frozen=True):
    """One entry of a document."""

    names: frozenset[Hashable]
    """The containers, or ports, that it is for; all if there is none."""
    value: T


class PodDocument(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A document for one pod."""

    namespace: str
    name: str
    entries: Sequence[DocumentEntry[T]]


class ClusterDocument(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A document for all pods that it selects."""

    name: str
    selector: PodSelector
    entries: Sequence[DocumentEntry[T]]


class Lookup(Generic[T]):
    """All documents of one subject, such as Logs and ClusterLogs."""

    def __init__(
        self,
        of_pods: Iterable[PodDocument[T]] = (),
        of_cluster: Iterable[ClusterDocument[T]] = (),
    ) -> None:
        """Look into these; of two documents for the same pod the later one counts."""
        self._of_pods: Mapping[tuple[str, str], PodDocument[T]] = {}
        self._of_cluster: Sequence[ClusterDocument[T]] = ()
        self._listeners: list[Callable[[], None]] = []
        self.put_of_pods(of_pods)
        self.put_of_cluster(of_cluster)

    def put_of_pods(self, documents: Iterable[PodDocument[T]]) -> None:
        """Look into these from now on, in place of the documents for single pods so far."""
        self._of_pods = {(each.namespace, each.name): each for each in documents}
        self._tell()

    def put_of_cluster(self, documents: Iterable[ClusterDocument[T]]) -> None:
        """Look into these from now on, in place of the cluster-wide documents so far."""
        self._of_cluster = tuple(documents)
        self._tell()

    def listen(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever there are other documents."""
        self._listeners.append(changed)

    def find(self, pod: PodView, name: Hashable) -> T | None:
        """Return what is said of a container or port, None if nothing is."""
        own = self._of_pods.get((pod.namespace, pod.name))
        if own is not None:
            return _entry(own.entries, name)
        found = (
            _entry(each.entries, name) for each in self._of_cluster if each.selector.matches(pod)
        )
        return next((entry for entry in found if entry is not None), None)

    def _tell(self) -> None:
        for changed in self._listeners:
            changed()


def _entry(entries: Sequence[DocumentEntry[T]], name: Hashable) -> T | None:
    """Return the first entry that names it, else the first one that names nothing."""
    named = (each.value for each in entries if name in each.names)
    unnamed = (each.value for each in entries if not each.names)
    return next(named, None) or next(unnamed, None)
