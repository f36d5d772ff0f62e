"""Serves a cluster in memory over HTTP, as far as the controller asks for it."""

import asyncio
from typing import Any

import orjson

from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import ApiError
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import KNOWN, Resource
from tests.support.fake_api_server import Reply, Request
from tests.support.fake_cluster import FakeCluster


class ClusterServer:
    """The handler for `fake_api_server.serving`."""

    def __init__(self, cluster: FakeCluster, *more: Resource) -> None:
        self.cluster = cluster
        self.served = [*KNOWN, *more]
        """The kinds that it serves; those beside the usual ones are found by discovery."""
        self.is_away = False
        """While set, every request is cut off."""
        self._watches: list[tuple[Resource, asyncio.Queue[tuple[str, bytes]]]] = []

    def stop_serving(self, resource: Resource) -> None:
        """Serve a kind no longer; its watches end."""
        self.served.remove(resource)
        for watched, events in self._watches:
            if watched == resource:
                events.put_nowait(("", b""))

    async def __call__(self, request: Request, reply: Reply) -> None:
        if self.is_away:
            reply.cut()
            return
        try:
            await self._answer(request, reply)
        except ApiError as e:
            await reply.refuse(e.status, e.reason, str(e))

    async def _answer(self, request: Request, reply: Reply) -> None:
        target, subresource = self._target(request.path)
        if request.method == "GET" and (kinds := self._kinds(request.path)):
            await reply.json({"resources": kinds})
        elif target is None:
            await reply.refuse(404, "NotFound", f"no {request.path}")
        elif request.query.get("watch"):
            await self._watch(target.resource, request, reply)
        elif request.method == "GET" and not target.name:
            await reply.json(self._list(target.resource, request))
        else:
            answer = await self._single(request, target, subresource)
            await reply.send(answer)

    async def _single(self, request: Request, target: ObjectKey, subresource: str) -> bytes:
        cluster = self.cluster
        match request.method:
            case "POST":
                return await cluster.create(target.resource, target.namespace, request.body)
            case "PATCH":
                patch_type = PatchType(request.headers["content-type"])
                patch = Patch(
                    document=orjson.loads(request.body), type=patch_type, subresource=subresource
                )
                return orjson.dumps(await cluster.patch(target, patch))
            case "PUT":
                return await cluster.replace(target, request.body)
            case "DELETE":
                await cluster.delete(target)
                return b"{}"
            case _:
                return await cluster.get(target)

    def _list(self, resource: Resource, request: Request) -> dict[str, Any]:
        return {
            "metadata": {"resourceVersion": str(self.cluster.version)},
            "items": [
                body
                for (plural, _, _), body in self.cluster.objects.items()
                if plural == resource.plural and _selects(request, body)
            ],
        }

    async def _watch(self, resource: Resource, request: Request, reply: Reply) -> None:
        events: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        for change, raw in self.cluster.since(resource, int(request.query["resourceVersion"])):
            events.put_nowait((change, raw))
        self.cluster.watch(resource, lambda change, raw: events.put_nowait((change, raw)))
        self._watches.append((resource, events))
        await reply.begin()
        while not self.is_away and resource in self.served:
            change, raw = await events.get()
            if not change:
                break
            if _selects(request, orjson.loads(raw)):
                await reply.chunk(b'{"type":"%b","object":%b}\n' % (change.encode(), raw))
        reply.cut()

    def _kinds(self, path: str) -> list[dict[str, Any]]:
        """Return what a version of the API serves beside the usual kinds."""
        return [
            {"name": each.plural, "kind": each.kind, "namespaced": each.namespaced}
            for each in self.served[len(KNOWN) :]
            if path == f"/apis/{each.api_version}"
        ]

    def _target(self, path: str) -> tuple[ObjectKey | None, str]:
        for resource in self.served:
            root = resource.path().removesuffix(resource.plural)
            if not path.startswith(root):
                continue
            words = path.removeprefix(root).split("/")
            namespace = None
            if words[0] == "namespaces" and len(words) > 2:
                namespace, words = words[1], words[2:]
            if words[0] == resource.plural:
                name, subresource = (*words[1:], "", "")[:2]
                return ObjectKey(resource, namespace, name), subresource
        return None, ""


def _selects(request: Request, body: dict[str, Any]) -> bool:
    if not _has_label(request.query.get("labelSelector", ""), body):
        return False
    selector = request.query.get("fieldSelector", "")
    return not selector.startswith("spec.nodeName!=") or bool(body["spec"].get("nodeName"))


def _has_label(selector: str, body: dict[str, Any]) -> bool:
    """Return whether `key`, `key=value` or `key!=value` selects an object; nothing selects all."""
    key, equals, value = selector.partition("=")
    labels = body["metadata"].get("labels") or {}
    if not equals:
        return not key or key in labels
    is_equal = bool(labels.get(key.removesuffix("!")) == value)
    return is_equal is not key.endswith("!")
