"""Watches webhooks, policies, quotas and the namespace: reasons not to bypass the API server."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Coroutine, Iterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec

from kwokctl.dataplane.admission_control import QUOTAS, WATCHED, AdmissionWatch
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import NAMESPACES, NODES, PODS, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.tasks import beside


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    resource_version: str = "0"
    deletion_timestamp: str | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata


_decode = msgspec.json.Decoder(_Object).decode
_Events = AsyncGenerator[list[Event[_Object]], None]
_Note = Callable[[EventType, _Metadata], None]


class SetAdmission:
    """Webhooks, policies and quotas that would be bypassed, and the deletion of the namespace."""

    def __init__(
        self,
        pool: Pool,
        resource: Resource,
        namespace: str | None,
        *,
        insists: bool,
        leave: Callable[[Collection[Resource]], None],
        report: Callable[[str], None],
    ) -> None:
        """Watch what applies to objects of a kind in a namespace.

        `leave` is called with the kinds that must be written through the API, `report` with the
        reason, when that changes. With `insists` only a namespace that is being deleted matters.
        """
        self._pool = pool
        self._resource = resource
        self._namespace = namespace
        self.written = with_dependents(resource)
        """The kinds that are written past the API server; others can be added before it is watched."""
        self._insists = insists
        self._leave = leave
        self._report = report
        self._watch = AdmissionWatch(pool, self._change)
        self._quotas: set[str] = set()
        self._is_going = False
        self._listed: list[asyncio.Event] = []
        self._is_known = False
        self.why: str | None = None
        """The present obstacle, for people; None if there is none."""
        self.namespace_version = 0
        """The latest resourceVersion of the namespace; 0 for objects that are in none."""

    def watches(self) -> Iterator[Coroutine[Any, Any, None]]:
        """Yield the coroutines that watch; each runs until it is cancelled.

        It raises ApiError if the cluster refuses it.
        """
        if not self._insists:
            yield from map(self._watch.follow, WATCHED)
        if self._namespace is None:
            return
        if not self._insists:
            quotas = watch(self._pool, QUOTAS, decoder=_decode, namespace=self._namespace)
            yield self._listed_by(quotas, self._note_quota)
        selector = f"metadata.name={self._namespace}"
        itself = watch(self._pool, NAMESPACES, decoder=_decode, field_selector=selector)
        yield self._listed_by(itself, self._note_namespace)

    async def known(self) -> None:
        """Wait until everything that is watched has been listed once."""
        if not self._insists:
            await self._watch.known()
        for listed in self._listed:
            await listed.wait()
        self._is_known = True

    def _listed_by(self, events: _Events, note: _Note) -> Coroutine[Any, Any, None]:
        self._listed.append(asyncio.Event())
        return self._follow(events, note, self._listed[-1])

    async def _follow(self, events: _Events, note: _Note, listed: asyncio.Event) -> None:
        async with aclosing(events) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is None:
                        listed.set()
                    else:
                        note(event.type, event.object.metadata)
                self._change()

    def _note_quota(self, event: EventType, quota: _Metadata) -> None:
        if event is EventType.DELETED:
            self._quotas.discard(quota.name)
        else:
            self._quotas.add(quota.name)

    def _note_namespace(self, event: EventType, namespace: _Metadata) -> None:
        self._is_going = event is EventType.DELETED or namespace.deletion_timestamp is not None
        self.namespace_version = int(namespace.resource_version)

    def _change(self) -> None:
        before, self.why = self.why, next(self._reasons(), None)
        # A webhook for pods is called when nodes are deleted with their pods, not for the nodes.
        self._leave([each for each in self.written if self.why is not None or self._watch.on(each)])
        if self._is_known and self.why is not None and self.why != before:
            self._report(self.why)

    def _reasons(self) -> Iterator[str]:
        if self._is_going:
            yield f"the namespace '{self._namespace}' is being deleted"
        if rules := self._watch.on(self._resource):
            yield f"{rules[0]} applies to {self._resource.plural}"
        if self._quotas:
            yield f"the namespace '{self._namespace}' has a ResourceQuota"


def with_dependents(resource: Resource) -> frozenset[Resource]:
    """Return the kinds that are written with objects of a kind: nodes with their pods."""
    return frozenset({resource, PODS}) if resource == NODES else frozenset({resource})


@asynccontextmanager
async def watched(admission: SetAdmission) -> AsyncIterator[None]:
    """Keep watching while inside; everything that exists already is known on entry."""
    async with beside(*admission.watches()):
        await admission.known()
        yield
