"""Measures how late a watch is: an object of the recorder's own is changed again and again, and its changes are watched."""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import aclosing, suppress

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.resource import LEASES
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.record.incident_lines import WatchLag
from kwokctl.measure.watching.numbered_texts import Emit
from kwokctl.tasks import beside

_NAMESPACE = "default"
_EVERY = 1.0
"""Seconds between two changes."""
_MISSING = 404
_PATIENCE = 2.0
"""Seconds for its deletion."""


class _Spec(msgspec.Struct, gc=False, rename="camel"):
    lease_transitions: int = 0


class _SeenLease(msgspec.Struct, gc=False):
    spec: _Spec = msgspec.field(default_factory=_Spec)


class LagProbe:
    """Changes a Lease, and writes how long each change took until it was received."""

    def __init__(self, pool: Pool, emit: Emit, now: Callable[[], int]) -> None:
        """Reach the cluster by `pool`; `now` returns the nanoseconds since the record began."""
        self._pool = pool
        self._client = Client(pool)
        self._emit = emit
        self._now = now
        self._name = f"kwokctl-measure-{secrets.token_hex(4)}"
        self._sent: dict[int, int] = {}
        """By the number of the change that is under way: the time at which it was sent."""

    async def probing(self) -> None:
        """Probe until cancelled; return at once where the recorder may not create a Lease."""
        try:
            await self._create()
        except ApiError:
            return
        try:
            async with beside(self._receive()):
                await self._change()
        finally:
            await self._remove()

    async def _create(self) -> None:
        lease = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"name": self._name, "namespace": _NAMESPACE},
            "spec": {"holderIdentity": "kwokctl measure"},
        }
        await self._client.create(LEASES, _NAMESPACE, msgspec.json.encode(lease))

    async def _change(self) -> None:
        number = 0
        path = LEASES.path(_NAMESPACE, self._name)
        while True:
            number += 1
            self._sent[number] = self._now()
            try:
                await self._client.call(
                    "PATCH", path, _change(number), content_type=PatchType.MERGE
                )
            except ApiError as e:  # it does not answer now: what was lost is not measured
                self._sent.pop(number, None)
                if e.status == _MISSING:  # a rewind to a mark of an earlier time deletes it
                    with suppress(ApiError):
                        await self._create()
            await asyncio.sleep(_EVERY)

    async def _receive(self) -> None:
        selector = f"metadata.name={self._name}"
        decoder = msgspec.json.Decoder(_SeenLease).decode
        events = watch(
            self._pool, LEASES, decoder=decoder, namespace=_NAMESPACE, field_selector=selector
        )
        async with aclosing(events):
            async for batch in events:
                for event in batch:
                    number = event.object.spec.lease_transitions if event.object else 0
                    sent = self._sent.pop(number, None)
                    if sent is not None:
                        self._emit(WatchLag(sent, self._now() - sent))

    async def _remove(self) -> None:
        """Delete the Lease, also when this is cancelled; one that cannot be deleted does no harm."""
        with suppress(ApiError, TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._client.call("DELETE", LEASES.path(_NAMESPACE, self._name))


def _change(number: int) -> bytes:
    return msgspec.json.encode({"spec": {"leaseTransitions": number}})
