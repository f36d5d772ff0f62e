"""Pods that are deleted though a PodDisruptionBudget protects them."""

from typing import Any

import msgspec
import pytest

from kwokctl.measure.record.incident_lines import GuardedPodEnds
from kwokctl.measure.record.record_lines import Lines
from kwokctl.measure.watching.budgets import BudgetTracker
from kwokctl.measure.watching.numbered_texts import Texts
from kwokctl.measure.watching.pods import PodTracker

WEB = {"matchLabels": {"app": "web"}}
MOMENT = "2026-01-02T03:04:05Z"


class Seen:
    """A tracker of pods and one of budgets, and the lines of the second."""

    def __init__(self, selector: Any = WEB, *, namespace: str = "default") -> None:
        self.lines: list[Lines] = []
        self.budgets = BudgetTracker(self._emit)
        self.pods = PodTracker(
            self._emit, Texts(self._emit), labels=(), takes_existing=False, budgets=self.budgets
        )
        self.budget("guard", selector, namespace)
        self.pods.begin()

    def _emit(self, line: Lines) -> None:
        if isinstance(line, GuardedPodEnds):
            self.lines.append(line)

    def budget(self, name: str, selector: Any, namespace: str = "default") -> None:
        named = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
        raw = msgspec.json.encode({"metadata": named, "spec": {"selector": selector}})
        self.budgets.see(self.budgets.decode(raw), raw, 1, listed=True)

    def ends(self, time: int, *, listed: bool = False, **fields: Any) -> bytes:
        """Show a pod that is to be deleted; return its JSON."""
        raw = pod(deletionTimestamp=MOMENT, **fields)
        self.pods.see(self.pods.decode(raw), raw, time, listed=listed)
        return raw

    def gone(self, raw: bytes, time: int) -> None:
        self.pods.gone("u", time)
        self.budgets.pod_gone("u", raw, time)


def pod(
    *,
    labels: dict[str, str] | None = None,
    node: str = "n1",
    phase: str = "Running",
    conditions: Any = (),
    **metadata: Any,
) -> bytes:
    named = {"name": "web-1", "namespace": "default", "uid": "u", **metadata}
    named["labels"] = {"app": "web", "tier": "a"} if labels is None else labels
    status = {"phase": phase, "conditions": [*conditions]}
    return msgspec.json.encode({"metadata": named, "spec": {"nodeName": node}, "status": status})


def test_a_pod_of_a_budget_that_is_deleted_is_noted_once() -> None:
    seen = Seen()

    raw = seen.ends(3)
    seen.ends(4)
    seen.gone(raw, 5)

    assert seen.lines == [GuardedPodEnds(3, "default", "web-1", "guard")]


def test_a_pod_that_is_deleted_at_once_is_noted_when_it_is_gone() -> None:
    seen = Seen()

    seen.gone(pod(), 5)

    assert seen.lines == [GuardedPodEnds(5, "default", "web-1", "guard")]


def test_a_pod_of_a_name_that_comes_again_is_another_one() -> None:
    seen = Seen()
    for time in (3, 8):
        seen.gone(seen.ends(time), time + 1)

    assert [each.time for each in seen.lines if isinstance(each, GuardedPodEnds)] == [3, 8]


@pytest.mark.parametrize(
    "fields",
    [
        {"labels": {"app": "other"}},
        {"node": ""},
        {"phase": "Succeeded"},
        {"phase": "Failed"},
        {"conditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"listed": True},
    ],
)
def test_pods_that_nothing_protects_that_were_not_in_use_or_were_evicted_do_not_count(
    fields: dict[str, Any],
) -> None:
    seen = Seen()
    raw = seen.ends(3, **fields)
    seen.gone(raw, 4)

    assert seen.lines == []
    seen.gone(pod(conditions=[{"type": "DisruptionTarget", "status": "False"}]), 5)
    assert len(seen.lines) == 1


@pytest.mark.parametrize(
    ("selector", "is_met"),
    [
        ({}, True),
        (None, False),
        ({"matchLabels": {"app": "web", "tier": "b"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "x"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["x"]}]}, False),
        ({"matchExpressions": [{"key": "none", "operator": "In", "values": ["x"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]}, True),
        ({"matchExpressions": [{"key": "none", "operator": "NotIn", "values": ["x"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "none", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "none", "operator": "DoesNotExist"}]}, True),
        ({**WEB, "matchExpressions": [{"key": "none", "operator": "Exists"}]}, False),
    ],
)
def test_a_budget_protects_the_pods_of_its_selector(selector: Any, *, is_met: bool) -> None:
    seen = Seen(selector)
    seen.ends(3)

    assert bool(seen.lines) is is_met


def test_a_budget_protects_its_namespace_only_and_as_long_as_it_is_there() -> None:
    elsewhere = Seen(namespace="other")
    elsewhere.ends(3)
    assert elsewhere.lines == []

    seen = Seen()
    seen.budget("a-second", WEB)
    seen.budgets.gone("uid-guard", 2)
    seen.gone(pod(), 3)
    assert [each.budget for each in seen.lines if isinstance(each, GuardedPodEnds)] == ["a-second"]
