"""Nodes of known machines in a real cluster: what a scheduler and a person see of them."""

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.changing import documents
from tests.support.helm import helm
from tests.support.installed import Installed
from tests.support.kinds_of_any_fields import definition

pytestmark = [pytest.mark.components, pytest.mark.e2e]


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    return with_faults


def nodes(cluster: Installed, shape: str) -> list[dict[str, Any]]:
    return cluster.objects("nodes", "-l", f"kwokctl.dev/shape={shape}")


def as_made(node: dict[str, Any]) -> dict[str, Any]:
    """Return what a node has from its shape and its number."""
    meta, status = node["metadata"], node["status"]
    return {
        "labels": meta["labels"],
        "place": meta["annotations"]["kwokctl.dev/place"],
        "networks": node["spec"]["podCIDRs"],
        "addresses": status["addresses"],
        "resources": (status["capacity"], status["allocatable"]),
        "machine": status["nodeInfo"]["systemUUID"],
    }


def test_machines_are_there_by_name_and_lost_ones_come_back_alike(cluster: Installed) -> None:
    cluster.ok("scale", "gb200-nvl72", "--replicas", "20", "--wait")
    cluster.ok("scale", "p5", "--replicas", "3", "--wait", "--param", '.labels.team = "a"')
    cluster.ok("scale", "p5", "--replicas", "5", "--wait", "--param", '.labels.team = "b"')
    before = {str(each["metadata"]["name"]): as_made(each) for each in nodes(cluster, "p5")}

    cluster.delete("node", "p5-000001", "p5-000004")
    said = cluster.run("scale", "p5", "--replicas", "5", "--wait")

    assert said.code == 0, said.err
    after = {str(each["metadata"]["name"]): as_made(each) for each in nodes(cluster, "p5")}
    assert after == before
    teams = [after[name]["labels"]["team"] for name in ("p5-000001", "p5-000004")]
    assert teams == ["a", "b"]
    capacity, allocatable = after["p5-000001"]["resources"]
    assert allocatable["vpc.amazonaws.com/efa"] == "32"
    assert capacity["cpu"] == "192"

    domain = "accelerator.topograph.run/domain"
    racks = [each["metadata"]["labels"][domain] for each in nodes(cluster, "gb200-nvl72")]
    assert racks.count("gb200-nvl72-rack-0000") == 18
    assert racks.count("gb200-nvl72-rack-0001") == 2


def test_a_pod_that_wants_a_machine_by_its_label_runs_there(cluster: Installed) -> None:
    cluster.ok("scale", "dgx-h100", "--replicas", "2", "--wait")
    wish = {
        "nodeSelector": {"nvidia.com/gpu.machine": "NVIDIA-DGX-H100"},
        "containers": [
            {"name": "x", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}}
        ],
    }
    cluster.run_pod("train", wish)
    cluster.wait_for("Ready", "pod/train")

    assert cluster.found("pod", "train")["spec"]["nodeName"].startswith("dgx-h100-")


def applied(cluster: Installed, body: dict[str, Any]) -> None:
    cluster.apply(body)


def pods_of(cluster: Installed, app: str) -> list[dict[str, Any]]:
    return cluster.objects("pods", "-l", f"app={app}")


def test_pods_are_spread_over_racks_by_their_label(cluster: Installed) -> None:
    rack = "cloud.provider.com/topology-rack"
    three_racks = ("--replicas", "6", "--param", ".topology.nodesPerRack = 2")
    kueue = ("--param", '.topology.vocabularies += ["kueue"]')
    cluster.ok("scale", "dgx-h100", "spread", *three_racks, *kueue, "--wait")
    spec = {
        "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": rack,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "shards"}},
            }
        ],
        "containers": [
            {"name": "x", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "4"}}}
        ],
    }
    template = {"metadata": {"labels": {"app": "shards"}}, "spec": spec}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shards"},
        "spec": {
            "replicas": 9,
            "selector": {"matchLabels": {"app": "shards"}},
            "template": template,
        },
    }
    applied(cluster, deployment)
    cluster.wait_for_rollout("shards")

    rack_of = {
        each["metadata"]["name"]: each["metadata"]["labels"].get(rack)
        for each in nodes(cluster, "dgx-h100")
    }
    racks = Counter(rack_of[pod["spec"]["nodeName"]] for pod in pods_of(cluster, "shards"))
    assert racks == {f"spread-rack-000{number}": 3 for number in range(3)}
    cluster.delete("deployment", "shards", "--wait")


def test_a_daemonset_that_selects_machines_with_gpus_runs_on_each_of_them(
    cluster: Installed,
) -> None:
    cluster.ok("scale", "dgx-a100", "--replicas", "2", "--wait")
    cluster.ok("scale", "m6i-4xlarge", "--replicas", "2", "--wait")
    # Charts for NVIDIA's device plugin and exporters accept what feature discovery labels, or the older label of the PCI vendor.
    terms = [
        {"matchExpressions": [{"key": key, "operator": "In", "values": ["true"]}]}
        for key in ("feature.node.kubernetes.io/pci-10de.present", "nvidia.com/gpu.present")
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    spec = {
        "affinity": {"nodeAffinity": required},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [{"name": "x", "image": "x"}],
    }
    daemons = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "plugin"},
        "spec": {
            "selector": {"matchLabels": {"app": "plugin"}},
            "template": {"metadata": {"labels": {"app": "plugin"}}, "spec": spec},
        },
    }
    applied(cluster, daemons)
    cluster.kubectl("rollout", "status", "daemonset/plugin", "--timeout=300s")

    machines = set(cluster.names("nodes", "-l", "nvidia.com/gpu.present=true"))
    assert {pod["spec"]["nodeName"] for pod in pods_of(cluster, "plugin")} == machines
    assert {"dgx-a100-000000", "dgx-a100-000001"} <= machines
    assert not any(name.startswith("m6i") for name in machines)
    cluster.delete("daemonset", "plugin", "--wait")


_CHART = "{apiVersion: v2, name: trainer, version: 1.0.0}"
_WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 2
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      nodeSelector: {nvidia.com/gpu.present: "true"}
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - {key: nvidia.com/gpu.product, operator: In, values: [{{ .Values.product }}]}
              - {key: nvidia.com/gpu.memory, operator: Gt, values: ["70000"]}
      containers: [{name: x, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]
"""


def test_a_chart_that_selects_machines_by_their_gpus_is_installed_by_helm(
    cluster: Installed, tmp_path: Path
) -> None:
    cluster.ok("scale", "dgx-a100", "--replicas", "2", "--wait")
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text(_CHART)
    (tmp_path / "templates" / "workload.yaml").write_text(_WORKLOAD)
    release = ("install", "chosen", tmp_path, "--set=product=NVIDIA-A100-SXM4-80GB")
    access = ("--kubeconfig", cluster.kubeconfig)

    done = subprocess.run(
        [helm(), *release, *access, "--wait", "--timeout=5m"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    on = {pod["spec"]["nodeName"] for pod in pods_of(cluster, "chosen")}
    assert on == {"dgx-a100-000000", "dgx-a100-000001"}


_KINDS = (
    ("kueue.x-k8s.io", "v1beta2", "Topology", "topologies"),
    ("topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes"),
)


def test_schedulers_that_read_objects_find_the_racks_and_switches(cluster: Installed) -> None:
    vocabularies = ("--param", '.topology.vocabularies = ["kueue", "volcano"]')
    small = ("--param", ".topology.nodesPerRack = 1 | .topology.racksPerLeaf = 2")
    scale = ("scale", "dgx-h100", "read", *vocabularies, *small, "--wait")
    left_out = cluster.run(*scale, "--replicas", "1")
    assert left_out.code == 0
    assert "HyperNode" in left_out.err
    kinds = [
        definition(group, version, kind, plural=plural, scope="Cluster")
        for group, version, kind, plural in _KINDS
    ]
    cluster.apply(*documents("".join(kinds)))
    names = [f"crd/{plural}.{group}" for group, _, _, plural in _KINDS]
    cluster.wait_for("Established", *names)

    cluster.ok(*scale, "--replicas", "5")

    topology = cluster.found("topologies", "default")
    levels = [each["nodeLabel"] for each in topology["spec"]["levels"]]
    assert [level.rpartition("/")[2] for level in levels] == [
        "topology-block", "topology-rack", "hostname",
    ]  # fmt: skip
    read = [n for n in nodes(cluster, "dgx-h100") if n["metadata"]["name"].startswith("read-")]
    assert all(set(levels) <= set(each["metadata"]["labels"]) for each in read)
    assert hypernodes(cluster) == {
        "read-spine-0000": (2, ["read-leaf-0000", "read-leaf-0001", "read-leaf-0002"]),
        **{f"read-leaf-000{n}": (1, [f"read-leaf-000{n}"]) for n in range(3)},
    }
    of_leaf = Counter(each["metadata"]["labels"]["volcano.sh/hypernode"] for each in read)
    assert of_leaf == {"read-leaf-0000": 2, "read-leaf-0001": 2, "read-leaf-0002": 1}

    cluster.ok("scale", "dgx-h100", "read", "--replicas", "2", "--wait")
    assert hypernodes(cluster).keys() >= {"read-spine-0000", "read-leaf-0000"}
    assert "read-leaf-0002" not in hypernodes(cluster)


def hypernodes(cluster: Installed) -> dict[str, tuple[int, list[str]]]:
    """Return the tier and the members of each HyperNode."""
    found = cluster.objects("hypernodes")
    return {
        each["metadata"]["name"]: (
            each["spec"]["tier"],
            [_member(one["selector"]) for one in each["spec"]["members"]],
        )
        for each in found
    }


def _member(selector: dict[str, Any]) -> str:
    if "exactMatch" in selector:
        return str(selector["exactMatch"]["name"])
    return str(selector["labelMatch"]["matchLabels"]["volcano.sh/hypernode"])


def test_the_fleet_is_shown_as_a_tree_with_what_is_in_use(cluster: Installed) -> None:
    cluster.ok("scale", "dgx-h100", "cells", "--replicas", "5", "--wait")
    cluster.cordon("cells-000004")
    before = json.loads(cluster.ok("get", "fleet", "-o", "json"))
    wish = {
        "nodeName": "cells-000000",
        "containers": [
            {"name": "x", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "3"}}}
        ],
    }
    cluster.run_pod("cell", wish)

    found = json.loads(cluster.ok("get", "fleet", "-o", "json"))

    (core,) = [each for each in found["units"] if each["name"] == "cells-core-0000"]
    assert (core["nodes"], core["ready"], core["cordoned"]) == (5, 5, 1)
    assert core["devices"]["nvidia.com/gpu"] == {
        "capacity": 40, "allocatable": 40, "allocated": 3, "unhealthy": 0,
    }  # fmt: skip
    used = [each["devices"]["nvidia.com/gpu"]["allocated"] for each in (before, found)]
    assert used[1] - used[0] == 3
    table = cluster.ok("get", "fleet", "-o", "wide")
    assert "cells-rack-0001" in table
    assert "cells-rack-0001" not in cluster.ok("get", "fleet")
