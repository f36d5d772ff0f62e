"""Those who write to the raced objects through the API: users, controllers, the scheduler."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import LEASES, PODS
from tests.support.client_writes import delete, patch, replace
from tests.support.direct import encoded
from tests.support.racing.ground import REFUSALS, Ground, has_ended

Write = Callable[[Json, str], Awaitable[None]]

_ENDS = 0.06
"""Share of the writes that are about an object's end."""
_FINALIZER = "example.com/held"


class Other:
    """Writes now this, now that."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._client = ground.client
        self._writes: Sequence[Write] = (self._label, self._label, self._annotate, self._apply)
        if ground.resource != LEASES:
            self._writes = (
                *self._writes, self._condition, self._condition, self._put_status, self._spec,
            )  # fmt: skip
        self._ends: Sequence[Write] = (self._delete, self._delete_later, self._hold, self._hold)
        if ground.resource == PODS:
            self._ends = (*self._ends, self._evict)

    async def turn(self) -> None:
        """Write to an object, or make it if there is none."""
        ground = self._ground
        name, random = ground.name(), ground.random
        write = random.choice(self._ends if random.random() < _ENDS else self._writes)
        try:
            body = await self._client.find(ground.resource, ground.namespace, name)
            if body is None:
                made = encoded(ground.bodies[name])
                await self._client.create(ground.resource, ground.namespace, made)
            else:
                await write(body, ground.text())
        except ApiError as e:
            if e.status not in REFUSALS:
                raise

    async def _label(self, body: Json, text: str) -> None:
        change = {"metadata": {"labels": {"label": text}}}
        await self._patch(body, change, PatchType.MERGE, ".metadata.labels.label", text)

    async def _apply(self, body: Json, text: str) -> None:
        """Apply on the server's side; the uid keeps it from creating the object again."""
        resource, metadata = self._ground.resource, body["metadata"]
        identity = {"name": metadata["name"], "uid": metadata["uid"]}
        change = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {**identity, "labels": {"applied": text}},
        }
        await self._patch(body, change, PatchType.APPLY, ".metadata.labels.applied", text)

    async def _condition(self, body: Json, text: str) -> None:
        theirs = {"type": "Theirs", "status": "False", "reason": text}
        change = {"status": {"conditions": [theirs]}}
        where = ".status.conditions[Theirs].reason"
        await self._patch(body, change, PatchType.STRATEGIC, where, text, subresource="status")

    async def _annotate(self, body: Json, text: str) -> None:
        body["metadata"].setdefault("annotations", {})["noted"] = text
        await self._put(body, ".metadata.annotations.noted", text)

    async def _put_status(self, body: Json, text: str) -> None:
        conditions = body["status"].setdefault("conditions", [])
        conditions[:] = [each for each in conditions if each["type"] != "Put"]
        conditions.append({"type": "Put", "status": "Unknown", "reason": text})
        await self._put(body, ".status.conditions[Put].reason", text, subresource="status")

    async def _spec(self, body: Json, text: str) -> None:
        if self._ground.resource == PODS:
            body["spec"]["containers"][0]["image"] = text
            await self._put(body, ".spec.containers[c].image", text)
            return
        taints = [each for each in body["spec"].get("taints", ()) if each["key"] != "t"]
        taint = {"key": "t", "value": text, "effect": "NoSchedule"}
        body["spec"]["taints"] = [*taints, taint]
        await self._put(body, ".spec.taints[t].value", text)

    async def _hold(self, body: Json, text: str) -> None:
        """Give an object a finalizer, or take it away."""
        metadata = body["metadata"]
        if "finalizers" in metadata:
            del metadata["finalizers"]
        elif "deletionTimestamp" not in metadata:
            metadata["finalizers"] = [_FINALIZER]
        await self._replace(body)

    async def _delete(self, body: Json, text: str) -> None:
        await self._end(body, grace_seconds=0)
        self._ground.ledger.ended(body["metadata"]["uid"])

    async def _delete_later(self, body: Json, text: str) -> None:
        await self._end(body, grace_seconds=None)

    async def _evict(self, body: Json, text: str) -> None:
        ground, name, uid = self._ground, body["metadata"]["name"], body["metadata"]["uid"]
        ground.ledger.ending(uid)
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name},
            "deleteOptions": {"preconditions": {"uid": uid}},
        }
        path = ground.resource.path(ground.namespace, name, "eviction")
        await self._client.call("POST", path, encoded(eviction))

    async def _end(self, body: Json, *, grace_seconds: int | None) -> None:
        ground, name, uid = self._ground, body["metadata"]["name"], body["metadata"]["uid"]
        ground.ledger.ending(uid)
        await delete(
            self._client,
            ground.resource,
            ground.namespace,
            name,
            grace_seconds=grace_seconds,
            uid=uid,
        )

    async def _patch(
        self,
        body: Json,
        change: Json,
        kind: PatchType,
        where: str,
        text: str,
        subresource: str = "",
    ) -> None:
        ground = self._ground
        answer = await patch(
            self._client, ground.resource, ground.namespace, body["metadata"]["name"], encoded(change), kind,
            subresource=subresource, force=kind is PatchType.APPLY,
        )  # fmt: skip
        self._said(answer, where, text)

    async def _put(self, body: Json, where: str, text: str, subresource: str = "") -> None:
        self._said(await self._replace(body, subresource), where, text)

    async def _replace(self, body: Json, subresource: str = "") -> bytes:
        ground, name = self._ground, body["metadata"]["name"]
        return await replace(
            self._client,
            ground.resource,
            ground.namespace,
            name,
            encoded(body),
            subresource=subresource,
        )

    def _said(self, answer: bytes, where: str, text: str) -> None:
        body = msgspec.json.decode(answer)
        if not has_ended(body):
            self._ground.ledger.wrote(body, where, text)
