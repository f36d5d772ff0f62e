"""The scorecard of a broken GPU: of the pods that are evicted, only the one that had it was hurt."""

import json
from pathlib import Path
from typing import Any

import pytest

from kwokctl.fleet.allocations import allocations_of
from kwokctl.fleet.devices import GPU, gpu_uuid
from tests.support.injected import inject
from tests.support.installed import Installed, until
from tests.support.remediators import Remediator

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]

NODE = "dgx-h100-000000"
PODS = {"first": 1, "second": 1, "without": 0}
"""The number of GPUs that each asks for."""


@pytest.fixture
def cluster(as_on_kubelets: Installed) -> Installed:
    as_on_kubelets.ok("scale", "dgx-h100", "--replicas", "1", "--wait")
    return as_on_kubelets


def run(cluster: Installed, name: str, gpus: int) -> None:
    """Create a pod that runs for long."""
    notes = {"kwokctl.dev/program": "run=1h"}
    limits = {GPU: str(gpus)} if gpus else {}
    container = {"name": "main", "image": "x", "resources": {"limits": limits}}
    metadata = {"name": name, "namespace": "default", "annotations": notes}
    spec = {"nodeName": NODE, "containers": [container]}
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def devices(cluster: Installed, name: str) -> list[str]:
    return [each.device_id for each in allocations_of(cluster.found("pods", name))]


def figure(cluster: Installed, record: Path, name: str) -> Any:
    found = json.loads(cluster.ok("fault", "score", "-f", str(record), "-o", "json"))
    return found["figures"][f"incidents.{name}"]["value"]


def test_pods_that_did_not_have_the_broken_gpu_are_collateral(
    cluster: Installed, tmp_path: Path
) -> None:
    for name, gpus in PODS.items():
        run(cluster, name, gpus)
    for name, gpus in PODS.items():
        until(
            f"{name} runs",
            lambda name=name: cluster.found("pods", name)["status"].get("phase") == "Running",  # type: ignore[misc]  # a name
        )
        assert len(devices(cluster, name)) == gpus
    record = tmp_path / "run.jsonl.gz"
    cluster.ok("measure", "start", "--record", str(record))
    inject(cluster, "hot", "gpu-thermal", target={"nodes": [NODE], "usage": "busy", "count": 1})
    broken = gpu_uuid(NODE, broken_gpu(cluster, "hot"))
    (hit,) = (name for name in PODS if broken in devices(cluster, name))
    rash = Remediator(cluster.kubeconfig, "rash@example.com", "rash")

    for number, name in enumerate([*({*PODS} - {hit}), hit], 1):
        assert rash.evict(name) == 201
        until(
            f"the record has {number} evictions",
            lambda number=number: evictions(cluster, record) == number,  # type: ignore[misc]  # a number
        )
        assert figure(cluster, record, "collateral")["value"] == min(number, 2)
    cluster.run("measure", "stop")
    assert figure(cluster, record, "collateral")["detail"] == {NODE: 2}


def broken_gpu(cluster: Installed, fault: str) -> int:
    """Return the index of the GPU that a fault has hit."""
    log = map(json.loads, cluster.ok("fault", "log", fault, "-o", "json").splitlines())
    (index,) = {each["gpu"] for each in log if each["phase"] == "landed"}
    return int(index)


def evictions(cluster: Installed, record: Path) -> int:
    detail = figure(cluster, record, "acts").get("detail", {})
    return sum(count for what, count in detail.items() if what.startswith("evict "))
