"""A cluster of nodes and pods in memory: what `scale` reads, and what it writes through."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kwokctl.clusters.scaling.cluster_reader import Change, Existing, OwnerOf
from kwokctl.clusters.scaling.ready_objects import Judge, Verdict, judge_of
from kwokctl.clusters.scaling.scale_request import LABEL
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import ObjectKey, Patch, Renewal, Renewed
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.kube.resource import KNOWN, NODES, PODS, Resource
from kwokctl.replacing import replace
from tests.support.through_api import ThroughApi

Json = dict[str, Any]


def refused(status: int, reason: str, message: str) -> ApiError:
    return ApiError(message, status=status, reason=reason)


@dataclass
class MemoryCluster(ThroughApi):
    """Keeps objects by kind, namespace and name; counts seconds as objects come."""

    objects: dict[tuple[str, str | None, str], Json] = field(default_factory=dict)
    namespaces: set[str] = field(default_factory=lambda: {"default"})
    writes: list[tuple[str, str]] = field(default_factory=list)
    """What was written, as verb and name."""
    grace: list[int | None] = field(default_factory=list)
    """Grace periods of the deletions."""
    before_create: Callable[[Json], None] = lambda body: None
    """May raise what the cluster answers."""
    on_create: Callable[[Json], None] = lambda body: None
    """May change an object as it is stored, as admission does."""
    under_way: int = 0
    most_under_way: int = 0
    _watchers: list[asyncio.Queue[tuple[bool, Json]]] = field(default_factory=list)
    _clock: int = 0

    def put(self, kind: str, name: str, *, namespace: str | None = None, **metadata: Any) -> Json:
        """Add an object."""
        body: Json = {"kind": kind, "metadata": {"name": name, **metadata}}
        self._store(kind, namespace, body)
        return body

    def names(self, kind: str) -> list[str]:
        return sorted(name for each, _, name in self.objects if each == kind)

    def change(self, body: Json) -> None:
        """Tell watchers that an object is now as it is."""
        for watcher in self._watchers:
            watcher.put_nowait((True, body))

    async def resolve(self, api_version: str, kind: str) -> Resource:
        for resource in KNOWN:
            if (resource.api_version, resource.kind) == (api_version, kind):
                return resource
        raise NotFoundError(f"the cluster does not serve '{kind}' of '{api_version}'")

    async def select(
        self,
        resource: Resource,
        namespace: str | None,
        selector: str,
        *,
        cached: bool = False,
    ) -> AsyncIterator[Existing]:
        for body in self._selected(resource, namespace, selector):
            where = body["metadata"].get("namespace", namespace)
            yield replace(self._known(body), namespace=where or "")

    async def pod_limits(self, selector: str) -> AsyncIterator[tuple[str, int | None]]:
        for body in self._selected(NODES, None, selector):
            limit = body.get("status", {}).get("allocatable", {}).get("pods")
            yield body["metadata"]["name"], None if limit is None else int(limit)

    async def count_pods(self) -> int:
        return len(self.names("Pod"))

    async def pods_by_node(self) -> Mapping[str, int]:
        return Counter(
            body["spec"]["nodeName"]
            for (kind, _, _), body in self.objects.items()
            if kind == "Pod" and body.get("spec", {}).get("nodeName")
        )

    async def pods_on(self, node: str) -> AsyncIterator[Existing]:
        for (kind, namespace, _), body in list(self.objects.items()):
            if kind == "Pod" and body.get("spec", {}).get("nodeName") == node:
                yield replace(self._known(body), namespace=namespace or "")

    async def late_pods(self, namespace: str | None, selector: str) -> AsyncIterator[Verdict]:
        for body in self._selected(PODS, namespace, selector):
            verdict = judge_of("Pod")(json.dumps(body).encode())
            if verdict.lacks:
                yield verdict

    async def get(self, target: ObjectKey) -> Existing | None:
        body = self.objects.get((target.resource.kind, target.namespace, target.name))
        return None if body is None else self._known(body)

    async def watch(
        self, resource: Resource, namespace: str | None, selector: str, judge: Judge
    ) -> AsyncIterator[Sequence[Change]]:
        news: asyncio.Queue[tuple[bool, Json]] = asyncio.Queue()
        self._watchers.append(news)
        there = self._selected(resource, namespace, selector)
        yield [Change(True, judge(json.dumps(body).encode())) for body in there]
        yield []
        while True:
            exists, body = await news.get()
            if _selects(selector, body):
                yield [Change(exists, judge(json.dumps(body).encode()))]

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, as_user: str = ""
    ) -> bytes:
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(0)
            return self._create(resource, namespace, json.loads(body))
        finally:
            self.under_way -= 1

    async def delete(
        self,
        target: ObjectKey,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
        current: Any = None,
    ) -> None:
        await asyncio.sleep(0)
        key = (target.resource.kind, target.namespace, target.name)
        body = self.objects.get(key)
        self.writes.append(("delete", target.name))
        self.grace.append(grace_seconds)
        if body is None:
            raise refused(404, "NotFound", f"'{target.name}' not found")
        if uid is not None and body["metadata"]["uid"] != uid:
            raise refused(409, "Conflict", "the UID in the precondition does not match")
        if body["metadata"].get("finalizers"):
            body["metadata"]["deletionTimestamp"] = self._now()
            self.change(body)
            return
        self.remove(*key)

    def remove(self, kind: str, namespace: str | None, name: str) -> None:
        body = self.objects.pop((kind, namespace, name))
        for watcher in self._watchers:
            watcher.put_nowait((False, body))

    async def patch(self, target: ObjectKey, patch: Patch, *, current: Any = None) -> Any:
        raise AssertionError("scaling patches nothing")

    async def record(self, event: ObjectEvent) -> None:
        raise AssertionError("scaling creates no events")

    async def renew(self, renewals: Sequence[Renewal]) -> Sequence[Renewed]:
        raise AssertionError("scaling renews nothing")

    def _create(self, resource: Resource, namespace: str | None, body: Json) -> bytes:
        name = body["metadata"]["name"]
        self.before_create(body)
        if namespace is not None and namespace not in self.namespaces:
            raise refused(404, "NotFound", f'namespaces "{namespace}" not found')
        if (resource.kind, namespace, name) in self.objects:
            raise refused(409, "AlreadyExists", f'{resource.plural} "{name}" already exists')
        self.writes.append(("create", name))
        self.on_create(body)
        self._store(resource.kind, namespace, body)
        return json.dumps(body).encode()

    def _store(self, kind: str, namespace: str | None, body: Json) -> None:
        metadata = body["metadata"]
        metadata.setdefault("uid", f"uid-{self._clock}")
        metadata.setdefault("creationTimestamp", self._now())
        self.objects[kind, namespace, metadata["name"]] = body
        self.change(body)

    def _now(self) -> str:
        self._clock += 1
        return f"2026-01-01T{self._clock // 3600:02d}:{self._clock // 60 % 60:02d}:{self._clock % 60:02d}Z"

    def _selected(self, resource: Resource, namespace: str | None, selector: str) -> list[Json]:
        return [
            body
            for (kind, where, _), body in self.objects.items()
            if kind == resource.kind and namespace in {None, where} and _selects(selector, body)
        ]

    @staticmethod
    def _known(body: Json) -> Existing:
        metadata = body["metadata"]
        owners = metadata.get("ownerReferences") or [None]
        return Existing(
            name=metadata["name"],
            owner=owners[0] and OwnerOf(owners[0]["kind"], owners[0]["uid"]),
            uid=metadata["uid"],
            created=metadata["creationTimestamp"],
            set_name=metadata.get("labels", {}).get(LABEL),
            is_going="deletionTimestamp" in metadata,
            version=metadata.get("resourceVersion", ""),
            is_held=bool(metadata.get("finalizers")),
        )


def _selects(selector: str, body: Json) -> bool:
    labels = body["metadata"].get("labels", {})
    return all(_holds(part, labels) for part in selector.split(","))


def _holds(part: str, labels: Json) -> bool:
    key, _, value = part.partition("=")
    return bool((labels.get(key.rstrip("!")) == value) is not key.endswith("!"))
