"""Changes objects of a cluster in each way that a rewind undoes: thirds are created, patched and deleted.

A tenth of them are pods, the others ConfigMaps.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec

from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.resource import CONFIG_MAPS, PODS, Resource
from kwokctl.tasks import for_each

_AT_ONCE = 32
_PODS = 10
"""One object of so many is a pod."""
_NAMESPACE = "default"
_AT_ONCE_GONE = msgspec.json.encode({"gracePeriodSeconds": 0})
_NODE = "node-000000"
_PATCH = msgspec.json.encode({"metadata": {"labels": {"changed": "yes"}}})


@dataclass(frozen=True, slots=True)
class Changes:
    """So many changes; two thirds of them are to objects that must be there before."""

    client: Client
    count: int

    async def prepare(self) -> None:
        """Create what is patched and deleted later, unless fewer changes have needed it already."""
        await self._each(self._have, [*self._names("patched"), *self._names("deleted")])

    async def make(self) -> None:
        """Change everything."""
        await self._each(self._create, self._names("created"))
        await self._each(self._patch, self._names("patched"))
        await self._each(self._delete, self._names("deleted"))

    def _names(self, change: str) -> Sequence[str]:
        third, more = divmod(self.count, 3)
        return [f"{change}-{n}" for n in range(third + (more if change == "created" else 0))]

    async def _each(self, do: Callable[[str], Awaitable[None]], names: Sequence[str]) -> None:
        await for_each(names, do, at_once=_AT_ONCE)

    async def _have(self, name: str) -> None:
        try:
            await self._create(name)
        except ApiError as e:
            if e.reason != "AlreadyExists":
                raise

    async def _create(self, name: str) -> None:
        resource = _resource(name)
        body = _pod(name) if resource is PODS else _config_map(name)
        await self.client.create(resource, _NAMESPACE, msgspec.json.encode(body))

    async def _patch(self, name: str) -> None:
        await self._call("PATCH", name, _PATCH, content_type=PatchType.MERGE)

    async def _delete(self, name: str) -> None:
        await self._call("DELETE", name, _AT_ONCE_GONE)

    async def _call(self, method: str, name: str, body: bytes, **more: str) -> None:
        path = _resource(name).path(_NAMESPACE, name)
        await self.client.call(method, path, body, **more)


def _resource(name: str) -> Resource:
    number = int(name.rpartition("-")[2])
    return CONFIG_MAPS if number % _PODS else PODS


def _config_map(name: str) -> Json:
    head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return {**head, "data": {"text": "x" * 500}}


def _pod(name: str) -> Json:
    head = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}
    spec = {"nodeName": _NODE, "containers": [{"name": "main", "image": "main"}]}
    return {**head, "spec": spec}
