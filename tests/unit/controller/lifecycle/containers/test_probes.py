"""Probes that fail, in virtual time."""

from tests.support.pod_lives import Life, pod

PROBE = {"httpGet": {"port": 80}, "periodSeconds": 5, "failureThreshold": 2}


def life(program: str, seconds: float, **probes: object) -> Life:
    container = {"name": "main", "image": "x", **probes}
    return Life(pod(container, annotations={"kwokctl.dev/program": program})).run(seconds)


def test_a_container_that_is_not_alive_is_restarted_again_and_again() -> None:
    found = life("sick=20s", 107, livenessProbe=PROBE)

    # It fails 20 s and 25 s after each start; the third time a back-off of 10 s comes before the next.
    assert found.container()["restartCount"] == 3
    assert found.reasons().count("Unhealthy") == 7
    assert found.reasons().count("Killing") == 3
    messages = {each.message for each in found.events}
    assert "Liveness probe failed: HTTP probe failed with statuscode: 503" in messages
    assert "Container main failed liveness probe, will be restarted" in messages


def test_a_container_that_is_killed_for_its_probe_has_its_grace() -> None:
    found = life("sick=10s stop=1h", 40, livenessProbe=PROBE)
    assert "running" in found.container()["state"]

    end = found.run(10).container()["lastState"]["terminated"]
    assert end["exitCode"] == 137


def test_a_container_that_does_not_start_is_restarted() -> None:
    found = life("started=1h", 8, startupProbe=PROBE)

    assert found.container()["restartCount"] == 1
    assert not found.container()["started"]
    assert "Container main failed startup probe, will be restarted" in {
        each.message for each in found.events
    }


def test_a_container_becomes_unready_when_its_probe_has_failed_often_enough() -> None:
    found = life("unready=20s", 25, readinessProbe=PROBE)
    assert found.container()["ready"]

    found.run(2)
    assert not found.container()["ready"]
    assert found.container()["restartCount"] == 0
    assert found.condition("Ready")["reason"] == "ContainersNotReady"


def test_failures_are_reported_as_often_as_a_kubelet_reports_them() -> None:
    found = life("ready=1h", 3000, readinessProbe=PROBE)

    assert found.reasons().count("Unhealthy") == 25


def test_readiness_changes_in_turns() -> None:
    found = life("flap=10s", 0.0)
    turns = [found.run(10).container()["ready"] for _ in range(4)]

    assert turns == [True, False, True, False]


def test_a_probe_is_made_once_a_period_after_its_delay() -> None:
    probe = {"initialDelaySeconds": 3, "periodSeconds": 10}
    found = life("ready=5s", 13, readinessProbe=probe)
    assert not found.container()["ready"]

    assert found.run(2).container()["ready"]
