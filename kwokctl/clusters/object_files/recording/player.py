"""Sends the changes of a recording to an API server, those of each object in their order.

The player for an etcd is `clusters.direct_etcd.replaying`. When a change is due, `replay_clock` says.
"""

import asyncio
from collections.abc import Sequence
from http import HTTPStatus

import msgspec
import orjson

from kwokctl.clusters.object_files.reading import FileObject, Owner
from kwokctl.clusters.object_files.recording.actions import Method, ReplayAction
from kwokctl.clusters.object_files.recording.replay_clock import ReplayClock, play_in_time
from kwokctl.clusters.object_files.restoring.checking import RestoreItem
from kwokctl.clusters.object_files.restoring.loading import LoadCounts, ObjectLoader
from kwokctl.clusters.object_files.restoring.sent_objects import NOT_SENT, NewUids
from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import FIELD_MANAGER, Client, PatchType
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.request_encoder import JSON
from kwokctl.progress import Step
from kwokctl.retry import may_pass

_TRIES, _PAUSE = 8, 0.05
"""The most lookups of an owner, and the seconds that are added to each pause."""
_QUERY = f"?fieldManager={FIELD_MANAGER}&fieldValidation=Ignore"


class ReplayCounts(msgspec.Struct, kw_only=True):
    """The number of changes that were made, and of those that failed."""

    done: int = 0
    failed: list[str] = msgspec.field(default_factory=list)


class RecordingPlayer:
    """Plays changes to one cluster."""

    def __init__(self, client: Client, uids: NewUids, clock: ReplayClock, step: Step) -> None:
        """Write by `client`; `uids` knows the objects of the beginning, `step` counts."""
        self.counts = ReplayCounts()
        self._client = client
        self._uids = uids
        self._clock = clock
        self._step = step

    async def play(self, actions: Sequence[ReplayAction]) -> None:
        """Make each change when its time has come, after the change before it of the same object."""
        await play_in_time(actions, self._clock, self._try)

    async def _try(self, action: ReplayAction) -> None:
        try:
            await self._do(action)
            self.counts.done += 1
        except ApiError as e:
            if may_pass(e):
                raise
            self.counts.failed.append(f"line {action.line}, {action.label}: {e}")
        self._step.advance()

    async def _do(self, action: ReplayAction) -> None:
        match action.action.method:
            case Method.CREATE:
                await self._create(action)
            case Method.PATCH:
                await self._patch(action)
            case Method.DELETE:
                await self._delete(action)

    async def _create(self, action: ReplayAction) -> None:
        value = action.action.template or {}
        metadata = value.get("metadata") or {}
        owners = metadata.get("ownerReferences") or ()
        found = FileObject(
            line=action.line,
            api_version=action.kind.resource.api_version,
            kind=action.kind.resource.kind,
            name=action.action.target.name,
            namespace=action.action.target.namespace,
            uid=metadata.get("uid") or "",
            owners=tuple(_owner(each) for each in owners),
            body=orjson.dumps(value),
        )
        item = RestoreItem(object=found, kind=action.kind)
        counts = await self._loaded(item)
        for tries in range(_TRIES):
            if not counts.skipped:
                break
            # Its owner may be on its way.
            await asyncio.sleep(_PAUSE * tries)
            counts = await self._loaded(item)
        if faults := [*counts.failed, *counts.skipped]:
            raise ApiError("; ".join(faults), status=HTTPStatus.UNPROCESSABLE_ENTITY)

    async def _loaded(self, item: RestoreItem) -> LoadCounts:
        loader = ObjectLoader(self._client, self._uids, _NoStep())
        await loader.load([item])
        return loader.counts

    async def _patch(self, action: ReplayAction) -> None:
        patch: dict[str, Json] = orjson.loads(
            self._uids.followed(orjson.dumps(action.action.template))
        )
        status = patch.pop("status", None)
        node = _node_of(action, patch)
        _without_system(patch)
        if node:
            await self._bind(action, node)
        if patch:
            await self._send(action, action.path, patch)
        if status is not None:
            path = f"{action.path}/status" if action.kind.has_status else action.path
            await self._send(action, path, {"status": status})

    async def _send(self, action: ReplayAction, path: str, patch: Json) -> None:
        """Send a patch; kinds of definitions take only those without directives."""
        body = orjson.dumps(patch)
        try:
            await self._client.call("PATCH", path + _QUERY, body, content_type=PatchType.STRATEGIC)
        except ApiError as e:
            if e.status != HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
                raise
            await self._client.call("PATCH", path + _QUERY, body, content_type=PatchType.MERGE)

    async def _bind(self, action: ReplayAction, node: str) -> None:
        target = action.action.target
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": target.name, "namespace": target.namespace},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        body = orjson.dumps(binding)
        await self._client.call("POST", f"{action.path}/binding", body, content_type=JSON)

    async def _delete(self, action: ReplayAction) -> None:
        options = orjson.dumps({"gracePeriodSeconds": 0, "propagationPolicy": "Background"})
        try:
            await self._client.call("DELETE", action.path, options)
        except ApiError as e:
            if e.status != HTTPStatus.NOT_FOUND:
                raise


class _NoStep:
    """Counts nothing."""

    def say(self, what: str) -> None:
        """Say nothing."""

    def expect(self, total: int | None) -> None:
        """Expect nothing."""

    def advance(self, amount: int = 1) -> None:
        """Count nothing."""


def _owner(reference: Json) -> Owner:
    words = (str(reference.get(name, "")) for name in ("apiVersion", "kind", "name", "uid"))
    return Owner(*words)


def _node_of(action: ReplayAction, patch: dict[str, Json]) -> str:
    """Take the node out of a pod's patch: a pod is bound to it, by a request of its own."""
    spec = patch.get("spec")
    if action.kind.resource != PODS or not isinstance(spec, dict):
        return ""
    node = spec.pop("nodeName", None)
    if not spec:
        del patch["spec"]
    return str(node or "")


def _without_system(patch: dict[str, Json]) -> None:
    """Take out what the API server says itself."""
    metadata = patch.get("metadata")
    if not isinstance(metadata, dict):
        return
    for name in (*NOT_SENT, "managedFields"):
        metadata.pop(name, None)
    if not metadata:
        del patch["metadata"]
