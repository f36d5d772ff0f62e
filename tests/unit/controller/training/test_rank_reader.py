"""What a pod says of its part in a training."""

from math import inf
from typing import Any

from kwokctl.controller.known_trainings.rank_reader import (
    HolderKey,
    checks_of,
    holder_of,
    rank_of,
)
from kwokctl.expr.duration import parse_time
from kwokctl.training.check_times import CheckTime
from kwokctl.training.training_course import Rank

BEGIN, END = "2026-01-02T03:04:05Z", "2026-01-02T03:05:05Z"
T0, T1 = parse_time(BEGIN), parse_time(END)
RUNNING: dict[str, Any] = {"running": {"startedAt": BEGIN}}
OVER: dict[str, Any] = {"terminated": {"startedAt": BEGIN, "finishedAt": END, "exitCode": 134}}


def pod(state: dict[str, Any], *, phase: str = "Running", **meta: Any) -> Any:
    last = meta.pop("last", {})
    status = {"name": "main", "state": state, "lastState": last}
    return {
        "metadata": {"namespace": "ns", "name": "p", **meta},
        "spec": {"containers": [{"name": "main"}, {"name": "side"}]},
        "status": {
            "phase": phase,
            "containerStatuses": [{"name": "side", "state": OVER, "lastState": {}}, status],
        },
    }


def owner(kind: str, name: str, *, controller: bool = True) -> dict[str, Any]:
    return {"kind": kind, "name": name, "controller": controller}


def test_the_job_set_keeps_the_state_else_the_job_that_controls_the_pod() -> None:
    owners = [owner("Thing", "t"), owner("Job", "other", controller=False), owner("Job", "j")]
    label = {"jobset.sigs.k8s.io/jobset-name": "s"}
    assert holder_of(pod({}, ownerReferences=owners)["metadata"]) == HolderKey(
        "jobs.batch", "ns", "j"
    )
    job_set = HolderKey("jobsets.jobset.x-k8s.io", "ns", "s")
    assert holder_of(pod({}, ownerReferences=owners, labels=label)["metadata"]) == job_set
    assert holder_of(pod({}, ownerReferences=owners[:2])["metadata"]) is None


def test_a_rank_does_what_its_first_container_does() -> None:
    assert rank_of(pod(RUNNING)) == Rank(started=T0, is_running=True)
    assert rank_of(pod(OVER)) == Rank(started=T0, ended=T1)
    assert rank_of(pod({"waiting": {"reason": "CrashLoopBackOff"}}, last=OVER)) == Rank(
        started=T0, ended=T1
    )
    assert rank_of(pod({"waiting": {"reason": "ContainerCreating"}})) == Rank()
    assert rank_of({"metadata": {}, "spec": {"containers": [{"name": "main"}]}}) == Rank()


def test_a_container_that_was_started_again_says_when_it_had_ended() -> None:
    again = {"running": {"startedAt": END}}
    assert rank_of(pod(again, last=OVER)) == Rank(started=T1, ended=T1, is_running=True)


def test_a_pod_that_is_told_to_end_has_left_at_that_time() -> None:
    going = pod(RUNNING, deletionTimestamp=END, deletionGracePeriodSeconds=30)
    assert rank_of(going) == Rank(started=T0, ended=T1 - 30)


def test_success_is_that_of_the_pod_too() -> None:
    done = {"terminated": {**OVER["terminated"], "exitCode": 0}}
    assert rank_of(pod(done)).has_succeeded
    assert not rank_of(pod(done, phase="Failed")).has_succeeded


def test_its_pace_is_that_of_its_present_run() -> None:
    def paced(run: float) -> Rank:
        pace = f'{{"main":{{"run":{int(run)},"since":{T0 + 7},"speed":0.5}}}}'
        return rank_of(pod(RUNNING, annotations={"kwokctl.dev/progress": pace}))

    assert paced(T0) == Rank(started=T0, is_running=True, speed=0.5, paced=T0 + 7)
    assert paced(T0 - 60) == Rank(started=T0, is_running=True)


def test_a_check_lasts_until_it_fails() -> None:
    passed = {"terminated": {**OVER["terminated"], "exitCode": 0, "startedAt": END}}
    states = {"a": RUNNING, "b": OVER, "c": passed, "d": {"waiting": {}}}
    statuses = [{"name": name, "state": state} for name, state in states.items()]
    statuses.append({"name": "e", "lastState": OVER, "state": RUNNING})
    over = CheckTime(parse_time(OVER["terminated"]["startedAt"]), T1)
    assert checks_of({"status": {"initContainerStatuses": statuses}}) == {
        "a": (CheckTime(T0, inf),),
        "b": (over,),
        "c": (CheckTime(T1, inf),),
        "e": (over, CheckTime(T0, inf)),
    }
