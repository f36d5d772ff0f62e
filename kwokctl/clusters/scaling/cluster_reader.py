"""Reads a cluster for scaling: through its API, requesting as little of each object as needed.

Writes go through the data plane.
"""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Protocol

import msgspec

from kwokctl.clusters.scaling.ready_objects import Judge, Verdict, judge_of
from kwokctl.clusters.scaling.scale_request import LABEL
from kwokctl.config.quantity import to_bytes
from kwokctl.dataplane.port import ObjectKey
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, count, list_pages
from kwokctl.kube.collections.tables import columns
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.transport.refusals import refusal


class Existing(msgspec.Struct, frozen=True, kw_only=True):
    """An object that exists: its metadata, as far as scaling needs it."""

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
    owner: "OwnerOf | None" = None
    """The first object that owns it."""


class OwnerOf(msgspec.Struct, frozen=True):
    """A reference to the owner of an object."""

    kind: str
    uid: str


class Change(msgspec.Struct, frozen=True):
    """An event of a watch, about one object."""

    exists: bool
    verdict: Verdict
    """Of an object that exists no longer only the name is sure."""


class ClusterReader(Protocol):
    """Reads a cluster. Every method raises ApiError when the cluster refuses."""

    async def resolve(self, api_version: str, kind: str) -> Resource:
        """Find the resource that serves a kind; NotFoundError without one."""
        ...

    def select(
        self, resource: Resource, namespace: str | None, selector: str, *, cached: bool = False
    ) -> AsyncIterator[Existing]:
        """Yield the objects that a label selector selects, without reading more of them.

        What is `cached` by the API server may be a moment old, and comes without waiting until its
        cache has caught up with etcd: up to a tenth of a second.
        """
        ...

    def pod_limits(self, selector: str) -> AsyncIterator[tuple[str, int | None]]:
        """Yield the selected nodes and how many pods each may have, None if it states no limit."""
        ...

    async def count_pods(self) -> int:
        """Return how many pods there are in all namespaces."""
        ...

    async def pods_by_node(self) -> Mapping[str, int]:
        """Return how many pods that have not ended are on each node."""
        ...

    def pods_on(self, node: str) -> AsyncIterator[Existing]:
        """Yield the pods of all namespaces that are on a node."""
        ...

    def late_pods(self, namespace: str | None, selector: str) -> AsyncIterator[Verdict]:
        """Yield the selected pods that neither run nor have succeeded, and what each lacks."""
        ...

    async def get(self, target: ObjectKey) -> Existing | None:
        """Return one object, None if it does not exist."""
        ...

    def watch(
        self, resource: Resource, namespace: str | None, selector: str, judge: Judge
    ) -> AsyncIterator[Sequence[Change]]:
        """Yield every selected object as it is, an empty batch, then every change, without end."""
        ...


def members_of(set_name: str) -> str:
    """Return the label selector for the members of a set."""
    return f"{LABEL}={set_name}"


def others_than(set_name: str) -> str:
    """Return the label selector for everything that is not a member of a set."""
    return f"{LABEL}!={set_name}"


_METADATA = "application/json;as={};g=meta.k8s.io;v=v1"
"""Asks for an object without its spec and status."""


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    uid: str
    creation_timestamp: str
    namespace: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    finalizers: list[str] | None = None
    labels: dict[str, str] | None = None
    owner_references: list[OwnerOf] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata


class _Status(msgspec.Struct):
    allocatable: dict[str, str] = {}


class _Node(msgspec.Struct):
    metadata: _Metadata
    status: _Status = msgspec.field(default_factory=_Status)


_decode = msgspec.json.Decoder(_Object).decode
_decode_node = msgspec.json.Decoder(_Node).decode
_NODE_COLUMN = "Node"


class ClusterApiReader:
    """Reads a cluster with the connections of a client."""

    def __init__(self, client: Client) -> None:
        """Use the client, which the caller closes."""
        self._client = client

    async def resolve(self, api_version: str, kind: str) -> Resource:
        """Find the resource that serves a kind; NotFoundError without one."""
        return await self._client.resource_for(api_version, kind)

    async def select(
        self, resource: Resource, namespace: str | None, selector: str, *, cached: bool = False
    ) -> AsyncIterator[Existing]:
        """Yield the objects that a label selector selects, page by page."""
        version = "0" if cached else ""
        query = ListQuery(resource=resource, namespace=namespace, label_selector=selector)
        accept = _METADATA.format("PartialObjectMetadataList")
        pages = list_pages(self._client.pool, query, resource_version=version, accept=accept)
        async for page in pages:
            for raw in page.objects:
                yield _known(raw)

    async def pod_limits(self, selector: str) -> AsyncIterator[tuple[str, int | None]]:
        """Yield the selected nodes and how many pods each may have, None if it states no limit."""
        query = ListQuery(resource=NODES, label_selector=selector)
        async for page in list_pages(self._client.pool, query):
            for raw in page.objects:
                node = _decode_node(raw)
                limit = node.status.allocatable.get(PODS.plural)  # a quantity: 1,000 is `1k`
                yield node.metadata.name, None if limit is None else to_bytes(limit)

    async def count_pods(self) -> int:
        """Return how many pods there are in all namespaces, reading one of them."""
        return await count(self._client.pool, ListQuery(resource=PODS))

    async def pods_by_node(self) -> Mapping[str, int]:
        """Return how many pods that have not ended are on each node.

        A table of pods names their nodes, and is a tenth of the pods themselves.
        """
        query = ListQuery(
            resource=PODS,
            field_selector="spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed",
        )
        return Counter(node for (node,) in await columns(self._client.pool, query, _NODE_COLUMN))

    async def pods_on(self, node: str) -> AsyncIterator[Existing]:
        """Yield the pods of all namespaces that are on a node, as the server's cache has them.

        It keeps an index by node, so that this costs little however many pods there are.
        """
        query = ListQuery(resource=PODS, field_selector=f"spec.nodeName={node}")
        accept = _METADATA.format("PartialObjectMetadataList")
        pages = list_pages(self._client.pool, query, resource_version="0", accept=accept)
        async for page in pages:
            for raw in page.objects:
                yield _known(raw)

    async def late_pods(self, namespace: str | None, selector: str) -> AsyncIterator[Verdict]:
        """Yield the selected pods that neither run nor have succeeded; others are not sent."""
        query = ListQuery(
            resource=PODS,
            namespace=namespace,
            label_selector=selector,
            field_selector="status.phase!=Running,status.phase!=Succeeded",
        )
        judge = judge_of(PODS.kind)
        async for page in list_pages(self._client.pool, query):
            for raw in page.objects:
                yield judge(raw)

    async def get(self, target: ObjectKey) -> Existing | None:
        """Return one object, None if it does not exist."""
        response = await self._client.pool.request(
            "GET",
            target.resource.path(target.namespace, target.name),
            accept=_METADATA.format("PartialObjectMetadata"),
        )
        if response.status == 404:
            return None
        if response.status >= 400:
            raise refusal(response.status, response.body)
        return _known(response.body)

    async def watch(
        self, resource: Resource, namespace: str | None, selector: str, judge: Judge
    ) -> AsyncIterator[Sequence[Change]]:
        """Yield every selected object as it is, an empty batch, then every change, without end."""
        pool = self._client.pool
        events = watch(pool, resource, decoder=judge, namespace=namespace, label_selector=selector)
        async with aclosing(events):
            async for batch in events:
                changes = [
                    Change(event.type is not EventType.DELETED, event.object)
                    for event in batch
                    if event.object is not None
                ]
                if changes:
                    yield changes
                # What has vanished since a list that failed comes with the end of the next.
                if any(event.type is EventType.SYNCED for event in batch):
                    yield []


def _known(raw: bytes | msgspec.Raw) -> Existing:
    metadata = _decode(raw).metadata
    return Existing(
        name=metadata.name,
        namespace=metadata.namespace,
        uid=metadata.uid,
        created=metadata.creation_timestamp,
        set_name=(metadata.labels or {}).get(LABEL),
        is_going=metadata.deletion_timestamp is not None,
        version=metadata.resource_version,
        is_held=bool(metadata.finalizers),
        owner=next(iter(metadata.owner_references or ()), None),
    )
