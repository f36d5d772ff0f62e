"""Faults from Python and pytest in a real cluster: what is expected of nodes, and that tests leave nothing behind."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kwokctl import Cluster
from kwokctl.errors import ConfigError, ConflictError, NotFoundError, TimedOutError
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS
from kwokctl.json_value import Json
from kwokctl.library.faults import condition, cordoned, drained, gone, no_longer, rack, ready
from tests.support.installed import PATIENCE

pytestmark = [pytest.mark.e2e, pytest.mark.components]
SICK = condition("AcceleratedHardwareReady", "False")
TESTS = """
import pytest
from kwokctl.library.faults import condition, rack

SHOWS = "kwokctl.dev/open-faults"

@pytest.mark.kwok_fault("memory-pressure", where=rack(0), seed=1)
def test_begins_with_a_fault(kwok):
    [marked] = kwok.faults.injected
    assert len(marked.nodes) == 4
    marked.expect(condition("MemoryPressure"), within=60)
    kwok.faults.inject("not-ready", count=1, seed=1)
    assert len(kwok.faults.injected) == 2
    assert len(kwok.faults.status()) == 2

def test_finds_none(kwok_cluster):
    assert kwok_cluster.faults.status() == []
    assert not [each for each in kwok_cluster.find("nodes") if SHOWS in each["metadata"]["annotations"]]

def test_fails_with_a_fault(kwok):
    kwok.faults.inject("not-ready", count=1, seed=1).expect(lambda node: False, within=0.5)

def test_finds_none_then_either(kwok_cluster):
    test_finds_none(kwok_cluster)
"""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="kwokctl-e2e-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(programs: None, folder: Path) -> Iterator[Cluster]:
    with Cluster.create(
        "py-door", workdir=folder, etcd_fsync="off", disable="kube-scheduler"
    ) as made:
        made.scale("dgx-h100", 8)
        yield made


@pytest.fixture(autouse=True)
def healthy(cluster: Cluster) -> Iterator[None]:
    yield
    cluster.faults.clear_injected()
    assert not showing(cluster)


def showing(cluster: Cluster) -> set[str]:
    """Return the nodes on which a fault is open."""
    nodes = cluster.find("nodes")
    return {
        each["metadata"]["name"] for each in nodes if OPEN_FAULTS in each["metadata"]["annotations"]
    }


def cordon(cluster: Cluster, name: str) -> None:
    cluster.apply(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"unschedulable": True}}
    )  # fmt: skip


def remedy(cluster: Cluster, name: str) -> None:
    """Do what a controller of the user does: cordon a node once its agent says that it is sick."""
    cluster.wait_for(f"node/{name}", "AcceleratedHardwareReady=False", timeout=PATIENCE)
    cordon(cluster, name)


def pod_on(node: str) -> Json:
    spec = {"nodeName": node, "containers": [{"name": "x", "image": "x"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "left"}, "spec": spec}


def test_a_fault_hits_a_rack_whose_nodes_are_cordoned_and_drained(cluster: Cluster) -> None:
    rack_1 = [f"dgx-h100-{number:06}" for number in range(4, 8)]
    with ThreadPoolExecutor() as others:
        done = [others.submit(remedy, cluster, name) for name in rack_1]
        fault = cluster.faults.inject(
            "xid-79", where=rack(1), parameters={"gpu": 3}, dialects="eks", seed=42
        )
        assert fault.expect(cordoned, within=PATIENCE) is fault
        for each in done:
            each.result()

    assert sorted(fault.nodes) == rack_1
    assert {(unit.node, unit.gpu) for unit in fault.units} == {(name, 3) for name in rack_1}
    assert showing(cluster) == {*rack_1}
    assert {each.fault for each in cluster.faults.log()} == {fault.name}
    cluster.apply(pod_on(rack_1[2]))
    with pytest.raises(TimedOutError) as caught:
        fault.expect(drained, within=2)
    assert str(caught.value) == (
        "after 2 s 1 of 4 nodes that the fault has hit are not as expected (drained): "
        "dgx-h100-000006 (cordoned, pods left: default/left)"
    )
    cluster.remove("pod/left")
    fault.expect(drained, within=PATIENCE)

    fault.clear()
    assert not showing(cluster)
    fault.expect(no_longer(SICK), within=PATIENCE)
    assert sorted(fault.nodes) == rack_1


def test_a_node_that_is_replaced_is_another_one(cluster: Cluster) -> None:
    fault = cluster.faults.inject("not-ready", nodes="dgx-h100-000000")
    fault.expect(no_longer(ready), within=PATIENCE)
    cluster.remove("node/dgx-h100-000000")
    cluster.scale("dgx-h100", 8)

    fault.expect(gone, within=PATIENCE)
    with pytest.raises(TimedOutError, match=r"dgx-h100-000000 \(not there\)"):
        fault.expect(ready, within=1)


def test_errors_are_those_of_the_command_and_what_has_failed_is_cleared(cluster: Cluster) -> None:
    faults = cluster.faults
    with pytest.raises(NotFoundError, match="no node of 8 meets"):
        faults.inject("not-ready", where=rack(99), name="nobody")
    assert [each.phase for each in faults.status("nobody")] == ["Refused"]
    with pytest.raises(ConfigError, match="says of no node that it is hit"):
        faults.inject("not-ready")
    soon = faults.inject("not-ready", count=1, at=1, wait=None)
    soon.expect(no_longer(ready), within=PATIENCE)
    late = faults.inject("not-ready", count=1, at=3600, name="late", wait=None)
    with pytest.raises(NotFoundError, match="no controller has injected it"):
        late.expect(ready, within=1)

    faults.clear_injected()

    assert faults.status() == []
    assert faults.injected == ()


def test_a_fault_of_somebody_else_is_left_alone(cluster: Cluster) -> None:
    other = Cluster.open("py-door", workdir=cluster.kubeconfig.parents[2])
    other.faults.inject("memory-pressure", count=1, name="theirs")
    with pytest.raises(ConflictError, match="there is a Fault 'theirs' already"):
        cluster.faults.inject("not-ready", count=1, name="theirs")

    cluster.faults.clear_injected()

    assert [each.name for each in cluster.faults.status()] == ["theirs"]
    assert cluster.faults.clear() == ("theirs",)
    other.close()


def test_a_test_leaves_no_fault_behind(cluster: Cluster, folder: Path) -> None:
    project = folder / "project"
    project.mkdir()
    (project / "test_it.py").write_text(TESTS)
    (project / "pytest.ini").write_text(
        "[pytest]\naddopts = --strict-markers\nasyncio_default_fixture_loop_scope = function\n"
    )

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--kwok-cluster", "py-door"],
        env=os.environ | {"KWOK_WORKDIR": str(folder)}, cwd=project,
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip

    assert "1 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert "1 of 1 nodes that the fault has hit are not as expected" in done.stdout
    assert "kwok: objects changed by the test" in done.stdout


STORM: dict[str, Any] = {
    "apiVersion": "kwokctl.dev/v1alpha1",
    "kind": "FaultSchedule",
    "metadata": {"name": "short"},
    "spec": {
        "horizon": "5s",
        "processes": [{"class": "memory-pressure", "every": {"trace": [{"at": "1s"}]}}],
    },
}


def test_a_schedule_is_played_and_cleared(cluster: Cluster) -> None:
    run = cluster.faults.run(STORM, name="first", wait=PATIENCE)
    assert (run.name, run.phase, run.planned, run.injected) == ("first", "Completed", 1, 1)
    [report] = cluster.faults.schedules("first")
    assert (report.phase, report.injected) == ("Completed", 1)

    long = {**STORM["spec"], "horizon": "1h"}
    cluster.faults.run({**STORM, "spec": long}, name="second")
    assert cluster.faults.stop("second").changed
    with pytest.raises(ConflictError, match="'second'"):
        cluster.faults.run(STORM, name="second")

    assert cluster.faults.clear(schedule="first") == ("first-000000",)
    cluster.faults.clear()
    assert cluster.faults.schedules() == []


def test_a_repair_ends_what_a_policy_says(cluster: Cluster) -> None:
    fault = cluster.faults.inject("readonly-fs", nodes="dgx-h100-000001")
    assert cluster.repairs.policy(
        {
            "apiVersion": "kwokctl.dev/v1alpha1",
            "kind": "RepairPolicy",
            "metadata": {"name": "shop"},
            "spec": {"actions": {"reboot": {"takes": "1s", "odds": {"readonly-fs": 1}}}},
        }
    ) == "shop"  # fmt: skip

    done = cluster.repairs.start("dgx-h100-000001", "reboot", policy="shop", wait=PATIENCE)

    assert (done.phase, done.cleared, done.left) == ("Succeeded", (fault.name,), ())
    assert [each.name for each in cluster.repairs.status("dgx-h100-000001")] == [done.name]
    fault.expect(ready, within=PATIENCE)
    with pytest.raises(NotFoundError, match="no node 'nowhere'"):
        cluster.repairs.start("nowhere", "reboot")
    with pytest.raises(ConfigError, match="does not offer 'replace'"):
        cluster.repairs.start("dgx-h100-000001", "replace", policy="shop", wait=PATIENCE)
