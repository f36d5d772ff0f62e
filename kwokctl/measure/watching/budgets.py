"""Finds out which pods are deleted though a PodDisruptionBudget protects them: only an eviction asks the budget.

The selector of a budget: https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/pod-disruption-budget-v1/
"""

from collections.abc import Mapping

import msgspec

from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.measure.record.incident_lines import GuardedPodEnds
from kwokctl.measure.watching.numbered_texts import Emit

_ENDED = ("Succeeded", "Failed")
_TARGET = "DisruptionTarget"
"""The condition of a pod that was evicted, preempted or given up: it says why the pod is to end."""
_Labels = Mapping[str, str]


class _Requirement(msgspec.Struct, gc=False):
    key: str
    operator: str
    values: list[str] | None = None

    def holds(self, labels: _Labels) -> bool:
        found, values = labels.get(self.key), self.values or ()
        if self.operator == "In":
            return found is not None and found in values
        if self.operator == "NotIn":
            return found is None or found not in values
        return (found is not None) == (self.operator == "Exists")


class _Selector(msgspec.Struct, gc=False, rename="camel"):
    match_labels: dict[str, str] | None = None
    match_expressions: list[_Requirement] | None = None

    def matches(self, labels: _Labels) -> bool:
        wanted = (self.match_labels or {}).items()
        if any(labels.get(key) != value for key, value in wanted):
            return False
        return all(each.holds(labels) for each in self.match_expressions or ())


class _BudgetSpec(msgspec.Struct, gc=False):
    selector: _Selector | None = None


class SeenBudget(msgspec.Struct, gc=False):
    """The fields of a PodDisruptionBudget that say which pods it protects: without a selector none."""

    metadata: Metadata
    spec: _BudgetSpec = msgspec.field(default_factory=_BudgetSpec)


class _PodMetadata(Metadata, gc=False):
    labels: dict[str, str] | None = None


class _PodSpec(msgspec.Struct, gc=False, rename="camel"):
    node_name: str = ""


class _Condition(msgspec.Struct, gc=False):
    type: str
    status: str


class _PodStatus(msgspec.Struct, gc=False):
    phase: str = ""
    conditions: list[_Condition] | None = None


class _Pod(msgspec.Struct, gc=False):
    metadata: _PodMetadata
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)
    status: _PodStatus = msgspec.field(default_factory=_PodStatus)

    @property
    def is_in_use(self) -> bool:
        """Whether it is on a node and has not ended, and no condition says why it is to end."""
        is_target = any(
            each.type == _TARGET and each.status == "True" for each in self.status.conditions or ()
        )
        return bool(self.spec.node_name) and self.status.phase not in _ENDED and not is_target


_pod = msgspec.json.Decoder(_Pod).decode


class BudgetTracker:
    """Knows the PodDisruptionBudgets, and writes a line for each pod of theirs that is to be deleted without an eviction."""

    plural = "poddisruptionbudgets"

    def __init__(self, emit: Emit) -> None:
        """Write lines by `emit`."""
        self.decode = msgspec.json.Decoder(SeenBudget).decode
        self._emit = emit
        self._budgets: dict[str, SeenBudget] = {}
        """By uid."""
        self._ending: set[str] = set()
        """The uids of pods that are to be deleted, and exist."""

    def begin(self) -> None:
        """Need nothing: budgets of before count as those of now."""

    def see(self, budget: SeenBudget, _raw: bytes, time: int, *, listed: bool) -> None:
        """Note whom a budget protects."""
        self._budgets[budget.metadata.uid] = budget

    def gone(self, uid: str, time: int) -> None:
        """Forget a budget."""
        self._budgets.pop(uid, None)

    def pod_ends(self, uid: str, raw: bytes, time: int, *, is_old: bool) -> None:
        """Note that a pod is to be deleted; what `is_old` was so before."""
        if uid not in self._ending:
            self._ending.add(uid)
            if not is_old:
                self._look_at(raw, time)

    def pod_gone(self, uid: str, raw: bytes, time: int) -> None:
        """Note that a pod exists no longer, with what it was like last: it may have been deleted at once."""
        if uid in self._ending:
            self._ending.discard(uid)
        else:
            self._look_at(raw, time)

    def _look_at(self, raw: bytes, time: int) -> None:
        if not self._budgets:
            return
        pod = _pod(raw)
        if not pod.is_in_use:
            return
        named, labels = pod.metadata, pod.metadata.labels or {}
        names = sorted(
            budget.metadata.name
            for budget in self._budgets.values()
            if budget.metadata.namespace == named.namespace
            and budget.spec.selector is not None
            and budget.spec.selector.matches(labels)
        )
        if names:
            self._emit(GuardedPodEnds(time, named.namespace, named.name, names[0]))
