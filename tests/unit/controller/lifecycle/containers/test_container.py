"""The life of one container in virtual time."""

from itertools import pairwise
from typing import Any

import pytest

from tests.support.pod_lives import Life, pod


def test_a_crashing_container_backs_off_twice_as_long_each_time() -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": "run=2s exit=1"})).run(2000)

    starts = [at for at, word in life.seen if word == "Running"]
    between = [round(b - a) for a, b in pairwise(starts)]
    assert between == [2, 12, 22, 42, 82, 162, 302, 302, 302, 302, 302]
    assert life.container()["restartCount"] == 11
    assert life.container()["lastState"]["terminated"]["exitCode"] == 1
    assert "CrashLoopBackOff" in life.words()
    assert life.status["phase"] == "Running"


def test_the_end_is_shown_until_shortly_before_the_next_start() -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": "run=2s exit=1"})).run(40)

    shown = [(round(at, 1), word) for at, word in life.seen if 5 <= at <= 15]
    assert shown == [(5.0, "Error"), (14.8, "CrashLoopBackOff"), (15.0, "Running")]


def test_the_back_off_is_shown_throughout_as_by_earlier_kubelets() -> None:
    program = {"kwokctl.dev/program": "run=2s exit=1 back-off=throughout"}
    life = Life(pod(annotations=program)).run(40)

    shown = [(at, word) for at, word in life.seen if 5 <= at <= 15]
    assert shown == [(5.0, "Error"), (6.0, "CrashLoopBackOff"), (15.0, "Running")]


def test_another_image_is_started_at_once_and_its_back_off_begins_anew() -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": "run=2s exit=1"})).run(100)
    assert life.container()["restartCount"] == 4
    assert life.container()["state"].keys() == {"terminated"}

    life.pod["spec"]["containers"][0]["image"] = "other"
    life.pod["metadata"]["generation"] = 2
    life.run(1)
    assert life.container()["image"] == "other"
    assert life.container()["imageID"].startswith("docker.io/library/other@")
    assert "running" in life.container()["state"]
    life.run(30)
    starts = [at for at, word in life.seen if word == "Running" and at >= 100]
    assert [round(b - a) for a, b in pairwise(starts)] == [2, 12]


@pytest.mark.parametrize("policy", ["Always", "Never"])
def test_a_container_that_runs_is_restarted_for_another_image_whatever_its_policy(
    policy: str,
) -> None:
    life = Life(pod(restartPolicy=policy, annotations={"kwokctl.dev/program": "run=1h"})).run(10)
    life.pod["spec"]["containers"][0]["image"] = "other"
    life.run(1)

    assert life.container()["restartCount"] == 1
    assert life.container()["image"] == "other"
    assert life.container()["lastState"]["terminated"]["exitCode"] == 0
    assert "Container main definition changed, will be restarted" in {
        each.message for each in life.events
    }


def test_a_container_of_another_runtime_keeps_the_name_that_its_image_has_there() -> None:
    life = Life(pod()).run(10)
    status = life.container()
    status |= {"image": "docker.io/library/x:latest", "containerID": "containerd://1"}
    life.run(60)

    assert life.container()["restartCount"] == 0


def test_a_long_run_resets_the_back_off() -> None:
    program = {"kwokctl.dev/program": "run=700s exit=1"}
    life = Life(pod(annotations=program)).run(5000)

    assert "CrashLoopBackOff" not in life.words()
    assert life.container()["restartCount"] == 7


@pytest.mark.parametrize(
    ("policy", "exits", "phase", "restarts"),
    [
        ("Never", "0", "Succeeded", 0),
        ("Never", "3", "Failed", 0),
        ("OnFailure", "0", "Succeeded", 0),
        ("OnFailure", "1,0", "Succeeded", 1),
        ("Always", "0", "Running", 5),
    ],
)
def test_the_restart_policy_decides_after_an_end(
    policy: str, exits: str, phase: str, restarts: int
) -> None:
    program = {"kwokctl.dev/program": f"run=2s exit={exits}"}
    life = Life(pod(annotations=program, restartPolicy=policy)).run(170)

    assert life.status["phase"] == phase
    assert life.container()["restartCount"] == restarts


def test_a_container_that_ignores_the_signal_is_killed_when_its_grace_is_over() -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": "stop=1h"})).run(10)
    life.delete(grace=30).run(29)
    assert "running" in life.container()["state"]

    life.run(5)
    assert life.is_gone
    assert life.container()["state"]["terminated"]["exitCode"] == 137
    assert life.status["phase"] == "Failed"
    assert life.condition("Ready")["reason"] == "PodFailed"


@pytest.mark.parametrize(
    ("program", "seconds", "code"),
    [("", 0, 0), ("stop-exit=143", 0, 143), ("stop=5s stop-exit=3", 5, 3), ("stop=1h stop-exit=3", 30, 137)],
)  # fmt: skip
def test_a_program_says_its_exit_code_after_the_signal(
    program: str, seconds: int, code: int
) -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": program})).run(10).delete(grace=30)
    life.run(40)
    end = life.container()["state"]["terminated"]

    assert end["exitCode"] == code
    assert end["finishedAt"].endswith(f":{10 + seconds:02}Z")


@pytest.mark.parametrize(
    ("hook", "seconds"),
    [
        ({"sleep": {"seconds": 4}}, 4),
        ({"exec": {"command": ["sleep", "7"]}}, 7),
        ({"exec": {"command": ["sh", "-c", "echo bye; sleep 5"]}}, 5),
        ({"exec": {"command": ["sleep", "infinity"]}}, 30),
        ({"exec": {"command": ["/bin/drain"]}}, 0),
        ({"httpGet": {"port": 80}}, 0),
    ],
)
def test_a_hook_is_waited_for_before_the_end(hook: dict[str, Any], seconds: int) -> None:
    body = pod({"name": "main", "image": "x", "lifecycle": {"preStop": hook}})
    life = Life(body).run(10).delete(grace=30).run(40)
    end = life.container()["state"]["terminated"]

    assert end["finishedAt"].endswith(f":{10 + seconds:02}Z")
    assert end["exitCode"] == (137 if seconds == 30 else 0)


@pytest.mark.parametrize(("kind", "program"), [("liveness", "sick=1s"), ("startup", "started=1h")])
def test_a_probe_has_a_grace_period_of_its_own(kind: str, program: str) -> None:
    probe = {"periodSeconds": 1, "failureThreshold": 1, "terminationGracePeriodSeconds": 3}
    life = Life(
        pod(
            {"name": "main", "image": "x", f"{kind}Probe": {**probe, "initialDelaySeconds": 2}},
            annotations={"kwokctl.dev/program": f"{program} stop=forever"},
        )
    )
    end = life.run(8).container()["lastState"]["terminated"]

    assert end["exitCode"] == 137
    assert end["finishedAt"].endswith(":06Z")


def test_a_sleep_runs_on_after_the_signal_until_it_is_done_or_killed() -> None:
    containers = [
        {"name": name, "image": "x", "command": ["sleep", seconds]}
        for name, seconds in (("short", "20"), ("long", "infinity"))
    ]
    life = Life(pod(containers=containers, restartPolicy="Never")).run(10).delete(grace=30).run(40)
    ends = [each["state"]["terminated"] for each in life.status["containerStatuses"]]

    assert {end["exitCode"] for end in ends} == {0, 137}
    assert life.status["phase"] == "Failed"


def test_a_container_is_killed_for_memory() -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": "run=5s exit=oom"}, restartPolicy="Never"))
    end = life.run(20).container()["state"]["terminated"]

    assert (end["reason"], end["exitCode"]) == ("OOMKilled", 137)


@pytest.mark.parametrize(
    ("words", "reason", "message"),
    [
        ("exit=3 reason=nccl-checking-failure message='rank 2 is lost'", "nccl-checking-failure", "rank 2 is lost"),
        ("exit=0 reason=never message=done", "Completed", "done"),
        ("exit=3 message=lost", "Error", "lost"),
        ("exit=oom reason=never", "OOMKilled", None),
    ],
)  # fmt: skip
def test_a_container_that_ends_says_why(words: str, reason: str, message: str | None) -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": f"run=5s {words}"}, restartPolicy="Never"))
    end = life.run(20).container()["state"]["terminated"]

    assert (end["reason"], end.get("message")) == (reason, message)


def test_a_container_that_is_stopped_says_nothing_of_its_own() -> None:
    program = "run=100s exit=3 reason=lost message=lost stop-exit=143"
    body = pod(annotations={"kwokctl.dev/program": program}, activeDeadlineSeconds=10)
    end = Life(body).run(30).container()["state"]["terminated"]

    assert (end["reason"], end.get("message")) == ("Error", None)


def test_an_image_that_cannot_be_pulled_is_tried_again() -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": "pull=1s pull-failures=2"})).run(60)

    assert life.words() == [
        "ContainerCreating", "ErrImagePull", "ImagePullBackOff", "ErrImagePull", "ImagePullBackOff",
        "Running",
    ]  # fmt: skip
    assert [at for at, word in life.seen if word == "Running"] == [32.0]


def test_an_image_that_does_not_exist_is_never_pulled() -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": "pull-failures=-1"})).run(3600)

    assert life.status["phase"] == "Pending"
    assert life.container()["state"]["waiting"]["reason"] == "ImagePullBackOff"
