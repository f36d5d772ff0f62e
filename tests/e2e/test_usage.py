"""What fake nodes and pods use, as `kubectl top`, an autoscaler and Prometheus see it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl import assets
from tests.support.installed import Installed, until
from tests.support.listeners import listeners_of
from tests.support.open_paths import answered, open_to_all
from tests.support.places import Place, opened
from tests.support.prometheus import NoPrometheusError, PrometheusOf, chosen
from tests.support.stranger import Stranger, certified

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story(by="place"),
    pytest.mark.timeout(900, func_only=True),
]

NODES = 3
BUILD = 1500.0
"""Seconds in which metrics-server is built, where it cannot be downloaded."""
ROUNDS = 150.0
"""Seconds in which metrics-server has asked every node more than twice."""
QUICK = (
    "--metrics-server-resolution", "10",  # the least that metrics-server takes
    "--prometheus-interval", "4",
    "--extra-args", "kube-controller-manager=horizontal-pod-autoscaler-sync-period=2s",
    "--extra-args", "kube-controller-manager=horizontal-pod-autoscaler-cpu-initialization-period=1s",
    "--extra-args", "kube-controller-manager=horizontal-pod-autoscaler-initial-readiness-delay=1s",
)  # fmt: skip
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {
                "labels": {"app": "web"},
                "annotations": {
                    "kwok.x-k8s.io/usage-cpu": "250m",
                    "kwok.x-k8s.io/usage-memory": "50%",
                },
            },
            "spec": {
                "initContainers": [{"name": "side", "image": "x", "restartPolicy": "Always"}],
                "containers": [
                    {
                        "name": "app",
                        "image": "x",
                        "resources": {"requests": {"cpu": "500m", "memory": "64Mi"}},
                    }
                ],
                "tolerations": [{"operator": "Exists"}],
                "nodeSelector": {"type": "kwok"},
            },
        },
    },
}
AUTOSCALER: dict[str, Any] = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "web"},
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "maxReplicas": 6,
        "metrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "AverageValue", "averageValue": "600m"},
                },
            }
        ],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
    },
}


@pytest.fixture(
    scope="module",
    params=[
        "binary",
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("kind", marks=pytest.mark.kind),
    ],
)
def place(request: pytest.FixtureRequest, programs: None) -> Iterator[Place]:
    """A runtime, with an engine of the tests' own if it needs one."""
    with opened(request) as place:
        yield place


@pytest.fixture(scope="module")
def main(place: Place, installed: Installed) -> Iterator[Installed]:
    main = installed.called(f"usage-{place.name}")
    try:
        more = chosen(place)
    except NoPrometheusError:
        more = ()
    words = ("--enable", "metrics-server", "--enable-crds", "ResourceUsage")
    place.create(main, *words, "--nodes", str(NODES), *QUICK, *more, timeout=BUILD)
    yield main
    main.ok("delete", "cluster")


@pytest.fixture(scope="module")
def prometheus(place: Place, main: Installed) -> PrometheusOf:
    try:
        chosen(place)
    except NoPrometheusError as e:
        pytest.skip(f"no Prometheus: {e}")
    return PrometheusOf.running(main)


def fake(main: Installed) -> list[dict[str, Any]]:
    """Return the nodes that are not kind's."""
    return main.objects("nodes", "--selector", "type=kwok")


def measured(main: Installed, what: str) -> dict[str, dict[str, Any]]:
    """Return what metrics-server knows of all nodes or pods, by name."""
    text = main.raw(f"/apis/metrics.k8s.io/v1beta1/{what}")
    return {each["metadata"]["name"]: each for each in json.loads(text)["items"]}


def is_asked_for_metrics(words: str) -> bool:
    """Return whether a process is Prometheus, or the server that relays to it."""
    return Path(words.split(maxsplit=1)[0]).name == "prometheus" or "kwokctl.kubelet" in words


def has_number(series: list[dict[str, Any]]) -> bool:
    """Return whether a series has a value that is one: what did not happen has no quantile."""
    return any(each["value"][1] != "NaN" for each in series)


def processors(quantity: str) -> float:
    """Return how many processors a quantity says."""
    units = {"n": 1e-9, "u": 1e-6, "m": 1e-3}
    return float(quantity[:-1]) * units[quantity[-1]] if quantity[-1] in units else float(quantity)


def used_by_app(main: Installed) -> list[float]:
    """Return the processors that the containers `app` use."""
    containers = [
        each
        for pod in measured(main, "namespaces/default/pods").values()
        for each in pod["containers"]
    ]
    return [processors(each["usage"]["cpu"]) for each in containers if each["name"] == "app"]


def test_the_cluster_is_ready_when_its_metrics_can_be_asked_for(main: Installed) -> None:
    assert main.statuses() == {"Ready"}
    assert json.loads(main.kubectl("get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes"))


def test_top_shows_every_node(main: Installed) -> None:
    nodes = {each["metadata"]["name"] for each in main.objects("nodes")}
    until(
        "every node is measured, kind's, too",
        lambda: nodes <= measured(main, "nodes").keys(),
        patience=ROUNDS,
    )
    assert len(fake(main)) == NODES
    shown = main.kubectl("top", "nodes").splitlines()[1:]
    assert nodes <= {line.split()[0] for line in shown}


def test_top_shows_what_annotations_say_of_the_own_containers_of_a_pod(main: Installed) -> None:
    main.apply(DEPLOYMENT)
    until("both pods are measured", lambda: len(used_by_app(main)) == 2, patience=ROUNDS)

    pods = measured(main, "namespaces/default/pods").values()
    for pod in pods:
        usage = {each["name"]: each["usage"] for each in pod["containers"]}
        assert usage.keys() == {"app", "side"}
        assert abs(processors(usage["app"]["cpu"]) - 0.25) < 0.01
        assert processors(usage["side"]["cpu"]) < 0.001
        assert usage["app"]["memory"] == "32Mi"
    shown = [line.split()[1:] for line in main.kubectl("top", "pods").splitlines()[1:]]
    assert all(cpu in {"250m", "251m"} and memory == "32Mi" for cpu, memory in shown)


def test_a_node_uses_what_its_pods_use(main: Installed) -> None:
    def used() -> float:
        nodes = measured(main, "nodes").values()
        return sum(processors(each["usage"]["cpu"]) for each in nodes)

    until("a whole round has seen both pods", lambda: used() > 2 * 0.25, patience=ROUNDS)


def test_a_changed_annotation_and_a_resource_usage_are_seen(main: Installed) -> None:
    first, *_ = main.objects("pods", "--selector", "app=web")
    usage = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ResourceUsage",
        "metadata": {"name": first["metadata"]["name"]},
        "spec": {"usages": [{"usage": {"cpu": {"value": "800m"}}}]},
    }
    main.apply(usage)
    main.annotate("pod", "--all", "--overwrite", "kwok.x-k8s.io/usage-cpu=700m")
    until(
        "the new values are measured",
        lambda: [round(value, 1) for value in sorted(used_by_app(main))] == [0.7, 0.8],
        patience=ROUNDS,
    )


def test_an_autoscaler_acts_on_a_step_up_and_down_again(place: Place, main: Installed) -> None:
    if place.name != "binary":
        pytest.skip("it takes minutes, and the runtime has no part in it")
    steps = "{steps: [{value: 900m}, {value: 50m, after: 45s}]}"
    change = {"metadata": {"annotations": {"kwok.x-k8s.io/usage-cpu": steps}}}
    patch = json.dumps({"spec": {"template": change}})
    main.patch("deployment", "web", "--type", "merge", "--patch", patch)
    main.apply(AUTOSCALER)

    def replicas() -> int:
        found = main.objects("deployments")[0]["spec"]["replicas"]
        assert isinstance(found, int)
        return found

    until("there are more", lambda: replicas() > 2, patience=2 * ROUNDS)
    until("there is one again", lambda: replicas() == 1, patience=3 * ROUNDS)


def test_metrics_server_may_read_and_nothing_else(main: Installed) -> None:
    def may(*words: str) -> bool:
        done = main.run("kubectl", "auth", "can-i", *words, "--as", "kwokctl:metrics-server")
        return done.out.strip() == "yes"

    assert may("list", "nodes")
    assert may("get", "nodes", "--subresource", "metrics")
    assert not may("get", "secrets")
    assert not may("delete", "pods")
    assert not may("get", "nodes", "--subresource", "proxy")


def test_every_component_and_every_node_is_a_target_and_up(
    main: Installed, prometheus: PrometheusOf
) -> None:
    jobs = {*main.components(), "nodes"}
    until("all are up", lambda: prometheus.states() == {job: {"up"} for job in jobs})

    nodes = {each["metric"]["instance"] for each in prometheus.found('up{job="nodes"}')}
    assert nodes == {each["metadata"]["name"] for each in fake(main)}


def test_prometheus_knows_what_containers_use(main: Installed, prometheus: PrometheusOf) -> None:
    found = prometheus.found('container_memory_working_set_bytes{container="app"}')
    assert {each["metric"]["namespace"] for each in found} == {"default"}
    assert {float(each["value"][1]) for each in found} == {32.0 * 2**20}


def test_every_query_of_the_dashboard_finds_something(
    main: Installed, prometheus: PrometheusOf
) -> None:
    panels = json.loads(assets.text("dashboards/kwok.json"))["panels"]
    asked = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    left = [query.replace("$__rate_interval", "5m") for query in asked]

    def all_find() -> bool:
        left[:] = [query for query in left if not has_number(prometheus.found(query))]
        return not left

    assert len(asked) > 25
    # What has happened before the first scrape has no rate.
    main.kubectl("scale", "deployment", "web", "--replicas", "5")
    try:
        until("all of them find something", all_find)
    except AssertionError as e:
        raise AssertionError(f"nothing is found by {left}") from e


def test_another_user_of_the_machine_is_answered_only_what_is_open_to_all(
    place: Place, main: Installed
) -> None:
    if os.geteuid():
        pytest.skip("only root can try it as another user")
    found = answered(main, Stranger())

    # Answered with an error as long as it has not measured enough.
    found["metrics-server"].add("GET /readyz")
    assert found == open_to_all(place, main.components())


@pytest.mark.parametrize("shows", ["nothing", "a certificate"])
def test_another_user_of_the_machine_learns_nothing_of_metrics(
    main: Installed, prometheus: PrometheusOf, tmp_path: Path, shows: str
) -> None:
    if os.geteuid():
        pytest.skip("only root can try it as another user")
    stranger = Stranger() if shows == "nothing" else certified(main, tmp_path, "prometheus-client")
    paths = ("/metrics", "/api/v1/targets", "/-/ready", "/graph", "/metrics/components/etcd")
    pids = {pid for pid, words in main.processes().items() if is_asked_for_metrics(words)}
    listeners = listeners_of(pids)

    assert {each.pid for each in listeners} == pids
    assert len(pids) == 2
    assert stranger.answered(listeners, [f"GET {path}" for path in paths]) == []


def test_metrics_come_back_after_a_stop(main: Installed) -> None:
    main.ok("stop", "cluster")
    main.ok("start", "cluster", "--wait")
    until("every node is measured", lambda: len(measured(main, "nodes")) >= NODES, patience=ROUNDS)


def test_what_prometheus_has_measured_survives_a_stop(prometheus: PrometheusOf) -> None:
    until("it is asked again", lambda: set().union(*prometheus.states().values()) == {"up"})
    # Of pods whose Deployment has been scaled down since.
    assert len(prometheus.found("last_over_time(pod_memory_working_set_bytes[30m])")) > 1
