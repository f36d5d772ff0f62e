"""Which pods train together, and who is told when that changes."""

from typing import Any

import orjson

from kwokctl.controller.known_trainings.rank_reader import HolderKey
from kwokctl.controller.known_trainings.trainings import Holder, Trainings
from kwokctl.training.plan import STEP_TIME, STEPS, TrainingPlan
from kwokctl.training.preflight import PREFLIGHT
from kwokctl.training.state import TrainingState

KEY = HolderKey("jobs.batch", "ns", "j")
PLAN = TrainingPlan(steps=5, step_time=1)
STEPPING = {STEPS: "5", STEP_TIME: "1s"}
CHECKING = {PREFLIGHT: "check=all-reduce"}
WAITING = TrainingState.waiting(PLAN, 0)


def pod(name: str, notes: dict[str, str] | None, *, checks: bool = False, job: str = "u") -> Any:
    owner = {"kind": "Job", "name": "j", "uid": job, "controller": True}
    meta: dict[str, Any] = {
        "namespace": "ns",
        "name": name,
        "uid": name,
        "ownerReferences": [owner],
    }
    if notes is not None:
        meta["annotations"] = notes
    state = {"running": {"startedAt": "2026-01-02T03:04:05Z"}}
    status = {"initContainerStatuses": [{"name": "check", "state": state}]} if checks else {}
    return {
        "metadata": meta,
        "spec": {"nodeName": "n", "containers": [{"name": "main"}]},
        "status": status,
    }


class Known:
    """Trainings, and what they have told."""

    def __init__(self) -> None:
        self.trainings = Trainings()
        self.woken: list[str] = []
        self.changed: list[HolderKey] = []
        self.trainings.listen(self.woken.append, lambda: 77.0)
        self.trainings.attend(self.changed.append)

    def see(
        self, name: str, notes: dict[str, str] | None, *, is_gone: bool = False, **fields: Any
    ) -> None:
        found = pod(name, notes, **fields)
        self.trainings.see(name, notes, orjson.dumps(found), is_gone=is_gone)

    def hold(self, state: TrainingState | None, size: int = 2, version: int = 1) -> None:
        held = Holder(uid="u", version=version, created=0, size=size, state=state)
        self.trainings.hold(KEY, held)

    @property
    def pods(self) -> list[str]:
        return [each.pod for each in self.trainings.ranks(KEY)]


def test_a_pod_without_the_annotation_is_of_no_training() -> None:
    known = Known()
    known.see("a", None)
    known.see("b", {"other": "x"})
    assert (known.pods, known.changed) == ([], [])
    assert not known.trainings.kinds[KEY.kind].is_set()
    assert known.trainings.of(pod("b", {"other": "x"})) is None


def test_the_pods_of_a_job_train_together_and_its_state_is_theirs() -> None:
    known = Known()
    known.see("a", STEPPING)
    known.see("b", STEPPING)
    assert (known.pods, known.changed) == (["ns/a", "ns/b"], [KEY, KEY])
    assert known.trainings.kinds[KEY.kind].is_set()
    found = known.trainings.of(pod("a", STEPPING))
    assert found is not None
    assert found.state is None
    known.hold(WAITING)
    found = known.trainings.of(pod("a", STEPPING))
    assert found is not None
    assert found.state == WAITING
    assert known.woken == ["ns/a", "ns/b"]


def test_pods_are_looked_at_when_the_state_changes_and_not_for_other_changes_of_the_job() -> None:
    known = Known()
    known.see("a", STEPPING)
    known.hold(WAITING)
    known.hold(WAITING)
    assert known.woken == ["ns/a"]
    known.hold(WAITING.started(5, ranks=1, speed=1))
    assert known.woken == ["ns/a"] * 2


def test_a_pod_that_is_gone_is_known_until_the_state_says_that_it_stopped() -> None:
    known = Known()
    known.hold(running := WAITING.started(5, ranks=2, speed=1))
    known.see("a", STEPPING)
    known.see("b", STEPPING)
    known.see("b", STEPPING, is_gone=True)
    known.see("a", None, is_gone=True)  # as a list says it
    assert known.pods == ["ns/a", "ns/b"]
    assert [*known.trainings.peers(KEY)] == []
    known.hold(running.stopped(9))
    assert known.pods == []


def test_pods_wait_for_the_last_one_to_be_checked() -> None:
    known = Known()
    known.hold(None)
    known.see("a", CHECKING, checks=True)
    assert known.woken == []
    known.see("b", CHECKING, checks=True)
    assert known.woken == ["ns/a", "ns/b"]
    known.see("b", CHECKING, checks=True)
    assert known.woken == ["ns/a", "ns/b"]


def test_pods_that_go_after_their_job_are_forgotten() -> None:
    known = Known()
    known.see("a", STEPPING)
    known.hold(WAITING.started(5, ranks=1, speed=1))
    known.trainings.hold(KEY, None)
    assert known.pods == ["ns/a"]
    known.see("a", STEPPING, is_gone=True)
    assert known.pods == []


def test_a_pod_without_a_job_does_not_train_and_is_told_so() -> None:
    known = Known()
    alone = pod("a", STEPPING)
    del alone["metadata"]["ownerReferences"]
    found = known.trainings.of(alone)
    assert found is not None
    assert "belongs to no Job or JobSet" in found.problem


def test_what_is_known_of_a_pod_is_stale_when_the_state_went_back_later() -> None:
    known = Known()
    running = WAITING.started(5, ranks=1, speed=1)
    known.see("a", STEPPING)
    for version, state in ((3, running), (4, running.stopped(9)), (5, running.stopped(9))):
        known.hold(state, version=version)
    [rank] = known.trainings.ranks(KEY)
    assert not known.trainings.holders[KEY].is_stale(rank)
    known.hold(running, version=6)
    known.hold(running.paced(8, 0.5), version=7)
    assert known.trainings.holders[KEY].restored == 6
    assert known.trainings.holders[KEY].is_stale(rank)
    rank.version = 6
    assert not known.trainings.holders[KEY].is_stale(rank)


def test_a_pod_that_is_gone_without_a_word_has_stopped_when_that_was_seen() -> None:
    known = Known()
    known.hold(WAITING.started(5, ranks=1, speed=1))
    running = pod("a", STEPPING)
    state = {"running": {"startedAt": "2026-01-02T03:04:05Z"}}
    running["status"] = {"containerStatuses": [{"name": "main", "state": state}]}
    known.trainings.see("a", STEPPING, orjson.dumps(running), is_gone=True)
    [rank] = known.trainings.ranks(KEY)
    assert (rank.rank.is_running, rank.rank.ended) == (False, 77)


def test_pods_of_an_earlier_job_of_the_name_do_not_train_with_those_of_the_next() -> None:
    known = Known()
    known.see("a", STEPPING, job="earlier")
    known.see("b", STEPPING)
    known.hold(None)
    assert known.pods == ["ns/b"]
