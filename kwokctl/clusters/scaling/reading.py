"""How scaling looks at a cluster; what it writes goes through the data plane."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kwokctl.clusters.scaling.readiness import Judge, Verdict
from kwokctl.clusters.scaling.request import LABEL
from kwokctl.dataplane.port import Target
from kwokctl.kube.resource import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of an object that exists: its metadata, as far as it matters here."""

    name: str
    namespace: str = ""
    uid: str
    created: str
    """creationTimestamp, RFC 3339 in UTC: sorts by age."""
    set_name: str | None
    """The set that it belongs to, None if it was not made by scaling."""
    is_going: bool
    """Whether it is being deleted."""
    version: str = ""
    """Its resourceVersion."""
    is_held: bool = False
    """Whether finalizers hold it back when it is deleted."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a watch tells of one object."""

    exists: bool
    verdict: Verdict
    """Of an object that exists no longer only the name is sure."""


class Reader(Protocol):
    """Reads a cluster. Every method raises ApiError when the cluster refuses."""

    async def resolve(self, api_version: str, kind: str) -> Resource:
        """Find the resource that serves a kind; NotFoundError if there is none."""
        ...

    def select(
        self, resource: Resource, namespace: str | None, selector: str
    ) -> AsyncIterator[Known]:
        """Yield the objects that a label selector selects, without reading more of them."""
        ...

    def pod_limits(self, selector: str) -> AsyncIterator[tuple[str, int | None]]:
        """Yield the selected nodes and how many pods each may have, None where it does not say."""
        ...

    async def count_pods(self) -> int:
        """Return how many pods there are in all namespaces."""
        ...

    async def pods_by_node(self) -> Mapping[str, int]:
        """Return how many pods that have not ended lie on each node."""
        ...

    def pods_on(self, node: str) -> AsyncIterator[Known]:
        """Yield the pods of all namespaces that lie on a node."""
        ...

    def late_pods(self, namespace: str | None, selector: str) -> AsyncIterator[Verdict]:
        """Yield the selected pods that neither run nor have succeeded, and what each lacks."""
        ...

    async def get(self, target: Target) -> Known | None:
        """Return one object, None if it does not exist."""
        ...

    def watch(
        self, resource: Resource, namespace: str | None, selector: str, judge: Judge
    ) -> AsyncIterator[Sequence[Change]]:
        """Yield every selected object as it is, an empty batch, then whatever changes, for ever."""
        ...


def members_of(set_name: str) -> str:
    """Return the label selector for the members of a set."""
    return f"{LABEL}={set_name}"


def others_than(set_name: str) -> str:
    """Return the label selector for everything that is not a member of a set."""
    return f"{LABEL}!={set_name}"
