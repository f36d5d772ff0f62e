"""What `scale` writes to etcd has been played as the cluster's Stages say, and no further."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from kwokctl.dataplane.bulk.created_samples import SAMPLES
from tests.support.general_stages import general_pod_stages
from tests.support.installed import Installed, condition, until
from tests.support.stage_documents import stage

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

NUMBER = 60
PATHS = ("api", "etcd")
SET = '.metadata.labels["kwok.x-k8s.io/kwokctl-scale"]'
READY = """
conditions:
{{ range NodeConditions }}
- {type: {{ Quote .type }}, status: {{ Quote .status }}, reason: WHY, message: as the stage says}
{{ end }}
phase: Running
"""
HEALTHY = READY.replace("WHY", "{{ Quote .reason }}").replace(
    "as the stage says", "{{ Quote .message }}"
)


def of_set(*names: str, kind: str = "In") -> dict[str, Any]:
    return {"matchExpressions": [{"jq": {"key": SET, "operator": kind, "values": list(names)}}]}


def pods(name: str, of: str, template: str, **more: Any) -> dict[str, Any]:
    selector = of_set(of)
    selector["matchExpressions"] += more.pop("expressions", [])
    return stage(name, selector=selector, template=template, **more)


EVEN = '.metadata.name | test("[02468]$")'
STAGES = [
    stage("fast", "Node", phase=None, template=READY.replace("WHY", "Fast"),
          selector={"matchExpressions": [
              *of_set("slow", "single", kind="NotIn")["matchExpressions"],
              {"jq": {"key": ".status.phase", "operator": "DoesNotExist"}}]}),
    stage("slow", "Node", phase=None, template=READY.replace("WHY", "SlowBoot"),
          delay={"durationMilliseconds": 8000},
          selector={"matchExpressions": [
              *of_set("slow")["matchExpressions"],
              {"jq": {"key": ".status.phase", "operator": "DoesNotExist"}}]}),
    stage("single", "Node", phase=None,
          template=HEALTHY + "nodeInfo: {bootID: {{ Quote uuidv4 }}}",
          selector={"matchExpressions": [
              *of_set("single")["matchExpressions"],
              {"jq": {"key": ".status.phase", "operator": "DoesNotExist"}}]}),
    pods("late", "late", "phase: Running", delay={"durationMilliseconds": 6000}),
    pods("one", "weighted", "phase: Running", weight=1),
    pods("other", "weighted", "phase: Failed", weight=1),
    pods("even", "named", "phase: Running",
         expressions=[{"jq": {"key": EVEN, "operator": "In", "values": ["true"]}}]),
    pods("odd", "named", "phase: Failed",
         expressions=[{"jq": {"key": EVEN, "operator": "In", "values": ["false"]}}]),
    pods("random", "random", "{phase: Running, message: {{ Quote uuidv4 }}}"),
    pods("plain", "plain", "phase: Running"),
    stage("labels", phase=None,
          selector={"matchExpressions": [
              *of_set("labelled")["matchExpressions"],
              {"jq": {"key": ".metadata.labels.is", "operator": "DoesNotExist"}}]},
          steps=[{"patch": {"root": "metadata", "template":
              "{labels: {is: labelled}, annotations: {name: {{ Quote .metadata.name }}}}"}}]),
    pods("after-labels", "labelled", "phase: Running",
         expressions=[{"jq": {"key": ".metadata.labels.is", "operator": "Exists"}}]),
    *general_pod_stages("general"),
]  # fmt: skip


@pytest.fixture(scope="module")
def clusters(installed: Installed) -> Iterator[Mapping[str, Installed]]:
    """Two clusters by their data path, with the same Stages."""
    made = {path: installed.called(path) for path in PATHS}
    file = installed.folder / "stages.yaml"
    file.write_text("\n---\n".join(map(json.dumps, STAGES)))
    for path, cluster in made.items():
        words = (
            "--data-path",
            path,
            "--config",
            str(file),
            "--stage",
            "none",
            "--etcd-fsync",
            "off",
            "--disable",
            "kube-scheduler",
        )
        cluster.ok("create", "cluster", "--wait", *words)
        cluster.ok("scale", "node", "fast", "--replicas", str(NUMBER), "--wait", "120s")
    yield made
    for cluster in made.values():
        cluster.ok("delete", "cluster")


@pytest.fixture
def cluster(clusters: Mapping[str, Installed]) -> Installed:
    return clusters["etcd"]


def scaled(cluster: Installed, name: str, *words: str) -> list[dict[str, Any]]:
    """Scale a set of pods, and return what is there right afterwards."""
    on = ("--on-nodes", "kwok.x-k8s.io/kwokctl-scale=fast")
    cluster.ok("scale", "pod", name, "--replicas", str(NUMBER), *on, *words)
    return of(cluster, "pods", name)


def of(cluster: Installed, kind: str, name: str) -> list[dict[str, Any]]:
    return cluster.objects(kind, "-l", f"kwok.x-k8s.io/kwokctl-scale={name}")


def phases(found: list[dict[str, Any]]) -> Counter[str]:
    return Counter(each["status"]["phase"] for each in found)


def ready(node: dict[str, Any]) -> tuple[str, str]:
    found = [each for each in node["status"].get("conditions", ()) if each["type"] == "Ready"]
    return (found[0]["status"], found[0]["reason"]) if found else ("", "")


def test_nodes_are_ready_at_once_as_their_stage_says(cluster: Installed) -> None:
    nodes = of(cluster, "nodes", "fast")

    assert {ready(each) for each in nodes} == {("True", "Fast")}
    assert not any(each["spec"].get("taints") for each in nodes)


def test_nodes_that_are_played_one_by_one_are_born_without_the_taint(cluster: Installed) -> None:
    cluster.ok("scale", "node", "single", "--replicas", str(NUMBER))

    nodes = of(cluster, "nodes", "single")
    assert {ready(each) for each in nodes} == {("True", "KubeletReady")}
    tainted = {each["metadata"]["name"] for each in nodes if each["spec"].get("taints")}
    # The samples are created through the API server, and one of them is waited for.
    samples = sorted(each["metadata"]["name"] for each in nodes)[:SAMPLES]
    assert tainted < set(samples)
    assert len({each["status"]["nodeInfo"]["bootID"] for each in nodes}) == NUMBER


def test_nodes_whose_stage_waits_are_ready_when_that_is_over(cluster: Installed) -> None:
    cluster.ok("scale", "node", "slow", "--replicas", str(NUMBER))

    assert {condition(each, "Ready") for each in of(cluster, "nodes", "slow")} == {""}

    cluster.ok("scale", "node", "slow", "--replicas", str(NUMBER), "--wait", "120s")
    assert {ready(each) for each in of(cluster, "nodes", "slow")} == {("True", "SlowBoot")}


def test_pods_whose_stage_waits_run_when_that_is_over(cluster: Installed) -> None:
    assert phases(scaled(cluster, "late")) == {"Pending": NUMBER}

    scaled(cluster, "late", "--wait", "120s")
    assert phases(of(cluster, "pods", "late")) == {"Running": NUMBER}


def test_each_pod_has_its_own_chance(cluster: Installed) -> None:
    found = phases(scaled(cluster, "weighted"))

    assert found.keys() == {"Running", "Failed"}
    assert min(found.values()) > NUMBER / 6


def test_stages_for_certain_names_are_for_the_right_pods(cluster: Installed) -> None:
    for each in scaled(cluster, "named"):
        number = int(each["metadata"]["name"].removeprefix("named-"))
        assert each["status"]["phase"] == ("Failed" if number % 2 else "Running")


def test_what_is_random_is_so_for_each_pod(cluster: Installed) -> None:
    found = scaled(cluster, "random")

    assert phases(found) == {"Running": NUMBER}
    assert len({each["status"]["message"] for each in found}) == NUMBER


def test_pods_are_labelled_at_once_and_go_on_from_there(cluster: Installed) -> None:
    found = scaled(cluster, "labelled")

    assert phases(found) == {"Running": NUMBER}
    for each in found:
        assert each["metadata"]["labels"]["is"] == "labelled"
        assert each["metadata"]["annotations"]["name"] == each["metadata"]["name"]


def test_pods_that_nothing_holds_back_run_at_once(cluster: Installed) -> None:
    assert phases(scaled(cluster, "plain")) == {"Running": NUMBER}


def test_the_general_set_ends_alike_on_both_paths(clusters: Mapping[str, Installed]) -> None:
    ended = []
    for path in PATHS:
        scaled(clusters[path], "general", "--wait", "180s", "--param", INIT)
        found = of(clusters[path], "pods", "general")
        assert len({each["status"]["podIP"] for each in found}) == NUMBER
        ended.append({each["metadata"]["name"]: shape(each["status"]) for each in found})
        until("every event is there", partial(has_all_events, clusters[path]))

    assert ended[0] == ended[1]
    assert events(clusters["api"]) == events(clusters["etcd"])


INIT = '.initContainers = [{name: "i", image: "k"}]'
_OWN = ("IP", "IPs", "ime", "edAt", "ip", "Timestamp")


def shape(value: Any) -> Any:
    """Return a status without times and addresses."""
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items() if not k.endswith(_OWN)}
    return [shape(item) for item in value] if isinstance(value, list) else value


def has_all_events(cluster: Installed) -> bool:
    """Return whether each Stage has made an event for each pod."""
    names = [each["metadata"]["name"] for each in general_pod_stages("general")]
    found = cluster.objects("events", *OURS)
    return Counter(each["reason"] for each in found) == dict.fromkeys(names, NUMBER)


OURS = ("--field-selector", "source=kwok_controller", "--show-managed-fields")


def events(cluster: Installed) -> Mapping[tuple[str, str], Any]:
    """Return the Events of Stages by pod, without what cannot be the same twice."""
    found = cluster.objects("events", *OURS)
    for each in found:
        for part in (each["metadata"], each["involvedObject"]):
            del part["uid"], part["resourceVersion"]
        name, _, moment = each["metadata"].pop("name").rpartition(".")
        assert name == each["involvedObject"]["name"]
        assert int(moment, 16) // 10**9 == at(each["firstTimestamp"])
    return {(each["involvedObject"]["name"], each["reason"]): shape(each) for each in found}


def at(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()
