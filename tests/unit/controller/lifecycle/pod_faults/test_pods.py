"""Pods that fail themselves, in virtual time: containers, images, their end, and their admission."""

from typing import Any

import pytest

from kwokctl.controller.lifecycle.containers.pulling import PullBlock
from kwokctl.controller.lifecycle.pod_faults.hits import PodHits, hits_of
from kwokctl.faults.overlays.open_entries import OpenEntry, PodEffect
from kwokctl.replacing import replace
from tests.support.pod_lives import BEGIN, PLACE, Life, pod


def entry(fails: str, since: float = 0.0, **more: Any) -> OpenEntry:
    effect = PodEffect(fails=fails, **more)  # type: ignore[arg-type]  # a word of the parameters
    return OpenEntry(fault="f", uid="u", class_name="c", since=BEGIN + since, pod=effect)


def with_fault(life: Life, *entries: OpenEntry) -> Life:
    """Let a pod live on a node with these faults from now on."""
    life.place = replace(life.place, hits=hits_of(life.pod, entries, {}))
    return life


INIT = ({"name": "check", "image": "x", "command": ["sleep", "5"]},)
NCCL: dict[str, Any] = {
    "exit_code": 1,
    "reason": "nccl-checking-failure",
    "message": "nccl checking failed",
}


@pytest.mark.parametrize(
    ("policy", "word"), [("Never", "Failed"), ("OnFailure", "Pending"), ("Always", "Pending")]
)
def test_an_init_container_fails_until_the_fault_is_over(policy: str, word: str) -> None:
    life = with_fault(Life(pod(init=INIT, restartPolicy=policy)), entry("init-container", **NCCL))
    life.run(60)
    check = life.container("check")
    end = (check["state"].get("terminated") or check["lastState"]["terminated"]) if check else {}
    assert (end["exitCode"], end["reason"], end["message"]) == tuple(NCCL.values())
    assert life.status["phase"] == word
    assert life.container("check")["restartCount"] == (0 if policy == "Never" else 3)

    with_fault(life).run(120)
    assert life.container("check")["ready"] is (policy != "Never")


def test_a_pod_past_its_init_containers_is_not_hit_by_their_failure() -> None:
    life = Life(pod(init=INIT)).run(60)
    with_fault(life, entry("init-container", 60)).run(60)
    assert life.status["phase"] == "Running"
    assert life.container()["restartCount"] == 0


@pytest.mark.parametrize(
    ("fails", "more", "code", "reason"),
    [
        ("app-container", {}, 1, "Error"),
        ("app-container", {"exit_code": 9, "reason": "Own"}, 9, "Own"),
        ("memory-limit", {}, 137, "OOMKilled"),
        ("memory-limit", {"exit_code": 1, "reason": "OOMKilled"}, 1, "OOMKilled"),
    ],
)
def test_regular_containers_fail_and_start_again_when_the_fault_is_over(
    fails: str, more: dict[str, Any], code: int, reason: str
) -> None:
    two = ({"name": "main", "image": "x"}, {"name": "other", "image": "x"})
    life = Life(pod(*two, init=INIT)).run(10)
    with_fault(life, entry(fails, 10, **more)).run(3)
    for name in ("main", "other"):
        state = life.container(name)
        end = state["state"].get("terminated") or state["lastState"]["terminated"]
        assert (end["exitCode"], end["reason"]) == (code, reason)
    assert life.container("check")["restartCount"] == 0

    count = with_fault(life).run(20).container()["restartCount"]
    assert count == 2
    assert life.run(3600).container()["restartCount"] == count
    assert life.status["phase"] == "Running"


def test_an_image_is_pulled_at_the_end_of_the_back_off_in_which_the_fault_ends() -> None:
    life = with_fault(Life(pod()), entry("image-pull", -60)).run(20)
    states = [(at, word) for at, word in life.seen if word != "ContainerCreating"]
    assert states == [
        (1.0, "ErrImagePull"),
        (3.0, "ImagePullBackOff"),
        (11.0, "ErrImagePull"),
        (13.0, "ImagePullBackOff"),
    ]
    with_fault(life).run(10.9)
    assert life.container()["state"]["waiting"]["reason"] == "ImagePullBackOff"

    life.run(0.2)
    assert life.status["phase"] == "Running"
    assert life.seen[-1] == (31.0, "Running")
    assert life.reasons()[-3:] == ["Pulled", "Created", "Started"]
    assert "Successfully pulled" in life.events[-3].message


def test_a_controller_that_takes_a_pod_over_pulls_at_once_when_the_fault_is_over() -> None:
    life = with_fault(Life(pod()), entry("image-pull", -60)).run(20)
    life.memory = None
    with_fault(life).run(0)
    assert life.seen[-1] == (20.0, "Running")


def test_the_words_of_a_fault_are_shown_in_place_of_the_first_error() -> None:
    words: dict[str, Any] = {"reason": "RegistryUnavailable", "message": "registry is down"}
    life = with_fault(Life(pod()), entry("image-pull", **words)).run(5)
    assert [word for _, word in life.seen][-2:] == ["RegistryUnavailable", "ImagePullBackOff"]
    waiting = life.container()["state"]["waiting"]
    assert waiting["message"].endswith("registry is down")


@pytest.mark.parametrize(("at", "fails"), [(4.9, False), (5, True), (9, True), (9.1, False)])
def test_a_pull_fails_from_the_start_of_a_fault_to_its_end(at: float, fails: bool) -> None:
    assert PullBlock(since=5, until=9).covers(at) is fails


def test_of_two_faults_of_images_the_first_counts() -> None:
    entries = [entry("image-pull", since, message=str(since)) for since in (9, 4, 7)]
    assert hits_of(pod(), entries, {}).pull == PullBlock(since=BEGIN + 4, cause="4")


def test_a_fault_of_images_does_not_meet_containers_that_run() -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": "run=20s exit=1"})).run(10)
    with_fault(life, entry("image-pull", 10)).run(20)
    assert life.container()["restartCount"] == 1


def test_own_failures_of_pulls_come_first() -> None:
    body = pod(annotations={"kwokctl.dev/program": "pull-failures=2"})
    life = with_fault(Life(body), entry("image-pull", -60)).run(12)
    with_fault(life).run(60)
    assert life.seen[-1] == (31.0, "Running")


def test_a_pod_that_is_deleted_stays_until_the_fault_is_over() -> None:
    life = Life(pod()).run(10)
    held = with_fault(life, entry("termination", message="device is busy")).delete()
    held.run(3600)
    assert not life.is_gone
    assert "running" in life.container()["state"]
    said = [each.message for each in life.events[-2:]]
    assert said == ["error killing pod: device is busy", "Stopping container main"]

    with_fault(life).run(40)
    assert life.is_gone


def test_a_pod_that_has_ended_stays_as_well() -> None:
    life = Life(pod(restartPolicy="Never")).run(60)
    with_fault(life, entry("termination")).delete().run(60)
    assert not life.is_gone
    assert with_fault(life).run(1).is_gone


def test_a_fault_of_ends_changes_nothing_for_a_pod_that_is_not_deleted() -> None:
    life = with_fault(Life(pod(restartPolicy="Never")), entry("termination")).run(60)
    assert life.status["phase"] == "Succeeded"


@pytest.mark.parametrize(
    ("more", "reason", "message"),
    [
        (
            {},
            "UnexpectedAdmissionError",
            "Allocate failed due to a fault of the node, which is unexpected",
        ),
        ({"reason": "Own", "message": "no devices"}, "Own", "no devices"),
    ],
)
def test_the_refusal_of_a_pod_is_in_the_words_of_the_fault(
    more: dict[str, Any], reason: str, message: str
) -> None:
    assert hits_of(pod(), [entry("admission", **more)], {}).refusal == (reason, message)


@pytest.mark.parametrize(("pods", "is_hit"), [((), True), (("u-1", "x"), True), (("x",), False)])
def test_a_fault_of_pods_hits_those_that_it_names(pods: tuple[str, ...], is_hit: bool) -> None:
    found = hits_of(pod(), [entry("image-pull", pods=pods)], {})
    assert found == PodHits(pull=PullBlock(since=BEGIN) if is_hit else None)


def test_a_pod_without_init_containers_says_that_none_can_fail() -> None:
    sidecar = {"name": "side", "image": "x", "restartPolicy": "Always"}
    found = hits_of(pod(init=[sidecar]), [entry("init-container")], {})
    assert found.ignored == ("Fault 'f' fails an init container, and the pod has none",)
    assert not found.containers
    assert not hits_of(pod(init=INIT), [entry("init-container")], {}).ignored
    assert PLACE.hits.ignored == ()
