"""The trainings that a controller knows: the pods of each, and the Job or JobSet that keeps its state.

Every controller knows all of them: the pods of a gang are on many nodes, which several may hold. A pod that says nothing of
a training costs one look into its annotations.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress

import msgspec
import orjson

from kwokctl.controller.known_trainings.rank_reader import (
    HolderKey,
    checks_of,
    holder_of,
    holder_uid_of,
    rank_of,
)
from kwokctl.errors import ExpressionError
from kwokctl.fleet.allocations import Allocation, allocations_of, claimed_in
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.replacing import replace
from kwokctl.training.check_times import CheckTime
from kwokctl.training.plan import STEPS, TrainingPlan, read_plan
from kwokctl.training.preflight import PREFLIGHT
from kwokctl.training.state import TrainingState
from kwokctl.training.training_course import Rank

_ALONE = f"Annotation '{STEPS}' has no effect: the pod belongs to no Job or JobSet, which would keep the state of its training"


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """A Job or JobSet, as far as it says something of a training."""

    uid: str
    version: int
    created: float
    """The time of its creation, as a POSIX time stamp."""
    size: int
    """The number of pods that train together."""
    state: TrainingState | None
    restored: int = 0
    """The version with which it went back to an earlier state; 0 if it has not."""

    def is_stale(self, rank: "GangRank") -> bool:
        """Return whether what is known of a pod may be of the time before the state went back: the pod follows."""
        return rank.version < self.restored


class GangRank(msgspec.Struct, kw_only=True):
    """One pod of a training."""

    pod: str
    """Its namespace and name, as the engine knows it."""
    holder_uid: str
    """The uid of its Job; empty if it is not known."""
    version: int
    rank: Rank
    plan: TrainingPlan | None
    """None for one that only checks its nodes."""
    node: str
    devices: tuple[Allocation, ...]
    """Those of a pod that checks its nodes."""
    checks: dict[str, tuple[CheckTime, ...]]
    """The times at which its init containers ran, by their names."""
    is_gone: bool = False
    """Whether it exists no longer; it is known until the state of the training says that it has stopped."""


def _gang_rank(pod: ObjectInJson, annotations: Mapping[str, str], gone: float | None) -> GangRank:
    """Return what a pod says; `gone` is the time at which it was seen to exist no longer."""
    meta, rank, checks = pod["metadata"], rank_of(pod), PREFLIGHT in annotations
    if gone is not None and rank.is_running:
        rank = Rank(started=rank.started, ended=gone)
    return GangRank(
        pod=f"{meta['namespace']}/{meta['name']}",
        holder_uid=holder_uid_of(meta),
        version=int(meta.get("resourceVersion") or 0),
        rank=rank,
        plan=read_plan(annotations),
        node=pod["spec"].get("nodeName") or "",
        devices=(*allocations_of(pod), *claimed_in(pod)) if checks else (),
        checks=checks_of(pod) if checks else {},
        is_gone=gone is not None,
    )


def _is_earlier(now: TrainingState | None, before: TrainingState | None) -> bool:
    """Return whether a state is one of earlier, as after a rewind."""
    if before is None:
        return False
    return now is None or (now.attempt, now.stops, now.since) < (
        before.attempt,
        before.stops,
        before.since,
    )


class PodTraining(msgspec.Struct, frozen=True, kw_only=True):
    """The training of a pod, as its life depends on it."""

    state: TrainingState | None
    """None while it is not known, or nothing has been written yet."""
    problem: str = ""
    """Why the pod does not train; empty if it does."""


class Trainings:
    """The ranks of all trainings, and their holders."""

    def __init__(self) -> None:
        self._ranks: defaultdict[HolderKey, dict[str, GangRank]] = defaultdict(dict)
        """By the uids of the pods."""
        self._holder_of: dict[str, HolderKey] = {}
        """By the uid of a pod."""
        self.holders: dict[HolderKey, Holder] = {}
        self.kinds: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        """Set once a pod has named a holder of the kind."""
        self._wake: Callable[[str], object] = str
        self._wall: Callable[[], float] = float
        self._changed: Callable[[HolderKey], None] = lambda _: None

    def listen(self, wake: Callable[[str], object], wall: Callable[[], float]) -> None:
        """Call `wake` with the namespace and name of each pod whose training has changed; `wall` is the time of day."""
        self._wake, self._wall = wake, wall

    def attend(self, changed: Callable[[HolderKey], None]) -> None:
        """Call `changed` with each training whose pods, or whose holder, have changed."""
        self._changed = changed

    def see(
        self, uid: str, annotations: Mapping[str, str] | None, raw: bytes, *, is_gone: bool
    ) -> None:
        """Note a pod that exists, or no longer exists."""
        if annotations is None or not (STEPS in annotations or PREFLIGHT in annotations):
            if is_gone and uid in self._holder_of:
                self._lose(uid)
            return
        pod: ObjectInJson = orjson.loads(raw)
        meta = pod["metadata"]
        key = holder_of(meta)
        if key is None:
            return
        with suppress(ExpressionError):  # the controller that plays the pod warns of it
            rank = _gang_rank(pod, annotations, self._wall() if is_gone else None)
            self._holder_of[uid] = key
            before = self._ranks[key].get(uid)
            self._ranks[key][uid] = rank
            self.kinds[key.kind].set()
            if rank.checks and (before is None or before.checks != rank.checks):
                self._note_checks(key)
            if is_gone:
                self._forget_gone(key, self.holders.get(key))
            self._changed(key)

    def _note_checks(self, key: HolderKey) -> None:
        """Wake the pods whose checks waited for others, once all are there."""
        holder, there = self.holders.get(key), [*self.peers(key)]
        if holder is not None and sum(bool(each.checks) for each in there) >= holder.size:
            for each in there:
                self._wake(each.pod)

    def _lose(self, uid: str) -> None:
        """Note that a pod is gone, of which nothing more is known."""
        key = self._holder_of[uid]
        if (found := self._ranks[key].get(uid)) is not None:
            if found.rank.is_running:
                found.rank = Rank(started=found.rank.started, ended=self._wall())
            found.is_gone = True
            self._forget_gone(key, self.holders.get(key))
            self._changed(key)

    def hold(self, key: HolderKey, holder: Holder | None) -> None:
        """Note what a Job or JobSet says; None if it exists no longer."""
        before = self.holders.get(key)
        if holder is not None and before is not None:
            is_back = _is_earlier(holder.state, before.state) or holder.uid != before.uid
            restored = holder.version if is_back else before.restored
            holder = replace(holder, restored=restored)
        if holder is None:
            self.holders.pop(key, None)
        else:
            self.holders[key] = holder
        if key not in self._ranks:
            return
        known = (before.state, before.size) if before is not None else None
        if known != ((holder.state, holder.size) if holder is not None else None):
            self._forget_gone(key, holder)
            for each in tuple(self._ranks[key].values()):
                self._wake(each.pod)
        self._changed(key)

    def _forget_gone(self, key: HolderKey, holder: Holder | None) -> None:
        """Forget the pods that are gone, once the state says that."""
        if holder is not None and holder.state is not None and holder.state.phase == "Running":
            return
        ranks = self._ranks[key]
        for uid in [uid for uid, each in ranks.items() if each.is_gone]:
            del ranks[uid], self._holder_of[uid]
        if not ranks:
            del self._ranks[key]

    def ranks(self, key: HolderKey) -> Collection[GangRank]:
        """Return the pods of a training, also those that are gone, but none of an earlier Job with the name of its Job."""
        ranks = self._ranks[key].values() if key in self._ranks else ()
        holder = self.holders.get(key)
        if holder is None:
            return ranks
        return [each for each in ranks if each.holder_uid in ("", holder.uid)]

    def peers(self, key: HolderKey | None) -> Iterator[GangRank]:
        """Yield the pods of a gang that exist, and have not ended."""
        for each in self.ranks(key) if key is not None else ():
            if not each.is_gone and (each.rank.is_running or each.rank.ended is None):
                yield each

    def of(self, pod: ObjectInJson) -> PodTraining | None:
        """Return the training of a pod; None if it is of none.

        Raises ExpressionError where its annotations cannot be read.
        """
        annotations: Mapping[str, str] = pod["metadata"].get("annotations") or {}
        if read_plan(annotations) is None:
            return None
        key = holder_of(pod["metadata"])
        if key is None:
            return PodTraining(state=None, problem=_ALONE)
        holder = self.holders.get(key)
        return PodTraining(state=None if holder is None else holder.state)
