"""Nodes of one's own make are whole: of the pages' templates, of kubectl, as an autoscaler makes them.

They are measured, an autoscaler acts on their pods, their devices fail, and they are written fast.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl.embedded.resource_metrics import ANNOTATION
from tests.support.installed import TELLING, Installed, until
from tests.support.page_templates import all_templates

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(900, func_only=True),
]

TEMPLATES = all_templates()
NODES = 30
"""Enough to be worth copies."""
DEVICE = "example.com/gpu"
FAILING_DEVICE = Path(__file__).parents[2] / "examples/stages/failing-device.yaml"
BUILD = 1500.0
"""Seconds in which metrics-server is built, where it cannot be downloaded."""
ROUNDS = 180.0
"""Seconds in which metrics-server has asked every node more than twice."""
KEPT = """
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlResource
metadata: {name: settings}
template: |
  apiVersion: v1
  kind: ConfigMap
  metadata: {namespace: team-a}
  data: {number: {{ Quote Index }}, asked: {{ Quote Namespace }}}
"""
"""A template that is given at the creation, of objects in a namespace of its own."""
OWN: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "mine", "labels": {"own": "true"}},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10", DEVICE: "2"}},
}
WEB: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {
                "labels": {"app": "web"},
                "annotations": {"kwok.x-k8s.io/usage-cpu": "900m"},
            },
            "spec": {
                "containers": [
                    {"name": "app", "image": "x", "resources": {"requests": {"cpu": "500m"}}}
                ],
                "nodeSelector": {"own": "true"},
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
        "maxReplicas": 4,
        "metrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "AverageValue", "averageValue": "600m"},
                },
            }
        ],
    },
}


@pytest.fixture(scope="module")
def main(programs: None, installed: Installed) -> Iterator[Installed]:
    main = installed.called("own-templates")
    words = ("--enable", "metrics-server", "--metrics-server-resolution", "10", "--wait")
    quick = [
        f"kube-controller-manager=horizontal-pod-autoscaler-{setting}"
        for setting in (
            "sync-period=2s",
            "cpu-initialization-period=1s",
            "initial-readiness-delay=1s",
        )
    ]
    extra = [word for each in quick for word in ("--extra-args", each)]
    template = main.folder / "kept.yaml"
    template.write_text(KEPT)
    documents = ("--config", str(FAILING_DEVICE), "--config", str(template))
    main.ok("create", "cluster", *words, *extra, *documents, timeout=BUILD)
    template.unlink()
    yield main
    main.ok("delete", "cluster")


def of_set(main: Installed, name: str) -> list[dict[str, Any]]:
    return main.objects("nodes", "--selector", f"kwok.x-k8s.io/kwokctl-scale={name}")


def named(main: Installed, name: str) -> dict[str, Any]:
    (node,) = main.objects("nodes", "--field-selector", f"metadata.name={name}")
    return node


def measured(main: Installed) -> set[str]:
    """Return the nodes that metrics-server has measured."""
    return {*main.names("nodes.metrics.k8s.io")}


def test_there_are_templates_on_pages() -> None:
    assert {"gpu-node", "zoned-node"} <= TEMPLATES.keys()


@pytest.mark.parametrize("name", TEMPLATES)
def test_nodes_of_a_page_s_template_are_written_fast_and_whole(
    main: Installed, tmp_path: Path, name: str
) -> None:
    config = tmp_path / "own.yaml"
    config.write_text(TEMPLATES[name])
    words = ("scale", name, "--replicas", str(NODES), "--wait")
    done = main.run(*TELLING, "--config", str(config), *words)

    assert done.code == 0, done.err
    assert "writes: straight to etcd" in done.err
    nodes = of_set(main, name)
    assert len(nodes) == NODES
    for node in nodes:
        path = f"/metrics/nodes/{node['metadata']['name']}/metrics/resource"
        assert node["metadata"]["annotations"][ANNOTATION] == path
        assert node["status"]["capacity"] == node["status"]["allocatable"]
    names = {node["metadata"]["name"] for node in nodes}
    until("each node is measured", lambda: names <= measured(main), patience=ROUNDS)


def test_a_template_of_the_creation_needs_no_file_and_names_its_namespace(main: Installed) -> None:
    main.kubectl("create", "namespace", "team-a")
    main.ok("scale", "settings", "--replicas", "30")
    main.ok("scale", "settings", "--replicas", "3")

    words = ("--namespace", "team-a", "--selector", "kwok.x-k8s.io/kwokctl-scale=settings")
    found = main.objects("configmaps", *words)
    assert [each["data"] for each in found] == [
        {"number": str(number), "asked": "default"} for number in range(3)
    ]
    refused = main.run("scale", "settings", "--replicas", "1", "--namespace", "default")
    assert refused.code == 2
    assert "puts its objects into 'team-a'" in refused.err
    assert len(main.objects("configmaps", *words)) == 3


def test_a_node_of_kubectl_is_whole_after_its_first_status(main: Installed) -> None:
    main.create(OWN)
    main.wait_for("Ready", "node/mine")

    node = named(main, "mine")
    assert node["status"]["capacity"] == OWN["status"]["allocatable"]
    assert node["metadata"]["annotations"][ANNOTATION] == "/metrics/nodes/mine/metrics/resource"
    until("it is measured", lambda: "mine" in measured(main), patience=ROUNDS)
    assert "mine" in main.kubectl("top", "nodes")


def test_the_annotations_of_others_stay(main: Installed) -> None:
    main.apply(OWN)
    main.annotate("node", "mine", "a=b")
    main.apply(OWN)

    annotations = named(main, "mine")["metadata"]["annotations"]
    assert annotations["a"] == "b"
    assert ANNOTATION in annotations
    own = {"metadata": {"name": "other", "annotations": {ANNOTATION: "/own"}}}
    main.create({**OWN, **own})
    main.wait_for("Ready", "node/other")
    assert named(main, "other")["metadata"]["annotations"][ANNOTATION] == "/own"
    main.delete("node", "other")


def test_an_autoscaler_acts_on_pods_of_such_a_node(main: Installed) -> None:
    main.apply(WEB)
    main.apply(AUTOSCALER)

    def replicas() -> int:
        found = main.objects("deployments")[0]["spec"]["replicas"]
        assert isinstance(found, int)
        return found

    until("there are more", lambda: replicas() > 2, patience=2 * ROUNDS)


@pytest.mark.parametrize(("name", "count"), [("gpu-node-000001", "8"), ("mine", "2")])
def test_the_devices_of_such_a_node_fail_and_recover(
    main: Installed, name: str, count: str
) -> None:
    main.label("node", name, "example.com/device=failing")
    until(
        "the scheduler sees no device",
        lambda: named(main, name)["status"]["allocatable"][DEVICE] == "0",
    )
    assert named(main, name)["status"]["capacity"][DEVICE] == count

    main.label("node", name, "example.com/device-")
    until(
        "the devices are there again",
        lambda: named(main, name)["status"]["allocatable"][DEVICE] == count,
    )


def test_a_node_that_has_lost_its_path_is_found_and_repaired(main: Installed) -> None:
    main.annotate("node", "mine", f"{ANNOTATION}-")

    # To read all programs of the user's store takes long, and is tested elsewhere.
    without = str(main.folder / "no-cache")
    found = main.run("doctor", XDG_CACHE_HOME=without)
    assert found.code == 1
    assert "1 node is without metrics, such as 'mine'" in found.out + found.err

    main.run("doctor", "--fix", XDG_CACHE_HOME=without)
    assert ANNOTATION in named(main, "mine")["metadata"]["annotations"]
