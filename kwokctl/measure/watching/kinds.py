"""Latencies of objects of any kind: from one condition to another."""

import msgspec

from kwokctl.clusters.objects.wait import DELETED, predicate
from kwokctl.errors import UsageError
from kwokctl.kube.collections.known_objects import Identified, metadata_of
from kwokctl.measure.record.record_lines import Milestone
from kwokctl.measure.watching.numbered_texts import Emit

EXISTS = "exists"


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """A latency of the objects of a kind, from one condition to another."""

    name: str
    kind: str
    """A word for the kind, as kubectl takes it."""
    begin: str
    """The condition at which the time begins."""
    end: str

    @classmethod
    def read(cls, text: str) -> "Latency":
        """Read `NAME=KIND,FROM,TO`; UsageError, with the part that is wrong."""
        name, has_rest, rest = text.partition("=")
        parts = rest.split(",", 2)
        if not has_rest or len(parts) < 3 or not all(part.strip() for part in parts):
            raise UsageError(
                f"'--latency' is '{text}', not a latency",
                hint="write NAME=KIND,FROM,TO, for example: claims=pvc,exists,.status.phase == "
                '"Bound"',
            )
        if not name.isidentifier():
            raise UsageError(
                f"'--latency' is '{text}': '{name}' cannot be the name of a figure",
                hint="use letters, digits and '_'",
            )
        kind, begin, end = (part.strip() for part in parts)
        for condition in (begin, end):
            predicate(condition)
        return cls(name=name, kind=kind, begin=begin, end=end)

    def __str__(self) -> str:
        return f"{self.name}={self.kind},{self.begin},{self.end}"


class KindTracker:
    """Writes a line when an object reaches the beginning or the end of a latency."""

    def __init__(self, emit: Emit, latency: Latency, number: int, plural: str) -> None:
        """Name the latency by its `number` in the header."""
        self.plural = plural
        self.decode = metadata_of
        self._emit = emit
        self._number = number
        self._has_begun = False
        self._latency = latency
        self._conditions = (predicate(latency.begin), predicate(latency.end))
        self._open: dict[str, list[bool]] = {}
        """By uid, what has been reached."""
        self._names: dict[str, tuple[str, str]] = {}

    def begin(self) -> None:
        """Take objects that come from now on for new ones."""
        self._has_begun = True

    def see(self, seen: Identified, raw: bytes, time: int, *, listed: bool) -> None:
        """Note what an object is like."""
        value = msgspec.json.decode(raw)
        uid = seen.metadata.uid
        is_first = uid not in self._open
        reached = self._open.setdefault(uid, [False, False])
        self._names[uid] = (seen.metadata.namespace, seen.metadata.name)
        is_listed = listed or not self._has_begun
        for place, holds in enumerate(self._conditions):
            if reached[place] or self._wants_deletion(place) or not holds(value):
                continue
            reached[place] = True
            is_creation = self._condition(place) == EXISTS
            known = not is_first or (is_creation and not is_listed)
            self._reach(uid, place, time, known=known)

    def gone(self, uid: str, time: int) -> None:
        """Note that an object exists no longer."""
        reached = self._open.pop(uid, None)
        for place in (0, 1):
            if reached and not reached[place] and self._wants_deletion(place):
                self._reach(uid, place, time, known=True)
        self._names.pop(uid, None)

    def _condition(self, place: int) -> str:
        return self._latency.end if place else self._latency.begin

    def _wants_deletion(self, place: int) -> bool:
        return self._condition(place) == DELETED

    def _reach(self, uid: str, place: int, time: int, *, known: bool) -> None:
        if self._has_begun or known:
            namespace, name = self._names[uid]
            self._emit(Milestone(time, self._number, uid, namespace, name, bool(place), known))
