"""Stages as custom resources of a real cluster: they, and the kinds they are for, come and go."""

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.installed import Installed, condition, until
from tests.support.stage_documents import stage

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]
WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Widget", "plural": "widgets"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
FOR_WIDGETS = stage("widget-works", "Widget", phase=None, template="phase: Working")
FOR_WIDGETS["spec"]["resourceRef"]["apiGroup"] = "example.com/v1"


@pytest.fixture(scope="module")
def cluster(with_stages: Installed) -> Installed:
    until("the account for pods is there", lambda: with_stages.objects("serviceaccounts"))
    apply(with_stages, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-0"}})
    return with_stages


REPLACED = "kwokctl-replaced-stages"
KEPT = ("-n", "kube-system", "configmap", REPLACED)


def kept(cluster: Installed) -> str:
    """Return what the cluster keeps of Stages that are replaced; empty if there is nothing."""
    found = cluster.objects("configmaps", "-n", "kube-system")
    return "".join(str(each) for each in found if each["metadata"]["name"] == REPLACED)


def forget(cluster: Installed) -> None:
    """Let Stages of files be played again whose custom resources are gone."""
    cluster.delete(*KEPT)


def apply(cluster: Installed, *objects: dict[str, Any]) -> None:
    for each in objects:
        cluster.apply(each)


def pod(name: str, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {"nodeName": "node-0", "containers": [{"name": "c", "image": "busybox"}]},
    }


def widget(name: str) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}}


def phase(cluster: Installed, kind: str, name: str) -> str:
    found = cluster.found(kind, name)
    return str(found.get("status", {}).get("phase"))


def ends_up(cluster: Installed, kind: str, name: str, wanted: str) -> Callable[[], bool]:
    return lambda: phase(cluster, kind, name) == wanted


def log(cluster: Installed) -> str:
    folder = cluster.workdir / "clusters" / cluster.name
    return (folder / "logs" / "kwok-controller.log").read_text()


def test_the_usual_stages_are_played_and_a_new_one_on_pods_that_rest(cluster: Installed) -> None:
    apply(cluster, pod("plain"), pod("fragile", fragile="true"))
    until("the pods run", ends_up(cluster, "pod", "fragile", "Running"))

    fragile = {"matchLabels": {"fragile": "true"}}
    apply(cluster, stage("breaks", phase="Running", template="phase: Failed", selector=fragile))

    until("one fails", ends_up(cluster, "pod", "fragile", "Failed"))
    assert phase(cluster, "pod", "plain") == "Running"
    assert "breaks" in cluster.kubectl("get", "stages.kwok.x-k8s.io")


def test_a_stage_takes_the_place_of_the_files_one_of_its_name_for_good(cluster: Installed) -> None:
    apply(cluster, stage("pod-ready", template="phase: Unknown"))
    until("it is in force", lambda: "'pod-ready' of the cluster is played in place" in log(cluster))
    apply(cluster, pod("other"))
    until("it is played", ends_up(cluster, "pod", "other", "Unknown"))

    cluster.delete("stage", "pod-ready")

    until("that is noticed", lambda: "stage 'pod-ready' stays left out" in log(cluster))
    # The next controller knows it, too.
    os.kill(cluster.pids()["kwok-controller"], signal.SIGKILL)
    cluster.ok("start", "cluster", "--wait")
    apply(cluster, pod("usual"), pod("fragile-too", fragile="true"))
    played = cluster.ok("status", "-o", "json")
    assert '"pod-delete"' in played
    assert '"pod-ready"' not in played
    assert phase(cluster, "pod", "usual") == "Pending"

    forget(cluster)
    until("the file's is played", ends_up(cluster, "pod", "usual", "Running"))


def test_a_rewind_knows_what_was_replaced_then(cluster: Installed) -> None:
    cluster.ok("snapshot", "mark")
    apply(cluster, stage("pod-ready", template="phase: Unknown"))
    until(
        "that is kept",
        lambda: "pod-ready" in kept(cluster),
    )

    cluster.ok("snapshot", "rewind")

    apply(cluster, pod("rewound"))
    until("the file's is played", ends_up(cluster, "pod", "rewound", "Running"))


def test_a_shipped_stage_is_left_out_for_one_that_is_for_the_same_objects(
    cluster: Installed,
) -> None:
    apply(cluster, stage("mine", template="phase: Unknown"))
    until("it is left out", lambda: "stage 'pod-ready' is left out: stage 'mine'" in log(cluster))
    apply(cluster, *(pod(f"of-mine-{number}") for number in range(5)))
    for number in range(5):
        until("it is played", ends_up(cluster, "pod", f"of-mine-{number}", "Unknown"))

    cluster.delete("stage", "mine")

    apply(cluster, pod("of-file"))
    until("the file's is played", ends_up(cluster, "pod", "of-file", "Running"))


def test_a_wrong_stage_is_named_in_its_status_and_stops_no_other(cluster: Installed) -> None:
    wrong = stage("wrong", phase="Running", template="phase: Failed")
    wrong["spec"]["weightFrom"] = {"cel": {"expression": "self.status.phaze"}}
    apply(cluster, wrong)

    def found() -> dict[str, Any]:
        return dict(cluster.found("stage", "wrong"))

    until("it is refused", lambda: condition({"status": {}, **found()}, "Accepted") == "False")
    [reason] = found()["status"]["conditions"]
    assert "'spec.weightFrom.cel.expression' cannot be compiled" in reason["message"]
    assert "column" in reason["message"]
    assert "stage 'wrong' of the cluster is left out" in log(cluster)
    apply(cluster, pod("beside"))
    until("others are played", ends_up(cluster, "pod", "beside", "Running"))
    cluster.delete("stage", "wrong")


def test_a_stage_waits_for_a_kind_that_comes_goes_and_comes_back(cluster: Installed) -> None:
    apply(cluster, FOR_WIDGETS)
    until("the kind is missed", lambda: "the API version of 'Widget'" in log(cluster))
    for name in ("first", "second"):
        apply(cluster, WIDGETS)
        cluster.wait_for("Established", "crd/widgets.example.com")
        until("it is served", lambda: cluster.answers("widgets.example.com"))
        apply(cluster, widget(name))
        until("it works", ends_up(cluster, "widgets.example.com", name, "Working"))
        assert "widget-works: " in cluster.ok("stage", "explain", f"widget/{name}")
        cluster.delete("crd", "widgets.example.com")
    assert "Traceback" not in log(cluster)


def test_objects_in_a_circle_of_stages_have_an_event_that_names_it(cluster: Installed) -> None:
    around = {"matchLabels": {"around": "true"}}
    there = stage("there", phase="Running", template="phase: Unknown", selector=around)
    back = stage("back", phase="Unknown", template="phase: Running", selector=around)
    apply(cluster, there, back, pod("dizzy", around="true"))

    def found() -> list[str]:
        events = cluster.objects("events", "--field-selector=reason=StageCircle")
        return [f"{each['involvedObject']['name']}: {each['message']}" for each in events]

    until("an Event names the circle", lambda: len(found()) == 1)
    assert "dizzy: Stages without delay follow each other in a cycle" in found()[0]
    assert "'there', 'back'" in found()[0] or "'back', 'there'" in found()[0]
    cluster.delete("stage", "there", "back")


def test_scale_plays_the_stages_that_are_in_force_now(cluster: Installed) -> None:
    slow = stage("node-initialize", "Node", phase=None, template="phase: Booting")
    slow["spec"]["delay"] = {"durationMilliseconds": 600_000}
    apply(cluster, slow)
    until("it is in force", lambda: "'node-initialize' of the cluster is played" in log(cluster))

    cluster.ok("scale", "node", "--replicas", "50")

    nodes = cluster.objects("nodes", "-l", "kwok.x-k8s.io/kwokctl-scale=node")
    assert len(nodes) == 50
    assert not any(condition(each, "Ready") == "True" for each in nodes)
    cluster.delete("stage", "node-initialize")
    forget(cluster)
    cluster.ok("scale", "node", "--replicas", "50", "--wait")


def test_stages_are_in_force_after_a_restart_before_anything_is_played(cluster: Installed) -> None:
    apply(cluster, stage("pod-ready", template="phase: Unknown"))
    until(
        "it is in force",
        lambda: log(cluster).count("'pod-ready' of the cluster is played in place") > 2,
    )
    cluster.ok("stop", "cluster")
    cluster.ok("start", "cluster")
    apply(cluster, pod("restarted"))

    until("it is played", ends_up(cluster, "pod", "restarted", "Unknown"))
