"""The life of pods in virtual time."""

import re
from copy import deepcopy
from typing import Any

import pytest

from kwokctl.controller.lifecycle.outcome import NodeOffer
from kwokctl.errors import ExpressionError
from tests.support.pod_lives import BEGIN, Life, pod

SIDECAR = {"name": "side", "image": "x", "restartPolicy": "Always"}


def test_a_pod_is_created_and_runs_until_it_is_deleted() -> None:
    life = Life(pod()).run(3600)

    assert life.words() == ["ContainerCreating", "Running"]
    assert [at for at, _ in life.seen] == [0.0, 0.5, 1.0]
    assert life.reasons() == ["Pulled", "Created", "Started"]
    assert life.status["podIP"] == "10.0.0.7"
    assert life.condition("Ready")["status"] == "True"
    assert life.container()["ready"]

    life.delete().run(1)
    assert life.is_gone
    assert life.status["phase"] == "Succeeded"
    assert life.reasons()[3:] == ["Killing"]


def test_what_has_ended_is_not_ready_for_the_reason_of_the_phase() -> None:
    life = Life(pod(restartPolicy="Never")).run(10)

    assert life.status["phase"] == "Succeeded"
    for name in ("Ready", "ContainersReady"):
        assert life.condition(name)["reason"] == "PodCompleted"
    assert life.condition("Initialized")["reason"] == "PodCompleted"
    assert life.condition("PodReadyToStartContainers")["status"] == "False"
    assert life.container()["state"]["terminated"]["reason"] == "Completed"


def test_init_containers_run_one_after_the_other_before_the_rest() -> None:
    init = [{"name": name, "image": "x", "command": ["sleep", "5"]} for name in ("one", "two")]
    life = Life(pod(init=init)).run(7)

    assert life.container("one")["state"]["terminated"]["exitCode"] == 0
    assert "running" in life.container("two")["state"]
    assert life.container()["state"]["waiting"]["reason"] == "PodInitializing"
    assert life.condition("Initialized")["message"] == "containers with incomplete status: [two]"

    life.run(20)
    assert life.status["phase"] == "Running"
    assert life.condition("Initialized")["status"] == "True"


def test_an_init_container_that_fails_ends_a_pod_that_never_restarts() -> None:
    init = [{"name": "one", "image": "x", "command": ["false"]}]
    life = Life(pod(init=init, restartPolicy="Never")).run(60)

    assert life.status["phase"] == "Failed"
    assert life.container()["state"]["waiting"]["reason"] == "PodInitializing"


def test_an_init_container_that_fails_is_tried_again() -> None:
    init = [{"name": "one", "image": "x"}]
    program = {"program.kwokctl.dev/one": "run=2s exit=1,1,0"}
    life = Life(pod(init=init, annotations=program)).run(60)

    assert life.container("one")["restartCount"] == 2
    assert life.status["phase"] == "Running"


def test_a_job_ends_though_its_sidecar_would_run_on() -> None:
    body = pod(
        {"name": "main", "image": "x", "args": ["sleep", "5"]},
        init=[SIDECAR],
        restartPolicy="Never",
    )
    life = Life(body).run(5)
    assert "running" in life.container("side")["state"]

    life.run(10)
    assert life.status["phase"] == "Succeeded"
    assert life.container("side")["state"]["terminated"]["exitCode"] == 0


def test_a_sidecar_that_stops_slowly_keeps_the_pod_running() -> None:
    body = pod(
        {"name": "main", "image": "x", "args": ["sleep", "5"]},
        init=[SIDECAR],
        restartPolicy="Never",
        annotations={"program.kwokctl.dev/side": "stop=20s"},
    )
    life = Life(body).run(20)
    assert life.status["phase"] == "Running"

    life.run(20)
    assert life.status["phase"] == "Succeeded"


def test_a_pod_is_active_no_longer_than_its_deadline() -> None:
    life = Life(pod(activeDeadlineSeconds=30)).run(60)

    assert life.status["phase"] == "Failed"
    assert life.status["reason"] == "DeadlineExceeded"
    assert life.container()["state"]["terminated"]["finishedAt"].endswith(":30Z")
    assert life.reasons().count("DeadlineExceeded") == 1


def test_probes_and_gates_decide_when_a_pod_is_ready() -> None:
    container = {"name": "main", "image": "x", "readinessProbe": {"initialDelaySeconds": 10}}
    life = Life(pod(container, readinessGates=[{"conditionType": "example.com/in"}])).run(5)
    assert life.condition("ContainersReady")["reason"] == "ContainersNotReady"

    life.run(10)
    assert life.condition("ContainersReady")["status"] == "True"
    assert life.condition("Ready")["reason"] == "ReadinessGatesNotReady"

    gate = {"type": "example.com/in", "status": "True", "lastTransitionTime": "x"}
    life.status["conditions"].append(gate)
    life.run(1)
    assert life.condition("Ready")["status"] == "True"
    assert life.condition("example.com/in") == gate


def test_a_pod_that_is_deleted_without_grace_is_left_to_the_api_server_at_first() -> None:
    life = Life(pod()).run(5)
    before = deepcopy(life.status)

    assert life.delete(grace=0).run(1.9).status == before
    assert not life.is_gone
    assert life.run(1).is_gone
    assert life.container()["state"]["terminated"]["finishedAt"]


def test_a_condition_of_another_client_is_no_reason_to_write() -> None:
    life = Life(pod()).run(5)
    target = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": "x"}
    life.status["conditions"].append(target)
    before = deepcopy(life.status)

    assert life.run(1).status == before


def test_a_pod_that_the_node_refuses_has_no_conditions_and_no_containers() -> None:
    refusal = ("OutOfcpu", "Node didn't have enough resource: cpu")
    life = Life(pod(), NodeOffer(refusal=refusal)).run(10)

    assert (life.status["phase"], life.status["reason"]) == ("Failed", "OutOfcpu")
    assert life.status["conditions"] == []
    assert "containerStatuses" not in life.status
    assert life.reasons() == ["OutOfcpu"]


def test_resources_are_those_of_the_spec_while_it_runs() -> None:
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}
    life = Life(pod({"name": "main", "image": "x", "resources": resources})).run(5)
    assert life.container()["allocatedResources"] == {"cpu": "1"}

    life.pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "3"}}
    life.run(1)
    assert life.container()["resources"] == {"requests": {"cpu": "3"}}


@pytest.mark.parametrize("policy", ["Always", "OnFailure"])
def test_a_resize_restarts_a_container_whose_policy_for_the_resource_says_so(policy: str) -> None:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
    policies = [
        {"resourceName": "cpu", "restartPolicy": "NotRequired"},
        {"resourceName": "memory", "restartPolicy": "RestartContainer"},
    ]
    main = {"name": "main", "image": "x", "resources": resources, "resizePolicy": policies}
    program = {"kwokctl.dev/program": "run=forever stop=3s stop-exit=0"}
    other = {"name": "other", "image": "x"}
    life = Life(pod(main, other, annotations=program, restartPolicy=policy)).run(5)

    life.pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2", "memory": "1Gi"}}
    life.run(5)
    assert life.container()["restartCount"] == 0
    assert life.container()["resources"]["requests"]["cpu"] == "2"

    life.pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2", "memory": "2Gi"}}
    life.run(1)
    assert life.condition("PodResizeInProgress")["status"] == "True"
    assert life.container()["resources"]["requests"]["memory"] == "1Gi"

    life.run(5)
    assert life.container()["restartCount"] == 1
    assert life.container()["state"]["running"]["startedAt"].endswith(":13Z")
    assert life.container()["resources"]["requests"]["memory"] == "2Gi"
    assert life.container("other")["restartCount"] == 0
    assert life.reasons()[-6:] == [
        "ResizeStarted", "Killing", "ResizeCompleted", "Pulled", "Created", "Started",
    ]  # fmt: skip


def test_rules_of_a_container_come_before_its_policy() -> None:
    rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
    container = {
        "name": "main",
        "image": "x",
        "restartPolicy": "Never",
        "restartPolicyRules": rules,
    }
    annotations = {"kwokctl.dev/program": "run=2s exit=42,42,7"}
    life = Life(pod(container, annotations=annotations, restartPolicy="Never")).run(60)

    assert life.container()["restartCount"] == 2
    assert life.status["phase"] == "Failed"


def test_another_controller_goes_on_where_the_first_one_was() -> None:
    body = pod(annotations={"kwokctl.dev/program": "run=2s exit=1"})
    whole, first = Life(body).run(300), Life(pod(annotations=body["metadata"]["annotations"]))
    first.run(100)
    second = Life(first.pod, now=BEGIN + 100)
    second.run(200)

    assert second.status["containerStatuses"] == whole.status["containerStatuses"]


def test_each_start_has_an_identifier_of_its_own() -> None:
    life = Life(pod(annotations={"kwokctl.dev/program": "run=2s exit=1"})).run(4)
    now, before = life.container(), life.container()["lastState"]["terminated"]

    assert now["restartCount"] == 1
    assert now["containerID"] != before["containerID"]


@pytest.mark.parametrize("text", ["run", "run=soon", "speed=3", "exit=x", "pull-failures=many"])
def test_an_annotation_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape("annotation 'kwokctl.dev/program'")):
        Life(pod(annotations={"kwokctl.dev/program": text})).run(1)


def test_a_pod_that_is_deleted_before_it_begins_goes_at_once() -> None:
    life = Life(pod()).delete()
    life.run(1)

    assert life.is_gone
    assert not life.seen


def test_a_pod_that_is_deleted_while_it_is_created_has_failed() -> None:
    life = Life(pod()).run(0.6)
    life.delete().run(1)

    assert life.is_gone
    assert life.status["phase"] == "Failed"
    assert life.container()["state"]["terminated"]["reason"] == "ContainerStatusUnknown"


def test_an_ephemeral_container_runs_as_soon_as_it_is_there_and_ends_with_the_pod() -> None:
    life = Life(pod()).run(10)
    life.pod["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "x"}]
    life.run(5)
    [debugger] = life.status["ephemeralContainerStatuses"]
    assert debugger["state"]["running"]["startedAt"].endswith(":10Z")
    assert life.condition("Ready")["status"] == "True"
    assert life.events[-1].field == "spec.ephemeralContainers{debug}"

    life.delete().run(1)
    assert life.is_gone


def test_an_ephemeral_container_that_ends_is_not_restarted_and_ends_no_pod() -> None:
    body = pod(annotations={"program.kwokctl.dev/debug": "pull=5s run=2s exit=1"})
    body["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "x"}]
    life = Life(body).run(4)
    [debugger] = life.status["ephemeralContainerStatuses"]
    assert "waiting" in debugger["state"]

    life.run(60)
    [debugger] = life.status["ephemeralContainerStatuses"]
    assert debugger["state"]["terminated"]["exitCode"] == 1
    assert debugger["restartCount"] == 0
    assert life.status["phase"] == "Running"


def test_an_ephemeral_container_ends_with_the_containers_of_its_pod() -> None:
    life = Life(
        pod({"name": "main", "image": "x", "command": ["sleep", "20"]}, restartPolicy="Never")
    )
    life.run(5)
    life.pod["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "x"}]
    life.run(40)

    assert life.status["phase"] == "Succeeded"
    [debugger] = life.status["ephemeralContainerStatuses"]
    assert debugger["state"]["terminated"]["exitCode"] == 0


def with_rule(name: str, **spec: Any) -> dict[str, Any]:
    codes = {"operator": "In", "values": [88]}
    rule = {"action": "RestartAllContainers", "exitCodes": codes}
    return {"name": name, "image": "x", "restartPolicyRules": [rule], **spec}


def test_a_rule_of_one_container_restarts_all_of_its_pod_in_order() -> None:
    body = pod(
        {"name": "main", "image": "x", "lifecycle": {"preStop": {"sleep": {"seconds": 9}}}},
        with_rule("watcher", restartPolicy="Never"),
        init=[{"name": "first", "image": "x"}],
        annotations={"program.kwokctl.dev/watcher": "run=10s exit=88,0"},
    )
    life = Life(body).run(12)
    assert life.condition("AllContainersRestarting")["status"] == "False"
    address, started = life.status["podIP"], life.container()["state"]["running"]["startedAt"]

    life.run(8)
    assert life.condition("AllContainersRestarting")["status"] == "False"
    assert {life.container(name)["restartCount"] for name in ("first", "main", "watcher")} == {1}
    assert life.container()["lastState"]["terminated"]["exitCode"] == 137
    assert life.container("watcher")["lastState"]["terminated"]["exitCode"] == 88
    again = life.container("first")["state"]["terminated"]
    assert started < again["startedAt"] < life.container()["state"]["running"]["startedAt"]
    assert (life.status["phase"], life.status["podIP"]) == ("Running", address)
    assert "PodInitializing" in life.words()[life.words().index("Running") :]

    life.run(60)
    assert life.container("watcher")["state"]["terminated"]["exitCode"] == 0
    assert {life.container(name)["restartCount"] for name in ("first", "main", "watcher")} == {1}


def test_another_controller_goes_on_with_the_restart_of_a_whole_pod() -> None:
    annotations = {"program.kwokctl.dev/main": "run=5s exit=88"}
    life = Life(pod(with_rule("main"), annotations=annotations))
    while not any(
        each["type"] == "AllContainersRestarting" and each["status"] == "True"
        for each in life.status["conditions"]
    ):
        life.step()
    second = Life(life.pod, now=life.now).run(3)

    assert second.container()["restartCount"] == 1
    assert "running" in second.container()["state"]


def test_a_pod_that_is_deleted_while_it_is_restarted_ends() -> None:
    annotations = {"program.kwokctl.dev/main": "run=5s exit=88"}
    life = Life(pod(with_rule("main"), annotations=annotations)).run(6.1).delete().run(5)

    assert life.is_gone
