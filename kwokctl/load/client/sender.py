"""Sends the requests of one load, as the client of a user would."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import msgspec

from kwokctl.clusters.object_files.exporting.listing import RequestPace
from kwokctl.clusters.objects.kinds import KindFinder
from kwokctl.embedded.cluster_access import keep_credential
from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import USER_AGENT, Pool
from kwokctl.kube.transport.request_encoder import JSON
from kwokctl.load.arrival import Made
from kwokctl.load.description.bundles import RUN_LABEL
from kwokctl.load.description.schema import LoadSpec
from kwokctl.replacing import replace
from kwokctl.retry import may_pass
from kwokctl.tasks import beside

AGENT_OF_LOADS = f"{USER_AGENT} load"
"""The user agent of all loads."""
CONNECTIONS = 64
"""Requests under way at a time: more would only wait in the API server in place of here."""
_TIMEOUT = 60.0
"""Seconds for an answer: that is how long an API server works at one."""
_EXISTS = "AlreadyExists"
_IN_BACKGROUND = b'{"propagationPolicy":"Background"}'

Clock = Callable[[], int]
"""Returns nanoseconds, from any beginning: `time.monotonic_ns`."""


class _Metadata(msgspec.Struct):
    name: str
    uid: str = ""
    namespace: str = ""
    labels: dict[str, str] | None = None
    deletion_timestamp: str | None = msgspec.field(name="deletionTimestamp", default=None)

    def is_of(self, run: str) -> bool:
        """Return whether a run has made it, and it stays."""
        return self.deletion_timestamp is None and (self.labels or {}).get(RUN_LABEL) == run


class _Stored(msgspec.Struct):
    metadata: _Metadata


_decode = msgspec.json.Decoder(_Stored).decode


class LoadSender:
    """The connections of one load, and how fast it may send."""

    def __init__(self, client: Client, spec: LoadSpec, clock: Clock = time.monotonic_ns) -> None:
        """Send with `client`; must be called where an event loop runs."""
        self.clock = clock
        self.client = client
        self.finder = KindFinder(client)
        self.slots = asyncio.Semaphore(CONNECTIONS)
        self.namespace = spec.namespace
        self.written = "?" + urlencode({"fieldManager": spec.field_manager})
        """The end of every path of a write: its query."""
        self._pace = RequestPace(spec.qps, asyncio.get_running_loop().time)
        self.held_up = 0
        """Nanoseconds for which requests have waited because no more were allowed a second."""

    async def turn(self) -> None:
        """Wait until one more request may be sent."""
        asked = self.clock()
        await self._pace.turn()
        self.held_up += self.clock() - asked

    async def delete(self, made: Made) -> None:
        """Delete what an arrival has made, unless another has its name now."""
        resource = await self.client.resource_for(made.api_version, made.kind)
        path = resource.path(made.namespace or None, made.name)
        await self.turn()
        await self.client.call("DELETE", path, in_background(made.uid))


class Flight:
    """The requests of one arrival."""

    def __init__(self, sender: LoadSender) -> None:
        self._sender = sender
        self.sent: int | None = None
        """The time at which its first request was sent, by `time.monotonic_ns`."""
        self.made: list[Made] = []
        self._unanswered: set[str] = set()
        """The paths of objects that may have been made though no answer said so."""
        self.past_api = 0
        """The number of these that were written past the API server."""

    async def call(
        self, method: str, path: str, body: bytes = b"", *, content_type: str = JSON
    ) -> bytes:
        """Send a request, and return the answer; ApiError if it is refused."""
        await self.turn()
        return await self._sender.client.call(method, path, body, content_type=content_type)

    async def turn(self) -> None:
        """Wait until one more request may be sent."""
        await self._sender.turn()
        if self.sent is None:
            self.sent = self._sender.clock()

    def wrote(self, made: Made) -> None:
        """Keep in mind an object that was written past the API server."""
        self.made.append(made)
        self.past_api += 1

    async def create(self, body: Mapping[str, Json]) -> bytes:
        """Create an object, keep in mind that it was made, and return it as the API server shows it."""
        api_version, kind = body["apiVersion"], body["kind"]
        resource = await self._sender.client.resource_for(api_version, kind)
        within = body["metadata"].get("namespace") or self._sender.namespace
        answer = await self._created(resource.path(within), body)
        stored = _decode(answer).metadata
        self.made.append(Made(api_version, kind, stored.namespace, stored.name, stored.uid))
        return answer

    async def _created(self, path: str, body: Mapping[str, Json]) -> bytes:
        """Create an object, and return the answer; that to a request before may have been lost."""
        one = f"{path}/{body['metadata'].get('name')}"
        try:
            return await self.call("POST", path + self._sender.written, msgspec.json.encode(body))
        except ApiError as e:
            if may_pass(e):
                self._unanswered.add(one)
            if e.reason != _EXISTS or one not in self._unanswered:
                raise
            found = await self.call("GET", one)
            run = body["metadata"].get("labels", {}).get(RUN_LABEL)
            if not run or not _decode(found).metadata.is_of(run):
                raise
            return found

    async def delete(self, resource: Resource, namespace: str | None, name: str) -> None:
        """Delete an object, and in the background what it owns."""
        await self.call("DELETE", resource.path(namespace, name), _IN_BACKGROUND)


def in_background(uid: str) -> bytes:
    """Return the options that delete only the object with this uid, and in the background what it owns."""
    options = {"propagationPolicy": "Background", "preconditions": {"uid": uid}}
    return msgspec.json.encode(options)


@asynccontextmanager
async def connected(access: Access, spec: LoadSpec) -> AsyncIterator[LoadSender]:
    """Yield the sender of a load to a cluster; its credential is kept valid."""
    if spec.as_user:
        access = replace(access, as_user=spec.as_user, as_groups=spec.as_groups)
    async with (
        Pool(access, connections=CONNECTIONS, timeout=_TIMEOUT, user_agent=AGENT_OF_LOADS) as pool,
        beside(keep_credential(pool, access)),
    ):
        yield LoadSender(Client(pool), spec)
