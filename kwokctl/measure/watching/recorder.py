"""Follows kinds through the API's watch, and emits a line for all that happens.

The time of a change is that at which its piece of the watch was received. What a watch delivers after
an interruption was received late: a gap says so.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, Protocol

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.collections.known_objects import Identified, Metadata
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.record.record_lines import ApiProbe, Behind, Gap, RunMoment
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.watching.numbered_texts import Emit
from kwokctl.tasks import beside

_BACKLOG = SECOND
"""For how long what a resumed watch delivers may still be of the time before."""
_WORTH_NOTING = SECOND // 4
_TICK = 0.1
_NOT_SERVED = 404
_AGAIN = 1.0
"""Seconds until a kind that is not served yet is followed again."""
_PROBE = "/readyz"
_PROBE_EVERY = 1.0
_PROBE_LONGEST = 5.0
WATCH_ENDED, LISTED_AGAIN = "the watch ended", "everything was listed again"
_SEEN = (EventType.ADDED, EventType.MODIFIED)


class Tracker(Protocol):
    """Turns what is seen of the objects of a kind into lines."""

    plural: str

    @property
    def decode(self) -> Callable[[bytes | msgspec.Raw], Any]:
        """The function that reads the part of an object that `see` needs."""
        ...

    def begin(self) -> None:
        """Take what comes from now on for a part of the run."""
        ...

    def see(self, seen: Any, raw: bytes, time: int, *, listed: bool) -> None:
        """Note what an object is like; one that is `listed` may have been so for long."""
        ...

    def gone(self, uid: str, time: int) -> None:
        """Note that an object exists no longer."""
        ...


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """A kind that is followed, and what its objects become."""

    resource: Resource
    tracker: Tracker
    namespace: str | None = None
    selector: str = ""
    deleted: Callable[[str, bytes, int], None] | None = None
    """Is also told the uid of an object that exists no longer, with what it was like last, and the time."""


class RunRecorder:
    """Records one run."""

    def __init__(
        self,
        pool: Pool,
        kinds: Sequence[Followed],
        emit: Emit,
        now: Callable[[], int],
        *,
        gather: float = 0.0,
    ) -> None:
        """Watch through `pool`; `now` returns the nanoseconds since the record began.

        Changes are taken at once, or gathered for `gather` seconds, at whose end their times are.
        """
        self._pool = pool
        self._kinds = kinds
        self._emit = emit
        self.now = now
        self._gather = gather
        self._opened = 0
        self._all_open = asyncio.Event()
        self._following: list[_Following] = []

    def sees(self, *plurals: str) -> bool:
        """Return whether these kinds, as far as they are followed, are watched now: what happens is seen at once."""
        return all(each.is_open for each in self._following if each.plural in plurals)

    @asynccontextmanager
    async def recording(self) -> AsyncIterator[None]:
        """Record while inside, which begins when everything is watched."""
        follows = (self._follow(kind) for kind in self._kinds)
        async with beside(*follows, self._watch_itself(), self._probe()):
            await self._all_open.wait()
            for kind in self._kinds:
                kind.tracker.begin()
            self._emit(RunMoment(self.now(), "begin"))
            yield

    async def follow_later(self, kinds: AsyncIterator[Followed]) -> None:
        """Follow kinds that the cluster does not serve yet, each once it comes; the run does not wait for that."""
        async with asyncio.TaskGroup() as tasks:
            async for kind in kinds:
                kind.tracker.begin()
                tasks.create_task(self._follow_once_served(kind))

    async def _follow_once_served(self, kind: Followed) -> None:
        """Follow a kind that one API server serves: another may do so a moment later."""
        while True:
            try:
                await self._follow(kind, is_awaited=False)
            except ApiError as e:
                if e.status != _NOT_SERVED:
                    raise
            await asyncio.sleep(_AGAIN)

    async def _follow(self, kind: Followed, *, is_awaited: bool = True) -> None:
        following = _Following(kind, self._emit)
        self._following.append(following)
        events = watch(
            self._pool,
            kind.resource,
            decoder=kind.tracker.decode,
            namespace=kind.namespace,
            label_selector=kind.selector,
            shows_gaps=True,
            gather=self._gather,
        )
        try:
            async with aclosing(events):
                async for batch in events:
                    was_open = following.is_open
                    following.take(batch, self.now())
                    if is_awaited and following.is_open and not was_open:
                        self._note_open()
        finally:
            following.end(self.now())

    def _note_open(self) -> None:
        self._opened += 1
        if self._opened == len(self._kinds):
            self._all_open.set()

    async def _watch_itself(self) -> None:
        """Note how long what has come waited: this task waits as long for its turn."""
        while True:
            due = self.now() + int(_TICK * SECOND)
            await asyncio.sleep(_TICK)
            late = self.now() - due
            if late > _WORTH_NOTING:
                self._emit(Behind(self.now(), late))

    async def _probe(self) -> None:
        while True:
            begin = self.now()
            status = await self._answer()
            took = self.now() - begin
            self._emit(ApiProbe(begin, took, status))
            await asyncio.sleep(max(0.0, _PROBE_EVERY - took / SECOND))

    async def _answer(self) -> int:
        """Return the status with which the API server answers; 0 without an answer."""
        try:
            async with asyncio.timeout(_PROBE_LONGEST):
                return (await self._pool.request("GET", _PROBE)).status
        except (ApiError, TimeoutError):
            return 0


class _Following:
    """One kind that is followed, and the gap that it is in, if any."""

    def __init__(self, kind: Followed, emit: Emit) -> None:
        self.plural = kind.resource.plural
        self._tracker = kind.tracker
        self._deleted = kind.deleted
        self._emit = emit
        self.is_open = False
        self._last = 0
        """The time at which something was received last."""
        self._gap: int | None = None
        """The time at which the gap began."""
        self._why = WATCH_ENDED
        self._resumed: int | None = None
        """The time at which the watch was open again, until what it had missed has come."""

    def take(self, batch: Sequence[Event[object]], time: int) -> None:
        """Pass on what has come at one time."""
        first = batch[0].type if batch else None
        if first is EventType.OPENED:
            self._open(time)
        elif first is EventType.INTERRUPTED:
            self.is_open = False
            self._gap = self._last if self._gap is None else self._gap
        else:
            if self._resumed is not None:
                self._end_gap(min(time, self._resumed + _BACKLOG))
            self._pass_on(batch, time)
            self._last = time

    def end(self, time: int) -> None:
        """Note that nothing more will come: the gap of a watch that is interrupted is the last that is known."""
        if self._gap is not None and self._resumed is None:
            self._end_gap(time)

    def _pass_on(self, batch: Sequence[Event[object]], time: int) -> None:
        tracker, listed = self._tracker, not self.is_open
        for event in batch:
            if event.type in _SEEN:
                tracker.see(event.object, event.raw, time, listed=listed)
            elif event.type is EventType.DELETED:
                tracker.gone(uid := _uid(event), time)
                if self._deleted is not None:
                    self._deleted(uid, event.raw, time)
            else:  # all objects of a list have come
                self._why = LISTED_AGAIN

    def _open(self, time: int) -> None:
        self.is_open = True
        self._last = time
        if self._gap is None:
            self._why = WATCH_ENDED
        else:
            self._resumed = time

    def _end_gap(self, end: int) -> None:
        assert self._gap is not None
        self._emit(Gap(self._gap, end, self._tracker.plural, self._why))
        self._gap = self._resumed = None
        self._why = WATCH_ENDED


def _uid(event: Event[object]) -> str:
    metadata = getattr(event.object, "metadata", None)
    if isinstance(metadata, Metadata):
        return metadata.uid
    return msgspec.json.decode(event.raw, type=Identified).metadata.uid
