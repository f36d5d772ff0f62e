"""What `measure` says of a fleet: against what is in it at the end, and which scheduler leaves larger pieces."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.installed import Installed, until
from tests.support.measured_runs import report_of
from tests.support.schedulers import EXAMPLE

pytestmark = [pytest.mark.components, pytest.mark.e2e]

_GPU = "nvidia.com/gpu"
_RACK = "example.com/rack"
_SCHEDULER = "least-allocated"
_NODES = ("gpu-000000", "gpu-000001", "gpu-000002")
_FASTER = {"poisson: 3/s": "poisson: 5/s", "count: 180": "count: 60", "5, to: 15": "2, to: 6"}


@pytest.fixture(scope="module")
def fleet(with_schedulers: Installed) -> Installed:
    return with_schedulers


def scale(fleet: Installed, nodes: int) -> None:
    gpus = f'.allocatable["{_GPU}"] = "8"'
    fleet.ok("scale", "node", "gpu", f"--replicas={nodes}", "--param", gpus, "--wait")


def measured(fleet: Installed, record: Path, *words: str) -> dict[str, Any]:
    figures = report_of(fleet, record, *words)["figures"]
    return {name: figure["value"] for name, figure in figures.items()}


def pod(name: str, gpus: int, program: str = "run=forever", **spec: Any) -> dict[str, Any]:
    resources = {"limits": {_GPU: str(gpus), "cpu": "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": {"kwokctl.dev/program": program}},
        "spec": {
            "schedulerName": _SCHEDULER,
            "containers": [{"name": "x", "image": "x", "resources": resources}],
        }
        | spec,
    }


def written(folder: Path, *objects: dict[str, Any]) -> Path:
    file = folder / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return file


def running(*names: str) -> str:
    words = " ".join(f"pod/{name}" for name in names)
    return f"kubectl wait --timeout=60s --for=jsonpath='{{.status.phase}}'=Running {words}\n"


def requested(fleet: Installed) -> float:
    """Return the share of all GPUs that pods request which are bound and have not ended, as the API shows it."""
    taken = [
        int(each["spec"]["containers"][0]["resources"]["requests"][_GPU])
        for each in fleet.objects("pods")
        if each["spec"].get("nodeName") and each["status"]["phase"] in ("Pending", "Running")
    ]
    has = [int(each["status"]["allocatable"][_GPU]) for each in fleet.objects("nodes")]
    return 100 * sum(taken) / sum(has)


def test_what_happens_to_nodes_and_pods_is_counted(fleet: Installed, tmp_path: Path) -> None:
    scale(fleet, 3)
    fleet.kubectl("create", "-f", str(written(tmp_path, pod("old", 8))))
    until("it runs", lambda: fleet.found("pod", "old")["status"].get("phase") == "Running")
    urgent = {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000,
        "metadata": {"name": "urgent"},
    }  # fmt: skip
    fails = pod("fails", 1, "run=1s exit=1,0", restartPolicy="OnFailure")
    low = written(tmp_path, pod("a", 7), pod("b", 8), fails, urgent).rename(tmp_path / "low.json")
    high = written(tmp_path, pod("high", 8, priorityClassName="urgent"))
    script = tmp_path / "script.sh"
    script.write_text(
        f"kubectl create -f {low}\n"
        + running("a", "b")
        + "kubectl wait --timeout=60s --for=jsonpath='{.status.phase}'=Succeeded pod/fails\n"
        + f"kubectl create -f {high}\n"
        + running("high")
        + "node=$(kubectl get pod high -o jsonpath='{.spec.nodeName}')\n"
        "kubectl cordon $node\n"
        "others=$(kubectl get pods --field-selector spec.nodeName!=$node,status.phase=Running"
        " -o jsonpath='{range .items[*]}{.metadata.name} {.spec.nodeName}{\"\\n\"}{end}')\n"
        "set -- $others\n"
        "kubectl drain $2 --force --timeout=60s\n"
        "kubectl taint node $4 broken=yes:NoExecute\n"
        "kubectl wait --timeout=60s --for=delete pod/$3\n"
    )

    found = measured(fleet, tmp_path / "run.jsonl", "--", "sh", "-ec", f". {script}")

    assert found["fleet.preemptions"]["detail"] == {"PreemptionByScheduler": 1}
    assert found["fleet.evictions"]["detail"] == {
        "EvictionByEvictionAPI": 1,
        "DeletionByTaintManager": 1,
    }
    assert found["fleet.restarts"]["detail"] == {"Error": 1}
    levels = {name: found[f"fleet.{name}"] for name in ("nodes", "cordoned", "tainted")}
    assert {name: (each["min"], each["max"], each["last"]) for name, each in levels.items()} == {
        "nodes": (3, 3, 3),
        "cordoned": (0, 2, 2),
        "tainted": (0, 1, 1),
    }
    gpus = found[f"fleet.requested.{_GPU}"]
    # The pod that was there before has 8 of 24; then all are taken, until the last one is alone.
    assert (gpus["max"], gpus["last"]) == (100, pytest.approx(100 / 3))
    assert gpus["last"] == pytest.approx(requested(fleet))
    fleet.delete("pods", "--all", "--now")
    fleet.delete("priorityclass", "urgent")
    scale(fleet, 0)


def test_a_job_is_spread_over_the_racks_of_its_nodes(fleet: Installed, tmp_path: Path) -> None:
    scale(fleet, 3)
    for node, rack in zip(_NODES, ("a", "b", "b"), strict=True):
        fleet.label("node", node, f"{_RACK}={rack}", "--overwrite")
    body = pod("x", 8, "run=1s", restartPolicy="Never")
    template = {name: body[name] for name in ("metadata", "spec")}
    spec = {"parallelism": 3, "completions": 3, "template": template}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": spec}
    words = ("--topology", _RACK, "--assert", f"fleet.spread.{_RACK}.max <= 2")
    create = ("--", "kubectl", "create", "-f", str(written(tmp_path, job)))

    found = measured(fleet, tmp_path / "run.jsonl", *words, *create)

    spread = found[f"fleet.spread.{_RACK}"]
    assert (spread["count"], spread["min"], spread["max"]) == (1, 2, 2)
    assert found["fleet.spread.topology.kubernetes.io/zone"]["kind"] == "missing"
    largest = found[f"fleet.largest_gang.{_GPU}"]
    assert (largest["max"], largest["min"], largest["last"]) == (3, 0, 3)
    assert found[f"fleet.requested.{_GPU}"]["max"] == 100
    fleet.delete("job", "train", "--wait")


def test_a_scheduler_that_fills_nodes_leaves_larger_pieces(
    fleet: Installed, tmp_path: Path
) -> None:
    scale(fleet, 8)
    fragments: dict[str, float] = {}
    for name in ("most-allocated", "least-allocated"):
        text = (EXAMPLE / f"{name}.yaml").read_text("utf-8")
        for slow, fast in _FASTER.items():
            assert slow in text
            text = text.replace(slow, fast)
        (tmp_path / "load.yaml").write_text(text)
        record = tmp_path / f"{name}.jsonl.gz"

        found = measured(fleet, record, "--load", str(tmp_path / "load.yaml"), "--seed", "1")

        assert found["pods.ended"]["value"] == 60
        fragments[name] = found[f"fleet.fragmentation.{_GPU}"]["mean"]
        fleet.ok("load", "clear")
    assert fragments["most-allocated"] < fragments["least-allocated"]
