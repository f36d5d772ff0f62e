"""Follows the nodes and pods of a cluster by watches of the benchmark's own, independent of kwokctl."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import msgspec

from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import NODES, PODS
from kwokctl.kube.transport.pool import Pool

_NOT_READY = "node.kubernetes.io/not-ready"


class _Metadata(msgspec.Struct, gc=False, rename="camel"):
    name: str
    deletion_timestamp: str | None = None


class _Condition(msgspec.Struct, gc=False):
    type: str
    status: str


class _Taint(msgspec.Struct, gc=False):
    key: str


class _NodeSpec(msgspec.Struct, gc=False, frozen=True):
    taints: tuple[_Taint, ...] = ()


class _NodeStatus(msgspec.Struct, gc=False, frozen=True):
    conditions: tuple[_Condition, ...] = ()


class _PodStatus(msgspec.Struct, gc=False, frozen=True):
    phase: str = ""


class Watched(Protocol):
    """What is seen of an object."""

    metadata: _Metadata

    @property
    def is_ready(self) -> bool:
        """Return whether it is in the requested state."""
        ...


class Node(msgspec.Struct, gc=False):
    """What is seen of a node."""

    metadata: _Metadata
    spec: _NodeSpec = _NodeSpec()
    status: _NodeStatus = _NodeStatus()

    @property
    def is_ready(self) -> bool:
        """Return whether it is Ready and free of the not-ready taint."""
        ready = any(c.type == "Ready" and c.status == "True" for c in self.status.conditions)
        return ready and all(taint.key != _NOT_READY for taint in self.spec.taints)


class Pod(msgspec.Struct, gc=False):
    """What is seen of a pod."""

    metadata: _Metadata
    status: _PodStatus = _PodStatus()

    @property
    def is_ready(self) -> bool:
        """Return whether it is Running."""
        return self.status.phase == "Running" and self.metadata.deletion_timestamp is None


W = TypeVar("W", bound=Watched)


@dataclass(slots=True)
class Seen:
    """What one watch has shown: the names of what exists, and of what is ready."""

    existing: set[str] = field(default_factory=set)
    ready: set[str] = field(default_factory=set)
    gap: int = 0
    """How many were there and not ready, at most at a time; set it to 0 before what is measured."""
    relapses: int = 0
    """How often something that was ready was so no longer, without being deleted."""
    is_synced: bool = False
    listener: Callable[[str, str], None] = lambda _name, _state: None
    """Is called with each object's state: `waiting`, `going`, or empty if it is ready or gone."""

    def note(self, event: Event[W]) -> None:
        """Take note of one event."""
        if event.object is None:
            self.is_synced = True
            return
        name = event.object.metadata.name
        is_going = event.object.metadata.deletion_timestamp is not None
        if event.type is EventType.DELETED:
            self.existing.discard(name)
            self.ready.discard(name)
            self.listener(name, "")
        elif event.object.is_ready:
            self.existing.add(name)
            self.ready.add(name)
            self.listener(name, "")
        else:
            self.existing.add(name)
            self.relapses += name in self.ready and not is_going
            self.ready.discard(name)
            self.gap = max(self.gap, len(self.existing) - len(self.ready))
            self.listener(name, "going" if is_going else "waiting")


class Observer:
    """Two watches, of all nodes and of the pods of all namespaces, and the coroutines that wait for them."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.nodes, self.pods = Seen(), Seen()
        self._news = asyncio.Event()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Return with the event that makes something hold."""
        while not holds():
            self._news.clear()
            await self._news.wait()

    async def follow(self, changes: AsyncGenerator[list[Event[W]], None], seen: Seen) -> None:
        """Keep up to date until cancelled."""
        async with aclosing(changes):
            async for events in changes:
                for event in events:
                    seen.note(event)
                self._news.set()


@asynccontextmanager
async def observing(pool: Pool) -> AsyncIterator[Observer]:
    """Follow a cluster while the block runs; the first lists have been read when it begins."""
    observer = Observer()
    nodes = watch(pool, NODES, decoder=msgspec.json.Decoder(Node).decode)
    pods = watch(pool, PODS, decoder=msgspec.json.Decoder(Pod).decode)
    async with asyncio.TaskGroup() as tasks:
        following = [
            tasks.create_task(observer.follow(nodes, observer.nodes)),
            tasks.create_task(observer.follow(pods, observer.pods)),
        ]
        await observer.until(lambda: observer.nodes.is_synced and observer.pods.is_synced)
        yield observer
        for task in following:
            task.cancel()
