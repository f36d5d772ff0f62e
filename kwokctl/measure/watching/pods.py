"""Turns what is seen of pods into lines: only the fields of the record are decoded, at any rate."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

import msgspec

from kwokctl.fleet.gangs import GangAnnotations, SchedulingGroup, gang_of
from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.measure.record.record_lines import PodChange, PodGone, PodSeen, PodShape
from kwokctl.measure.watching.budgets import BudgetTracker
from kwokctl.measure.watching.interruptions import EndingPod, PodInterruptions, SeenContainer
from kwokctl.measure.watching.numbered_texts import Emit, Texts
from kwokctl.measure.watching.other_pods import OtherPods
from kwokctl.measure.watching.requests import RequestingSpec, text_of_requests

_SCHEDULED = "PodScheduled"
_TARGET = "DisruptionTarget"
"""The condition of a pod that is to end before its time."""
_ENDED = ("Succeeded", "Failed")
_LONGEST_MESSAGE = 400
MOST_SHAPES = 100_000
"""Shapes that are known at a time: each Job has its own, and who follows a cluster for days sees millions."""


class OwnerRef(msgspec.Struct, gc=False):
    """A reference to an owner."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


NO_OWNER = OwnerRef()


class ChangingMetadata(Metadata, rename="camel", gc=False):
    """The metadata that changes."""

    deletion_timestamp: str | None = None


class WholeMetadata(Metadata, rename="camel", gc=False):
    """The metadata that is recorded once."""

    creation_timestamp: str | None = None
    labels: dict[str, str] | None = None
    owner_references: list[OwnerRef] | None = None

    @property
    def controller(self) -> OwnerRef:
        """The owner that makes and deletes this object; else its first owner, or none."""
        owners = self.owner_references or ()
        return next((o for o in owners if o.controller), owners[0] if owners else NO_OWNER)

    @property
    def created(self) -> int:
        """Its `creationTimestamp` in seconds since 1970; 0 without one."""
        if not self.creation_timestamp:
            return 0
        return int(datetime.fromisoformat(self.creation_timestamp).timestamp())


class SeenCondition(msgspec.Struct, gc=False):
    """A condition of an object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None


class _Status(msgspec.Struct, rename="camel", gc=False):
    phase: str = ""
    reason: str | None = None
    conditions: list[SeenCondition] | None = None
    container_statuses: list[SeenContainer] | None = None
    init_container_statuses: list[SeenContainer] | None = None


class _Spec(msgspec.Struct, rename="camel", gc=False):
    node_name: str = ""


class ChangingPod(msgspec.Struct, gc=False):
    """The fields of a pod that change."""

    metadata: ChangingMetadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


class _PodMetadata(WholeMetadata, gc=False):
    annotations: GangAnnotations | None = None


class _WholeSpec(RequestingSpec, TypedDict, total=False):
    priority: int | None
    schedulingGroup: SchedulingGroup | None


class _WholePod(msgspec.Struct, gc=False):
    metadata: _PodMetadata
    spec: _WholeSpec = {}


_whole = msgspec.json.Decoder(_WholePod).decode


class _Known(msgspec.Struct, gc=False):
    """The last recorded state of a pod."""

    number: int
    node: str
    phase: str
    conditions: int
    message: int
    going: bool


class PodTracker:
    """Writes a line for each change of the recorded fields of a pod."""

    plural = "pods"

    def __init__(
        self,
        emit: Emit,
        texts: Texts,
        *,
        labels: Sequence[str],
        takes_existing: bool,
        gang_label: str = "",
        budgets: BudgetTracker | None = None,
    ) -> None:
        """Write lines by `emit`; record the values of `labels`, and with `takes_existing` pods of before.

        `gang_label` is the key of a label, chosen by the user, whose value is the name of a pod's gang. `budgets` is shown each pod that
        is to be deleted.
        """
        self.decode = msgspec.json.Decoder(ChangingPod).decode
        self._emit = emit
        self._texts = texts
        self._labels = labels
        self._takes_existing = takes_existing
        self._gang_label = gang_label
        self._budgets = budgets
        self._has_begun = False
        self._known: dict[str, _Known] = {}
        self._others = OtherPods(emit, texts)
        """The pods that were there before, and do not count."""
        self._interruptions = PodInterruptions(emit, texts)
        self._shapes: dict[tuple[object, ...], int] = {}
        self._shape_count = 0
        self._count = 0

    def begin(self) -> None:
        """Take pods that come from now on for those of the run."""
        self._has_begun = True
        self._others.begin()

    def see(self, pod: ChangingPod, raw: bytes, time: int, *, listed: bool) -> None:
        """Note what a pod is like; `raw` is its JSON."""
        if self._budgets is not None and pod.metadata.deletion_timestamp is not None:
            is_old = listed or not self._has_begun
            self._budgets.pod_ends(pod.metadata.uid, raw, time, is_old=is_old)
        known = self._known.get(pod.metadata.uid)
        if known is None:
            self._first(pod, raw, time, listed=listed)
            return
        status = pod.status
        self._note_interruptions(pod, known.number, raw, time, is_old=known.phase in _ENDED)
        conditions, message = self._conditions(status.conditions)
        node, phase = pod.spec.node_name, status.phase
        going = pod.metadata.deletion_timestamp is not None
        if (
            known.phase == phase
            and known.conditions == conditions
            and known.node == node
            and known.message == message
            and known.going is going
        ):
            return
        known.node, known.phase, known.conditions = node, phase, conditions
        known.message, known.going = message, going
        self._emit(PodChange(time, known.number, node, phase, conditions, message, going))

    def gone(self, uid: str, time: int) -> None:
        """Note that a pod exists no longer."""
        self._interruptions.forget(uid)
        known = self._known.pop(uid, None)
        if known is None:
            self._others.gone(uid, time)
            return
        self._emit(PodGone(time, known.number))

    def _first(self, pod: ChangingPod, raw: bytes, time: int, *, listed: bool) -> None:
        uid = pod.metadata.uid
        is_new = self._has_begun and not listed
        if uid in self._others or not (self._has_begun or self._takes_existing):
            is_old = uid not in self._others or self._others.is_over(uid)
            self._note_interruptions(pod, 0, raw, time, is_old=is_old)
            is_over = pod.status.phase in _ENDED
            self._others.see(uid, pod.spec.node_name, raw, time, is_over=is_over)
            return
        whole = _whole(raw)
        shape = self._shape(whole)
        conditions, message = self._conditions(pod.status.conditions)
        self._count += 1
        known = _Known(
            self._count, pod.spec.node_name, pod.status.phase, conditions, message,
            pod.metadata.deletion_timestamp is not None,
        )  # fmt: skip
        self._known[uid] = known
        named = whole.metadata
        self._emit(PodSeen(
            time, known.number, uid, named.namespace, named.name, shape, known.node, known.phase,
            conditions, named.created, not is_new,
        ))  # fmt: skip
        if message or known.going:
            self._emit(PodChange(
                time, known.number, known.node, known.phase, conditions, message, known.going
            ))  # fmt: skip
        self._note_interruptions(pod, known.number, raw, time, is_old=not is_new)

    def _note_interruptions(
        self, pod: ChangingPod, number: int, raw: bytes, time: int, *, is_old: bool = False
    ) -> None:
        """Note restarts, and why a pod ends: who makes it end, and what its kubelet says of that.

        What `is_old` was so before, or is about a pod that had ended already, as when its node is drained.
        """
        uid, node, status = pod.metadata.uid, pod.spec.node_name, pod.status
        for containers in (status.container_statuses, status.init_container_statuses):
            if containers:
                self._interruptions.restarted(uid, number, node, containers, time, is_old=is_old)
        target = next((c.reason for c in status.conditions or () if _is_target(c)), None)
        if target or status.reason:
            reason = " ".join(filter(None, (target, status.reason)))
            ending = EndingPod(number, node, reason, raw)
            self._interruptions.ends(uid, ending, time, is_old=is_old)

    def _shape(self, pod: _WholePod) -> int:
        owner, notes = pod.metadata.controller, pod.metadata.annotations
        found = pod.metadata.labels or {}
        gang = gang_of(found, notes, pod.spec.get("schedulingGroup"), self._gang_label)
        labels = {name: found[name] for name in self._labels if name in found}
        requests = text_of_requests(pod.spec)
        priority = pod.spec.get("priority") or 0
        key = (owner.uid, priority, requests, gang, *labels.items())
        number = self._shapes.get(key)
        if number is None:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
            self._shape_count += 1
            number = self._shapes[key] = self._shape_count
            self._emit(PodShape(
                number, owner.kind, owner.name, owner.uid, priority, requests, labels, gang
            ))  # fmt: skip
        return number

    def _conditions(self, conditions: list[SeenCondition] | None) -> tuple[int, int]:
        """Return the texts of the true conditions, and of why the pod cannot be scheduled."""
        if not conditions:
            return 0, 0
        message = 0
        true = []
        for each in conditions:
            if each.status == "True":
                true.append(each.type)
            elif each.type == _SCHEDULED and each.status == "False":
                text = each.message or each.reason or "unknown"
                message = self._texts.number(text[:_LONGEST_MESSAGE])
        return self._texts.number(",".join(true)) if true else 0, message


def _is_target(condition: SeenCondition) -> bool:
    return condition.type == _TARGET and condition.status == "True"
