"""What faults make of programs, in virtual time: they fail, hang, are slow, or compute what is wrong."""

import json
from typing import Any

import pytest

from kwokctl.controller.lifecycle.pod_faults.hits import WorkloadHit
from kwokctl.faults.overlays.open_entries import WorkloadEffect
from tests.support.pod_lives import BEGIN, Life, pod

PROGRAM = "kwokctl.dev/program"
STARTED = 1.0
"""Seconds after the pod is bound in which its container starts."""


def hit(effect: str, since: float = 0.0, *, struck: bool = False, **more: Any) -> WorkloadHit:
    """Return a hit that begins some seconds after the pod was bound."""
    said = WorkloadEffect(effect=effect, **more)  # type: ignore[arg-type]  # a word of the parameters
    return WorkloadHit(
        key=f"{effect}-{since}", fault="f-1", since=BEGIN + since, effect=said, is_struck=struck
    )


def on_main(*hits: WorkloadHit) -> dict[str, Any]:
    return {"containers": {"main": hits}}


def running(text: str = "run=100s", **more: Any) -> Life:
    annotations = {PROGRAM: text, **more.pop("annotations", {})}
    return Life(pod(annotations=annotations, restartPolicy="Never", **more)).run(5)


def ended(life: Life) -> tuple[float, int]:
    """Return when the container has ended, in seconds after the pod was bound, and with which code."""
    at = next(at for at, word in life.seen if word in {"Error", "Completed", "Gone"})
    return at, life.container()["state"]["terminated"]["exitCode"]


FAIL: dict[str, Any] = {"exit_code": 134, "reason": "Gone", "message": "fell off the bus"}


def test_a_program_fails_in_the_words_of_the_fault_after_its_time() -> None:
    life = running().hit(**on_main(hit("fail", 5, after="3s", **FAIL))).run(2.9)
    assert "running" in life.container()["state"]

    life.run(0.2)
    end = life.container()["state"]["terminated"]
    assert (end["exitCode"], end["reason"], end["message"]) == (134, "Gone", "fell off the bus")
    assert ended(life) == (8.0, 134)
    life.run(1)
    assert life.status["phase"] == "Failed"


def test_a_program_that_is_done_before_a_fault_shows_has_succeeded() -> None:
    life = running("run=6s").hit(**on_main(hit("fail", 5, after="2s", **FAIL))).run(5)
    assert ended(life) == (7.0, 0)


@pytest.mark.parametrize(("policy", "restarts"), [("Always", 3), ("OnFailure", 3), ("Never", 0)])
def test_a_failure_comes_again_with_the_back_off_of_a_kubelet(policy: str, restarts: int) -> None:
    body = pod(annotations={PROGRAM: "run=1h"}, restartPolicy=policy)
    life = Life(body).run(5).hit(**on_main(hit("fail", 5, **FAIL))).run(40)
    # It ends at 5, is started at once, and ends 1 s later: again after 10 s, and after 20 s.
    assert life.container()["restartCount"] == restarts

    life.hit().run(600)
    assert life.status["phase"] == ("Failed" if policy == "Never" else "Running")
    assert life.container()["ready"] is (policy != "Never")


def test_the_first_of_several_failures_counts() -> None:
    hits = (hit("fail", 5, after="9s", exit_code=1), hit("fail", 6, after="2s", exit_code=2))
    assert ended(running().hit(**on_main(*hits)).run(20)) == (8.0, 2)


def test_a_program_that_hangs_goes_on_where_it_was_when_the_fault_is_over() -> None:
    life = running("run=10s").hit(**on_main(hit("hang", 5))).run(3600)
    assert "running" in life.container()["state"]
    assert life.container()["ready"]

    life.hit().run(5)
    assert "running" in life.container()["state"]
    life.run(2)
    # It had run for 4 s of its 10 s, and the pod is 3605 s old.
    assert ended(life) == (3605.0 + 6.0, 0)


def test_a_watchdog_ends_a_program_that_hangs() -> None:
    life = running(annotations={"kwokctl.dev/watchdog": "1m"}).hit(**on_main(hit("hang", 5)))
    life.run(59.9)
    assert "running" in life.container()["state"]
    life.run(0.2)
    assert ended(life) == (65.0, 134)
    end = life.container()["state"]["terminated"]
    assert end["reason"] == "Error"
    assert "60000 milliseconds" in end["message"]


def test_a_watchdog_does_nothing_to_a_program_that_goes_on_in_time() -> None:
    life = running("run=40s", annotations={"kwokctl.dev/watchdog": "1m"})
    life.hit(**on_main(hit("hang", 5))).run(55).hit().run(60)
    assert ended(life) == (41.0 + 55.0, 0)


def test_a_watchdog_waits_for_a_program_of_which_nothing_is_known() -> None:
    body = pod(annotations={"kwokctl.dev/watchdog": "1m"})
    life = Life(body).run(5).hit(**on_main(hit("hang", 5, exit_code=6))).run(60.5)
    assert life.container()["lastState"]["terminated"]["exitCode"] == 6
    assert life.container()["restartCount"] == 1


def test_a_program_goes_on_of_which_nothing_is_known_any_more() -> None:
    notes = {"kwokctl.dev/watchdog": "1h"}
    life = Life(pod(annotations=notes)).run(5).hit(**on_main(hit("hang", 5))).run(5)
    del life.pod["metadata"]["annotations"]["kwokctl.dev/watchdog"]
    life.hit().run(5)
    said = json.loads(life.pod["metadata"]["annotations"]["kwokctl.dev/progress"])
    assert said["main"] == {
        "run": BEGIN + STARTED, "since": BEGIN + 10, "lost": 5.0, "speed": 1.0
    }  # fmt: skip


def test_a_slow_program_takes_so_many_times_as_long_while_the_fault_is_open() -> None:
    life = running("run=24s").hit(**on_main(hit("slow", 5, factor=3.0))).run(30).hit().run(60)
    # 4 s at full speed, 30 s with a third of it, and 10 s that are left.
    assert ended(life) == (45.0, 0)


def test_a_slow_program_may_end_while_the_fault_is_open() -> None:
    life = running("run=10s").hit(**on_main(hit("slow", 5, factor=2.0))).run(60)
    assert ended(life) == (5.0 + 12.0, 0)


def test_nothing_is_written_while_nothing_changes() -> None:
    life = running().hit(**on_main(hit("slow", 5, factor=2.0), hit("slow", 20, factor=2.0))).run(5)
    assert not life.look().is_change
    assert life.look().due == BEGIN + 20

    life.hit().run(5)
    assert not life.look().is_change


def test_two_faults_slow_a_program_together_and_each_can_be_over_alone() -> None:
    both = hit("slow", 5, factor=2.0), hit("slow", 15, factor=5.0)
    life = running("run=100s").hit(**on_main(*both)).run(20)
    # 4 s, 10 s at a half, and 10 s at a tenth: 10 s of the 100 s.
    life.hit(**on_main(both[1])).run(10).hit().run(200)
    # 10 s at a fifth: 12 s of the 100 s at 35 s.
    assert ended(life) == (35.0 + 88.0, 0)


def test_a_fault_with_a_factor_below_one_makes_no_program_faster() -> None:
    assert ended(running("run=10s").hit(**on_main(hit("slow", 2, factor=0.0))).run(60)) == (11.0, 0)


def test_a_run_that_is_over_has_lost_no_time_for_the_next_one() -> None:
    body = pod(annotations={PROGRAM: "run=20s"}, restartPolicy="Always")
    life = Life(body).run(5).hit(**on_main(hit("slow", 5, factor=2.0))).run(10).hit().run(300)
    starts = [at for at, word in life.seen if word == "Running"]
    assert starts[0] == STARTED
    # The first run loses 5 s; the second follows at once, and takes its 20 s.
    ends = [at for at, word in life.seen if word == "Completed"]
    assert ends[:2] == [26.0, 46.0]


def test_a_fault_that_begins_when_a_program_is_done_leaves_nothing_behind() -> None:
    body = pod(annotations={PROGRAM: "run=4s"}, restartPolicy="Never")
    hits = hit("hang", 5, gang=True), hit("corrupt", 5, gang=True)
    life = Life(body).hit(**on_main(*hits)).run(10)
    assert life.strikes == []
    assert ended(life) == (5.0, 0)
    assert "kwokctl.dev/progress" not in life.pod["metadata"]["annotations"]


def test_a_wrong_result_is_said_by_an_event_and_by_an_annotation() -> None:
    life = running("run=10s").hit(**on_main(hit("corrupt", 6))).run(3).hit().run(20)
    assert ended(life) == (11.0, 0)
    wrong = [each for each in life.events if each.reason == "WrongResult"]
    assert [(each.type, each.message) for each in wrong] == [
        ("Warning", "The result of container main is wrong, by fault 'f-1'")
    ]
    said = json.loads(life.pod["metadata"]["annotations"]["kwokctl.dev/progress"])
    assert said["main"]["wrong"] == "f-1"


@pytest.mark.parametrize(("text", "since"), [("run=10s", 11.5), ("run=10s exit=3", 6)])
def test_a_result_is_not_wrong_that_was_there_before_or_is_none(text: str, since: float) -> None:
    life = running(text).hit(**on_main(hit("corrupt", since))).run(20)
    assert "WrongResult" not in life.reasons()


@pytest.mark.parametrize("effect", ["hang", "slow", "corrupt"])
def test_nothing_happens_to_a_program_of_which_nothing_is_known(effect: str) -> None:
    life = Life(pod(restartPolicy="Never")).hit(**on_main(hit(effect, factor=9.0))).run(60)
    assert ended(life) == (2.0, 0)
    assert "kwokctl.dev/progress" not in life.pod["metadata"]["annotations"]


@pytest.mark.parametrize(("since", "end"), [(4.5, (4.5, 134)), (0.9, (101.0, 0))])
def test_what_hits_the_gang_hits_only_those_that_ran_then(
    since: float, end: tuple[float, int]
) -> None:
    body = pod(annotations={PROGRAM: "run=100s"}, restartPolicy="Never")
    struck = hit("fail", since, struck=True, after="9s", **FAIL)
    assert ended(Life(body).run(3).hit(**on_main(struck)).run(200)) == end


def test_the_gang_is_told_when_a_fault_shows_and_not_before() -> None:
    fail = hit("fail", 5, after="3s", gang=True, **FAIL)
    hang = hit("hang", 20, gang=True)
    life = running().hit(**on_main(fail, hang))
    outcome = life.look()
    assert (outcome.strikes, outcome.due) == ((), BEGIN + 8)

    life.now = BEGIN + 8
    assert life.look().strikes == ((fail, BEGIN + 8),)

    life = running().hit(**on_main(hang)).run(15)
    assert [(each.effect.effect, at) for each, at in life.strikes] == [("hang", BEGIN + 20)]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"main": 1}', '{"main": {"run": "x"}}'])
def test_an_annotation_that_is_none_is_as_if_it_were_not_there(text: str) -> None:
    body = pod(
        annotations={PROGRAM: "run=10s", "kwokctl.dev/progress": text}, restartPolicy="Never"
    )
    assert ended(Life(body).run(60)) == (11.0, 0)
