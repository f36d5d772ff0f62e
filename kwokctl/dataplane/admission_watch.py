"""Watches the webhooks and policies of a cluster, and tells which of them have a say on a kind."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import msgspec

from kwokctl.dataplane.admission import WATCHED, AdmissionControl, read_admission_control
from kwokctl.errors import ApiError
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool


class AdmissionWatch:
    """The webhooks and policies that there are, as far as the watches have shown.

    The bindings of policies are not looked at: a policy counts from the moment it exists.
    """

    def __init__(self, pool: Pool, changed: Callable[[], None]) -> None:
        """Read by `pool`; call `changed` whenever there may be more or fewer of them."""
        self._pool = pool
        self._changed = changed
        self._found: dict[tuple[Resource, str], AdmissionControl] = {}
        self._pending = set(WATCHED)
        self._known = asyncio.Event()

    def on(self, resource: Resource) -> list[str]:
        """Return the names of those that have a say on a kind."""
        return sorted(
            control.name for control in self._found.values() if control.applies_to(resource)
        )

    async def known(self) -> None:
        """Wait until all kinds of them have been listed once."""
        await self._known.wait()

    async def follow(self, resource: Resource) -> None:
        """Follow those of one of the kinds `WATCHED` until cancelled.

        Returns where the cluster does not serve that kind. Raises ApiError if it refuses to list
        them.
        """
        try:
            await self._follow(resource)
        except ApiError as e:
            if e.status != 404:
                raise
            self._listed(resource)

    async def _follow(self, resource: Resource) -> None:
        def decode(raw: bytes | msgspec.Raw) -> AdmissionControl:
            return read_admission_control(resource.kind, raw)

        async with aclosing(watch(self._pool, resource, decoder=decode)) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is None:
                        self._listed(resource)
                    elif event.type is EventType.DELETED:
                        self._found.pop((resource, event.object.name), None)
                    else:
                        self._found[resource, event.object.name] = event.object
                self._changed()

    def _listed(self, resource: Resource) -> None:
        self._pending.discard(resource)
        if not self._pending:
            self._known.set()
