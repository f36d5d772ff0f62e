"""Follows a collection: lists it once, then watches it, and recovers from every interruption.

A watch that breaks is resumed at the last known `resourceVersion`. Only when the server answers
that this is too old (410) the collection is listed again, and objects that have vanished since are
reported as deleted. The protocol:
https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar, cast

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.collections.known_objects import Identified, Key, Known, Metadata, metadata_of
from kwokctl.kube.collections.paging import PAGE, ListPage, ListQuery, list_from_cache, list_pages
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.refusals import (
    has_forgotten,
    is_final,
    is_forbidden,
    is_not_served,
    status_of,
)
from kwokctl.kube.transport.request_encoder import JSON
from kwokctl.kube.transport.stream import Lines

log = logging.getLogger(__name__)

T = TypeVar("T")

_BACKOFF_FIRST, _BACKOFF_MOST = 0.1, 5.0


class EventType(StrEnum):
    """The type of an event of a watch."""

    ADDED = "ADDED"
    """The object exists; after a second list this is repeated for known objects."""
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    SYNCED = "SYNCED"
    """All objects of the list have been reported; `object` is None."""
    INTERRUPTED = "INTERRUPTED"
    """The watch has ended: what happens now is reported late. `object` is None; only with `shows_gaps`."""
    OPENED = "OPENED"
    """The watch has begun, or begun again: what happens now is reported at once. Likewise."""


class Event(msgspec.Struct, Generic[T], frozen=True):
    """One thing that has happened."""

    type: EventType
    object: T | None
    """The object; only name, namespace and uid are set if its deletion was not watched.

    Where the decoder cannot do with these it is an `Identified`.
    """
    raw: bytes
    """The object's JSON; objects of a list have no `apiVersion` and `kind`."""


Decoder = Callable[[bytes | msgspec.Raw], T]
"""Turns an object's JSON into a value, such as `msgspec.json.Decoder(Pod).decode`."""


class _Envelope(msgspec.Struct, gc=False):
    type: str
    object: msgspec.Raw


class _GoneError(Exception):
    """The server no longer has the `resourceVersion` from which the watch should continue."""


_TYPES = {each.value: each for each in (EventType.ADDED, EventType.MODIFIED, EventType.DELETED)}
_USUAL = {b'{"type":"%b","object":' % name.encode(): name for name in _TYPES}
"""The usual beginning of kube-apiserver's lines in a watch."""
_USUAL_SIZES = {len(start) for start in _USUAL}
_envelope = msgspec.json.Decoder(_Envelope).decode


def watch(  # noqa: PLR0913 - they say what to watch
    pool: Pool,
    resource: Resource,
    *,
    decoder: Decoder[T],
    namespace: str | None = None,
    label_selector: str = "",
    field_selector: str = "",
    accept: str = JSON,
    gather: float = 0.0,
    from_cache: bool = False,
    while_served: bool = False,
    shows_gaps: bool = False,
    known: Known | None = None,
) -> AsyncGenerator[list[Event[T]], None]:
    """Yield what happens to a collection, in order, as many events at once as have come.

    While events come in quick succession they are yielded in batches, one every `gather` seconds:
    that costs less than waking for each.

    With `from_cache` the first list comes from the API server's watch cache: that costs it a third,
    and the list may lack the latest changes, which then follow as events after SYNCED.

    With `shows_gaps` the beginnings and the ends of watches are reported, too, for those who need the
    times at which things happen.

    With `known`, which is changed, the first list also reports as deleted what an earlier watch knew and is gone.

    First every object as ADDED, then SYNCED; later both again if the collection had to be listed
    again. It never ends by itself: failures are retried with growing delays; only a permanent
    refusal of the first list ends it with ApiError, and `while_served` that the collection is not
    served any more. Close it, by `contextlib.aclosing`, to let its connection go.
    """
    query = ListQuery(
        resource=resource,
        namespace=namespace,
        label_selector=label_selector,
        field_selector=field_selector,
    )
    options = _WatchOptions(accept, gather, from_cache, while_served, shows_gaps)
    return _Watch(pool, query, decoder, options, known or Known()).run()


class _WatchOptions(NamedTuple):
    accept: str
    gather: float
    from_cache: bool
    while_served: bool
    shows_gaps: bool


class _Watch(Generic[T]):
    """One watch: its `resourceVersion`, and the objects that exist at that version."""

    def __init__(
        self,
        pool: Pool,
        query: ListQuery,
        decoder: Decoder[T],
        options: _WatchOptions,
        known: Known,
    ) -> None:
        self._pool = pool
        self._query = query
        self._decode = decoder
        self._options = options
        self._from_cache = options.from_cache
        self._known = known
        self._version = ""
        self._synced = False
        self._is_open = False
        self._backoff = _BACKOFF_FIRST
        self._error: ApiError | None = None
        self._is_forbidden = False

    async def run(self) -> AsyncGenerator[list[Event[T]], None]:
        while True:
            if self._is_open and self._options.shows_gaps:
                self._is_open = False
                yield [Event(EventType.INTERRUPTED, None, b"")]
            try:
                async with aclosing(self._follow() if self._version else self._list()) as steps:
                    async for events in steps:
                        yield events
            except _GoneError:
                log.debug("%s has to be listed again", self._query.path())
                if not self._version:
                    # The list itself took too long: never again at once.
                    await self._pause()
                self._version = ""
            except ApiError as e:
                if self._options.while_served and is_not_served(e):
                    return
                if not self._synced and is_final(e):
                    raise
                self._log(e)
                await self._pause()

    def _log(self, error: ApiError) -> None:
        """Log an error; that a right is missing is a warning, until something has been answered."""
        is_new = is_forbidden(error) and not self._is_forbidden
        level = logging.WARNING if is_new else logging.DEBUG
        hint = f"; {error.hint}" if error.hint else ""
        log.log(level, "%s: %s; trying again%s", self._query.path(), error, hint)
        self._is_forbidden = is_forbidden(error)

    async def _list(self) -> AsyncGenerator[list[Event[T]], None]:
        """Yield everything that exists, and what exists no longer."""
        listed: set[Key] = set()
        version = ""
        try:
            async for page in self._pages():
                version = page.metadata.resource_version
                yield self._existing(page.objects, listed)
        except ApiError as e:
            if has_forgotten(e):
                raise _GoneError from e
            raise
        vanished = [self._vanished(each) for each in self._known.retain(listed)]
        self._version = version
        self._synced = True
        self._backoff = _BACKOFF_FIRST
        yield [*vanished, Event(EventType.SYNCED, None, b"")]

    def _pages(self) -> AsyncIterator[ListPage]:
        """List from the cache once: what cannot be read in a minute is then read page by page."""
        if self._from_cache:
            self._from_cache = False
            return list_from_cache(self._pool, self._query, accept=self._options.accept)
        return list_pages(self._pool, self._query, limit=PAGE, accept=self._options.accept)

    async def _follow(self) -> AsyncGenerator[list[Event[T]], None]:
        """Yield what changes, until the server ends the watch, as it does every few minutes."""
        seconds = random.randint(300, 600)
        path = self._query.path(
            watch="true",
            allowWatchBookmarks="true",
            resourceVersion=self._version,
            timeoutSeconds=str(seconds),
        )
        lines = Lines()
        clock = asyncio.get_running_loop().time
        last = float("-inf")
        try:
            async with self._pool.stream(
                path, accept=self._options.accept, silence=seconds + 30
            ) as stream:
                if opened := self._opened():
                    yield opened
                async for piece in stream:
                    now = clock()
                    is_busy, last = now - last < 2 * self._options.gather, now
                    if events := self._events(lines.feed(piece)):
                        yield events
                    if self._error is not None:
                        raise self._error
                    if is_busy:
                        await stream.gather(now + self._options.gather - clock())
        except ApiError as e:
            if has_forgotten(e):
                raise _GoneError from e
            raise
        finally:
            self._error = None
            if lines.any_came:
                self._backoff = _BACKOFF_FIRST
                self._is_forbidden = False
        if not lines.any_came:
            # A server that ends watches at once must not be asked in a loop.
            await self._pause()

    def _opened(self) -> list[Event[T]]:
        """Note that the watch has begun, which is an event for those who ask."""
        self._is_open = True
        return [Event(EventType.OPENED, None, b"")] if self._options.shows_gaps else []

    def _existing(self, objects: list[msgspec.Raw], listed: set[Key]) -> list[Event[T]]:
        events: list[Event[T]] = []
        for raw in objects:
            event = self._event(EventType.ADDED, bytes(raw))
            metadata = _metadata(event)
            listed.add((metadata.namespace, metadata.name))
            if (former := self._known.add(metadata)) is not None:
                events.append(self._vanished(former))
            events.append(event)
        return events

    def _events(self, lines: list[bytes]) -> list[Event[T]]:
        """Read the lines of a watch; an error among them is kept for later."""
        events: list[Event[T]] = []
        latest: Metadata | bytes | None = None
        for line in lines:
            name, raw = _parted(line)
            if name == "ERROR":
                status = status_of(raw)
                self._error = ApiError(status.message, status=status.code, reason=status.reason)
                break
            latest = raw
            if (kind := _TYPES.get(name)) is not None:
                event = self._event(kind, raw)
                if kind is not EventType.MODIFIED:
                    latest = self._note(event)
                events.append(event)
        if latest is not None:
            metadata = metadata_of(latest).metadata if isinstance(latest, bytes) else latest
            self._version = metadata.resource_version
        return events

    def _note(self, event: Event[T]) -> Metadata:
        """Record that an object exists, or no longer exists; return its identity."""
        metadata = _metadata(event)
        if event.type is EventType.ADDED:
            self._known.add(metadata)
        else:
            self._known.remove(metadata)
        return metadata

    def _event(self, kind: EventType, raw: bytes) -> Event[T]:
        return Event(kind, self._decode(raw), raw)

    def _vanished(self, metadata: Metadata) -> Event[T]:
        found = Identified(metadata)
        raw = msgspec.json.encode(found)
        try:
            return Event(EventType.DELETED, self._decode(raw), raw)
        except msgspec.ValidationError:  # it wants more, such as the spec
            return Event(EventType.DELETED, cast("T", found), raw)

    async def _pause(self) -> None:
        """Wait with exponential backoff and jitter."""
        wait = self._backoff
        self._backoff = min(2 * wait, _BACKOFF_MOST)
        await asyncio.sleep(wait * random.uniform(0.5, 1.0))


def _metadata(event: Event[T]) -> Metadata:
    """Return the identity of an object, from its decoded value if that has it."""
    found = getattr(event.object, "metadata", None)
    return found if isinstance(found, Metadata) else metadata_of(event.raw).metadata


def _parted(line: bytes) -> tuple[str, bytes]:
    """Return a line's type and the JSON of its object, mostly without a look at the whole."""
    for size in _USUAL_SIZES:
        name = _USUAL.get(line[:size])
        if name is not None and line.endswith(b"}}"):
            return name, line[size:-1]
    envelope = _envelope(line)
    return envelope.type, bytes(envelope.object)
