"""Turns what is seen of objects that make pods into lines: when they come, change their state, and go."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Protocol

import msgspec

from kwokctl.measure.record.record_lines import Lines
from kwokctl.measure.watching.numbered_texts import Emit
from kwokctl.measure.watching.pods import WholeMetadata
from kwokctl.training.state import TRAINING


class TrainingNote(msgspec.Struct, gc=False, rename={"training": TRAINING}):
    """The annotation that says how far a training has come; others are not decoded."""

    training: str = ""


class StateMetadata(WholeMetadata, rename="camel", gc=False):
    """The recorded metadata of such an object."""

    annotations: TrainingNote | None = None

    @property
    def training(self) -> str:
        """The state of its training; empty without one."""
        return self.annotations.training if self.annotations is not None else ""


class Stateful(Protocol):
    """The recorded fields of such an object."""

    metadata: StateMetadata

    @property
    def pods(self) -> int:
        """The number of pods that run at once."""
        ...

    @property
    def state(self) -> str:
        """The state that its status tells."""
        ...


class StateLines(msgspec.Struct, frozen=True, kw_only=True):
    """The functions that make the lines of a kind."""

    seen: Callable[..., Lines]
    changed: Callable[[int, int, str, int, str], Lines]
    gone: Callable[[int, int], Lines]


class _Known(msgspec.Struct, gc=False):
    number: int
    state: str
    pods: int
    training: str


class StateTracker:
    """Writes a line for each change of the recorded fields of an object."""

    def __init__(
        self,
        emit: Emit,
        lines: StateLines,
        *,
        labels: Sequence[str],
        takes_existing: bool,
        numbers: Iterator[int] | None = None,
    ) -> None:
        """Number objects by `numbers`; record those of before only with `takes_existing`."""
        self._emit = emit
        self._lines = lines
        self._labels = labels
        self._takes_existing = takes_existing
        self._numbers = numbers or count(1)
        self._has_begun = False
        self._known: dict[str, _Known] = {}
        self._existing: set[str] = set()

    def begin(self) -> None:
        """Take objects that come from now on for those of the run."""
        self._has_begun = True

    def see(self, seen: Stateful, _raw: bytes, time: int, *, listed: bool) -> None:
        """Note what an object is like."""
        known = self._known.get(seen.metadata.uid)
        if known is None:
            self._first(seen, time, listed=listed)
            return
        now = (seen.state, seen.pods, seen.metadata.training)
        if (known.state, known.pods, known.training) != now:
            known.state, known.pods, known.training = now
            self._emit(self._lines.changed(time, known.number, *now))

    def gone(self, uid: str, time: int) -> None:
        """Note that an object exists no longer."""
        known = self._known.pop(uid, None)
        if known is None:
            self._existing.discard(uid)
        else:
            self._emit(self._lines.gone(time, known.number))

    def _first(self, seen: Stateful, time: int, *, listed: bool) -> None:
        named = seen.metadata
        if named.uid in self._existing:
            return
        if not self._has_begun and not self._takes_existing:
            self._existing.add(named.uid)
            return
        number = next(self._numbers)
        self._known[named.uid] = _Known(number, seen.state, seen.pods, named.training)
        found = named.labels or {}
        labels = {name: found[name] for name in self._labels if name in found}
        self._emit(self._lines.seen(
            time, number, named.uid, named.namespace, named.name, named.controller.uid,
            seen.pods, labels, seen.state, listed or not self._has_begun, training=named.training,
        ))  # fmt: skip
