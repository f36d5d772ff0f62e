"""What many writers have written into the same objects, held against what is shown of them.

Every write puts one text of the form n17 somewhere into an object. Texts are found wherever they
stand, so what an object must say at a revision follows from the writes up to there and nothing else.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from kwokctl.json_value import Json

Said = dict[str, str]
"""Texts by where they stand."""

_TEXT = re.compile(r"n[0-9]+")
_NAMES = ("type", "key", "name")
"""Fields that tell items of a list apart."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An object as it was at a revision."""

    name: str
    uid: str
    revision: int
    said: Said
    is_going: bool
    is_held: bool
    is_gone: bool
    """Whether this is the last that was heard of it: its deletion, with what it was before."""


def shown(body: Json, *, is_gone: bool = False) -> Shown:
    """Read an object."""
    metadata = body["metadata"]
    return Shown(
        name=metadata["name"],
        uid=metadata["uid"],
        revision=int(metadata["resourceVersion"]),
        said=dict(_said(body, "")),
        is_going="deletionTimestamp" in metadata,
        is_held=bool(metadata.get("finalizers")),
        is_gone=is_gone,
    )


class Ledger:
    """Records every write that was acknowledged, and every state that was shown."""

    def __init__(self) -> None:
        self._writes: defaultdict[str, dict[int, tuple[str, str]]] = defaultdict(dict)
        self._shown: defaultdict[str, list[Shown]] = defaultdict(list)
        self._doomed: set[str] = set()
        self._ended: dict[str, bool] = {}
        self._faults: list[str] = []
        self.latest = 0
        """The last revision written."""

    @property
    def writes(self) -> int:
        return sum(map(len, self._writes.values()))

    def wrote(self, body: Json, where: str, text: str) -> None:
        """Take note that an object says something from the revision of the answer on."""
        uid, revision = body["metadata"]["uid"], int(body["metadata"]["resourceVersion"])
        former = self._writes[uid].get(revision)
        if former is not None:
            self._faults.append(f"'{uid}': {former} and {where, text} both at {revision}")
        self._writes[uid][revision] = (where, text)
        self.latest = max(self.latest, revision)

    def ending(self, uid: str) -> None:
        """Record that a client tries to delete an object."""
        self._doomed.add(uid)

    def ended(self, uid: str, *, at_once: bool = False) -> None:
        """Take note that an object has been deleted, or waits for its finalizers unless `at_once`."""
        self._ended[uid] = at_once

    def show(self, what: Shown) -> None:
        """Take note of what has been seen."""
        self._shown[what.uid].append(what)

    def faults(self, present: list[Shown]) -> list[str]:
        """Return whatever is wrong, `present` being what there is at the end."""
        for each in present:
            self.show(each)
            if each.uid in self._ended and not (each.is_going and each.is_held):
                self._faults.append(f"deleted, but there: {each}")
        return [*self._faults, *(fault for uid in self._shown for fault in self._of(uid))]

    def _of(self, uid: str) -> Iterator[str]:
        writes = sorted(self._writes[uid].items())
        expected: Said = {}
        before: Shown | None = None
        for each in sorted(self._shown[uid], key=lambda one: one.revision):
            while writes and writes[0][0] <= each.revision:
                _, (where, text) = writes.pop(0)
                expected[where] = text
            if each.said != expected:
                yield f"written {expected}, shown {each}"
            if before is not None and before.is_gone and not each.is_gone:
                yield f"gone, and there again: {each}"
            if before is not None and before.is_going and not each.is_going:
                yield f"going, and staying after all: {each}"
            if each.is_gone and each.is_held and self._ended.get(uid):
                yield f"deleted in spite of its finalizers: {each}"
            if each.is_gone and uid not in self._doomed:
                yield f"no client has deleted it: {each}"
            before = each
        if before is not None and writes:
            yield f"never shown of {before}: {writes}"


def _said(value: Json, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key != "managedFields":
                yield from _said(each, f"{where}.{key}")
    elif isinstance(value, list):
        for each in value:
            name = next((each[n] for n in _NAMES if isinstance(each, dict) and n in each), "")
            yield from _said(each, f"{where}[{name}]")
    elif isinstance(value, str) and _TEXT.fullmatch(value):
        yield where, value
