"""A small API server in memory: discovery, paged lists, and single objects with their status."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import Reply, Request, serving

Object = dict[str, Any]
CORE: Mapping[str, tuple[str, bool]] = {
    "namespaces": ("Namespace", False),
    "nodes": ("Node", False),
    "secrets": ("Secret", True),
    "configmaps": ("ConfigMap", True),
    "serviceaccounts": ("ServiceAccount", True),
    "services": ("Service", True),
    "pods": ("Pod", True),
}
GROUPS: Mapping[str, Mapping[str, tuple[str, bool]]] = {
    "v1": CORE,
    "apps/v1": {"replicasets": ("ReplicaSet", True)},
    "apiextensions.k8s.io/v1": {"customresourcedefinitions": ("CustomResourceDefinition", False)},
    "example.com/v1": {"widgets": ("Widget", True)},
    "example.com/v1beta1": {"widgets": ("Widget", True)},
}
_WITH_STATUS = ("pods", "nodes", "namespaces", "services", "replicasets")


@dataclass
class ObjectServer:
    """Keeps objects by the path of their collection within their namespace, and their names."""

    objects: dict[tuple[str, str], Object] = field(default_factory=dict)
    namespaces: set[str] = field(default_factory=lambda: {"default"})
    refused: dict[str, tuple[int, str, str]] = field(default_factory=dict)
    """Names of objects that cannot be created: status, reason, message."""
    expired: set[str] = field(default_factory=set)
    """Tokens of pages that are answered with 410 once."""
    refuse_address: bool = False
    """Whether services cannot choose their addresses."""
    broken: set[str] = field(default_factory=set)
    """Tokens of pages that are refused."""
    requests: list[Request] = field(default_factory=list)
    _numbers: Any = field(default_factory=lambda: count(1))

    def put(self, path: str, name: str, **more: Any) -> Object:
        """Add an object."""
        metadata = {"name": name, "resourceVersion": "9", **more.pop("metadata", {})}
        metadata.setdefault("uid", f"old-{name}")
        if "/namespaces/" in path:
            metadata["namespace"] = path.split("/")[-2]
        self.objects[path, name] = value = {"metadata": metadata, **more}
        return value

    def get(self, path: str, name: str) -> Object:
        return self.objects[path, name]

    async def handle(self, request: Request, reply: Reply) -> None:
        self.requests.append(request)
        path = request.path
        if path == "/apis":
            await reply.json({"groups": _groups()})
        elif (found := path.removeprefix("/apis/").removeprefix("/api/")) in GROUPS:
            await reply.json({"resources": _resources(found)})
        elif request.method == "POST":
            await self._create(request, reply)
        elif request.method == "PUT":
            await self._replace(request, reply)
        elif request.method in ("PATCH", "DELETE"):
            await self._patch_or_delete(request, reply)
        elif path.rpartition("/")[2] in _plurals():
            await self._list(request, reply)
        else:
            await self._get(request, reply)

    async def _list(self, request: Request, reply: Reply) -> None:
        token = request.query.get("continue", "")
        if token in self.expired:
            self.expired.discard(token)
            await reply.refuse(410, "Expired", "the continue token is too old")
            return
        if token in self.broken:
            await reply.refuse(400, "BadRequest", "boom")
            return
        plural = request.path.rpartition("/")[2]
        root = request.path.removesuffix(plural)
        found = [
            value
            for (path, _), value in self.objects.items()
            if path.startswith(root) and path.endswith(f"/{plural}")
        ]
        size, start = int(request.query.get("limit", "0")) or len(found), int(token or 0)
        page = found[start : start + size]
        more = str(start + size) if start + size < len(found) else ""
        await reply.json({"metadata": {"resourceVersion": "9", "continue": more}, "items": page})

    async def _get(self, request: Request, reply: Reply) -> None:
        path, _, name = request.path.rpartition("/")
        if (value := self.objects.get((path, name))) is None:
            await reply.refuse(404, "NotFound", f'"{name}" not found')
        else:
            await reply.json(value)

    async def _patch_or_delete(self, request: Request, reply: Reply) -> None:
        """Take note of a patch, or delete."""
        path, _, name = request.path.removesuffix("/status").rpartition("/")
        if (path, name) not in self.objects:
            await reply.refuse(404, "NotFound", f'"{name}" not found')
            return
        if request.method == "DELETE":
            del self.objects[path, name]
        await reply.json({})

    async def _create(self, request: Request, reply: Reply) -> None:
        body: Object = json.loads(request.body)
        name = body["metadata"]["name"]
        if body["kind"] == "Binding":
            await reply.json({}, status=201)
            return
        namespace = request.path.split("/")[-2] if "/namespaces/" in request.path else ""
        if namespace and namespace not in self.namespaces:
            await reply.refuse(404, "NotFound", f'namespaces "{namespace}" not found')
        elif (request.path, name) in self.objects:
            await reply.refuse(409, "AlreadyExists", f'"{name}" already exists')
        elif self.refuse_address and body.get("spec", {}).get("clusterIP"):
            await reply.refuse(422, "Invalid", "spec.clusterIPs: not in the valid range")
        elif refusal := self.refused.get(name):
            await reply.refuse(*refusal)
        else:
            if body["kind"] == "Namespace":
                self.namespaces.add(name)
            body["metadata"] |= {"uid": f"new-{name}", "resourceVersion": str(next(self._numbers))}
            if request.path.rpartition("/")[2] in _WITH_STATUS:
                body.pop("status", None)
            self.objects[request.path, name] = body
            await reply.json(body, status=201)

    async def _replace(self, request: Request, reply: Reply) -> None:
        path, _, name = request.path.removesuffix("/status").rpartition("/")
        existing, body = self.objects[path, name], json.loads(request.body)
        if body["metadata"].get("resourceVersion") != existing["metadata"]["resourceVersion"]:
            await reply.refuse(409, "Conflict", "the object has been modified")
            return
        parts = ["status"] if request.path.endswith("/status") else list(body)
        new = existing | {part: body[part] for part in parts}
        new["metadata"] = {**new["metadata"], "resourceVersion": str(next(self._numbers))}
        self.objects[path, name] = new
        await reply.json(new)


@asynccontextmanager
async def object_server() -> AsyncIterator[tuple[ObjectServer, Client]]:
    """Run a server, and connect to it."""
    server = ObjectServer()
    async with serving(server.handle) as at, Pool(Access(server=at.url)) as pool:
        yield server, Client(pool)


def _groups() -> list[Object]:
    found: dict[str, list[Object]] = {}
    for version in GROUPS:
        group, _, _ = version.rpartition("/")
        if group:
            found.setdefault(group, []).append({"groupVersion": version})
    return [
        {"name": group, "versions": versions, "preferredVersion": versions[0]}
        for group, versions in found.items()
    ]


def _resources(version: str) -> list[Object]:
    entries: list[Object] = []
    for plural, (kind, namespaced) in GROUPS[version].items():
        entries.append(
            {
                "name": plural,
                "kind": kind,
                "namespaced": namespaced,
                "singularName": kind.lower(),
                "shortNames": [plural[:2]],
                "verbs": ["create", "get", "list", "update"],
            }
        )
        if plural in _WITH_STATUS:
            entries.append({"name": f"{plural}/status", "kind": kind, "namespaced": namespaced})
    return entries


def _plurals() -> set[str]:
    return {plural for kinds in GROUPS.values() for plural in kinds}
