"""Each surface of a pod on which a fault shows, by the commands and in a real cluster: during and after."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kwokctl.fleet.devices import gpu_uuid
from tests.support.fault_surfaces import (
    ONE,
    TWO,
    backs_off,
    broken,
    container,
    events,
    first_gpu,
    last,
    names,
    phase,
    pod,
    run,
    scale,
    tidy,
    waiting,
)
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]


@pytest.fixture(scope="module")
def cluster(with_own_faults: Installed) -> Installed:
    scale(with_own_faults, 2)
    return with_own_faults


@pytest.fixture(autouse=True)
def no_pods(cluster: Installed) -> Iterator[None]:
    """Leave no pod behind."""
    yield
    tidy(cluster)


def test_a_pod_fails_with_its_gpu_and_its_neighbour_runs_on(cluster: Installed) -> None:
    for name in ("one", "other"):
        run(cluster, name, gpus=4, restartPolicy="Never")
    index = first_gpu(cluster, "one")
    with broken(cluster, "xid-48", "--dialect", "device-plugin", "--set", f"gpu={index}"):
        until("it has failed", lambda: phase(cluster, "one") == "Failed")
        assert last(cluster, "one")["exitCode"] == 134
        assert phase(cluster, "other") == "Running"
        assert container(cluster, "other")["restartCount"] == 0
        assert "Unhealthy" not in json.dumps(pod(cluster, "other")["status"])


def test_the_status_of_a_pod_says_that_its_gpu_is_not_healthy(cluster: Installed) -> None:
    run(cluster, "one", gpus=2)

    def health() -> dict[str, str]:
        statuses = container(cluster, "one").get("allocatedResourcesStatus", ())
        return {
            each["resourceID"]: each["health"] for found in statuses for each in found["resources"]
        }

    until("it says what it has", lambda: [*health().values()] == ["Healthy"] * 2)
    index = first_gpu(cluster, "one")
    with broken(cluster, "xid-63", "--dialect", "device-plugin", "--set", f"gpu={index}"):
        until("it is not healthy", lambda: health()[gpu_uuid(ONE, index)] == "Unhealthy")
        assert sorted(health().values()) == ["Healthy", "Unhealthy"]
        assert phase(cluster, "one") == "Running"
    until("all are healthy", lambda: [*health().values()] == ["Healthy"] * 2)


def of(name: str) -> tuple[str, ...]:
    """Return the words that say that a fault hits a pod."""
    return ("--namespace", "default", "--selector", f"app={name}")


@pytest.mark.parametrize(
    ("found", "reason", "code", "words"),
    [
        ("app-failed", "Own", 3, ("--set", "exitCode=3", "--set", "reason=Own")),
        ("oom", "OOMKilled", 137, ()),
        ("nccl-timeout", "Error", 134, ()),
    ],
)
def test_a_container_fails_again_and_again_with_the_back_off_of_a_kubelet(
    cluster: Installed, found: str, reason: str, code: int, words: tuple[str, ...]
) -> None:
    for name in ("victim", "other"):
        run(cluster, name)
    with broken(cluster, found, *of("victim"), *words):
        until("it has failed twice", lambda: container(cluster, "victim")["restartCount"] >= 1)
        until("it waits", lambda: backs_off(cluster, "victim"))
        found_last = last(cluster, "victim")
        assert (found_last["exitCode"], found_last["reason"]) == (code, reason)
        assert container(cluster, "other")["restartCount"] == 0
    until("it runs again", lambda: container(cluster, "victim").get("ready"))


def test_an_init_container_fails_with_the_words_of_the_check(cluster: Installed) -> None:
    init = [{"name": "check", "image": "x"}]
    notes = {"program.kwokctl.dev/check": "run=60s"}
    run(cluster, "pod", starts=False, initContainers=init, notes=notes)
    part = "initContainerStatuses"
    until("it checks", lambda: "running" in container(cluster, "pod", part)["state"])
    with broken(cluster, "init-failed", *of("pod")):
        until("it has failed", lambda: last(cluster, "pod", part))
        found = last(cluster, "pod", part)
        assert (found["exitCode"], found["reason"]) == (1, "nccl-checking-failure")
        assert found["message"] == "nccl checking failed"
        until("it waits", lambda: backs_off(cluster, "pod"))
    until("it checks again", lambda: "running" in container(cluster, "pod", part)["state"])


def test_the_image_of_a_pod_cannot_be_pulled_until_the_fault_is_over(cluster: Installed) -> None:
    init = [{"name": "check", "image": "x"}]
    notes = {"program.kwokctl.dev/check": "run=20s"}
    run(cluster, "pod", starts=False, initContainers=init, notes=notes)
    part = "initContainerStatuses"
    until("it checks", lambda: "running" in container(cluster, "pod", part)["state"])
    with broken(cluster, "image-pull", *of("pod")):
        until("it backs off", lambda: waiting(cluster, "pod") == "ImagePullBackOff")
    until("it runs", lambda: phase(cluster, "pod") == "Running")


def test_a_pod_that_cannot_end_stays_until_the_fault_is_over(cluster: Installed) -> None:
    for name in ("stuck", "other"):
        run(cluster, name, terminationGracePeriodSeconds=1)
    with broken(cluster, "stuck-terminating", *of("stuck")):
        cluster.delete("pod", "stuck", "other", "--wait=false")
        until("the other is gone", lambda: names(cluster) == {"stuck"})
        until("it is said", lambda: events(cluster, "FailedKillPod"))
        assert "running" in container(cluster, "stuck")["state"]
    until("it is gone", lambda: not names(cluster))


def test_a_fault_of_one_gpu_fails_the_whole_gang_and_no_other_pod(cluster: Installed) -> None:
    gang: dict[str, Any] = {
        "notes": {"kwokctl.dev/gang": "train"},
        "restartPolicy": "Never",
        "gpus": 4,
    }
    run(cluster, "rank-0", **gang)
    run(cluster, "rank-1", on=TWO, **gang)
    run(cluster, "alone", on=TWO, gpus=4, restartPolicy="Never")
    index = first_gpu(cluster, "rank-0")
    with broken(cluster, "gang-fails", "--gang", "--set", f"gpu={index}"):
        ranks = ("rank-0", "rank-1")
        until("both have failed", lambda: {phase(cluster, each) for each in ranks} == {"Failed"})
        for name in ranks:
            assert last(cluster, name)["reason"] == "Ring"
        assert phase(cluster, "alone") == "Running"
