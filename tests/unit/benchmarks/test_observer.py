from typing import Any

import msgspec
import pytest

from benchmarks.observer import Node, Pod, Seen
from kwokctl.kube.collections.watch import Event, EventType

TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def node(*, ready: str = "True", taints: tuple[Any, ...] = ()) -> Node:
    conditions = [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}]
    body = {
        "metadata": {"name": "node"},
        "spec": {"taints": taints},
        "status": {"conditions": conditions},
    }
    return msgspec.convert(body, Node)


def pod(phase: str, *, deleted: str | None = None) -> Pod:
    metadata = {"name": "pod", "deletionTimestamp": deleted}
    return msgspec.convert({"metadata": metadata, "status": {"phase": phase}}, Pod)


def changed(thing: Pod) -> Event[Pod]:
    return Event(EventType.MODIFIED, thing, b"")


@pytest.mark.parametrize(
    ("seen", "is_ready"),
    [
        (node(), True),
        (node(ready="Unknown"), False),
        (node(taints=(TAINT,)), False),
        (node(taints=({"key": "mine", "effect": "NoSchedule"},)), True),
        (pod("Running"), True),
        (pod("Pending"), False),
        (pod("Running", deleted="2026-11-21T00:00:00Z"), False),
    ],
)
def test_only_the_requested_objects_count_as_ready(seen: Node | Pod, is_ready: bool) -> None:
    assert seen.is_ready is is_ready


def test_what_is_deleted_neither_exists_nor_is_ready() -> None:
    seen = Seen()
    seen.note(changed(pod("Running")))
    seen.note(Event(EventType.DELETED, pod("Running"), b""))

    assert (seen.existing, seen.ready, seen.relapses) == (set(), set(), 0)


def test_falling_back_is_counted_but_not_being_deleted() -> None:
    seen = Seen()
    for thing in (pod("Running"), pod("Pending"), pod("Pending"), pod("Running")):
        seen.note(changed(thing))
    seen.note(changed(pod("Running", deleted="2026-11-21T00:00:00Z")))

    assert seen.relapses == 1
    assert (seen.existing, seen.ready) == ({"pod"}, set())


def test_a_listener_gets_the_state_of_each_object() -> None:
    states: list[str] = []
    seen = Seen(listener=lambda _name, state: states.append(state))
    for thing in (pod("Pending"), pod("Running"), pod("Running", deleted="now")):
        seen.note(changed(thing))
    seen.note(Event(EventType.DELETED, pod("Running"), b""))

    assert states == ["waiting", "", "going", ""]
