"""Sends the requests of one load, as the client of a user would."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import msgspec

from kwokctl.embedded.cluster_access import keep_credential
from kwokctl.json_value import Json
from kwokctl.kube.client import FIELD_MANAGER, Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.load.arrival import Made
from kwokctl.tasks import beside

CONNECTIONS = 64
"""Requests under way at a time: more would only wait in the API server in place of here."""
_TIMEOUT = 60.0
"""Seconds for an answer: that is how long an API server works at one."""


class _Metadata(msgspec.Struct):
    name: str
    uid: str = ""
    namespace: str = ""


class _Stored(msgspec.Struct):
    metadata: _Metadata


_decode = msgspec.json.Decoder(_Stored).decode


class Sender:
    """The requests of one load."""

    def __init__(self, client: Client, namespace: str) -> None:
        """Send with `client`; objects that say no namespace are in `namespace`."""
        self.client = client
        self.slots = asyncio.Semaphore(CONNECTIONS)
        self._namespace = namespace
        self._query = "?" + urlencode({"fieldManager": FIELD_MANAGER})

    async def create_all(self, bodies: Sequence[Mapping[str, Json]], made: list[Made]) -> None:
        """Create objects after each other, and add them to those that are `made`, until one is refused."""
        for body in bodies:
            made.append(await self.create(body))  # noqa: PERF401 - what was made before a refusal stays

    async def create(self, body: Mapping[str, Json]) -> Made:
        """Create an object; ApiError if it is refused."""
        api_version, kind = body["apiVersion"], body["kind"]
        resource = await self.client.resource_for(api_version, kind)
        path = resource.path(body["metadata"].get("namespace") or self._namespace) + self._query
        answer = await self.client.call("POST", path, msgspec.json.encode(body))
        stored = _decode(answer).metadata
        return Made(api_version, kind, stored.namespace, stored.name, stored.uid)


@asynccontextmanager
async def connected(access: Access, namespace: str) -> AsyncIterator[Sender]:
    """Yield the sender for a cluster; its credential is kept valid."""
    async with (
        Pool(access, connections=CONNECTIONS, timeout=_TIMEOUT) as pool,
        beside(keep_credential(pool, access)),
    ):
        yield Sender(Client(pool), namespace)
