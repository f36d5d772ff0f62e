"""`docs/how-to/test-the-resilience-of-a-fleet.md`: every row and every step of it, in its order."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.installed import PATIENCE, Installed, condition, until
from tests.support.shell_page import ShellPage

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(900, func_only=True),
]

ROOT = Path(__file__).parents[2]
NODES, WORKERS, MANY = 8, 5, 2
PAGE = ShellPage(
    ROOT / "docs/how-to/test-the-resilience-of-a-fleet.md",
    {"100": f"{NODES}", "64": f"{WORKERS}", "shuf -n 10": f"shuf -n {MANY}", "60s": f"{PATIENCE}s"},
)
BUILD, BREAK, REPLACE, AGAIN = (
    "A fleet and a job",
    "Break something",
    "Replace a node",
    "Begin again",
)
GPU = "example.com/gpu"
UNREACHABLE = "--extra-args=kube-controller-manager=node-monitor-grace-period=20s"


class Reader:
    """Somebody who types what the page shows."""

    def __init__(self, at: Installed, folder: Path) -> None:
        self.at = at
        self._folder = folder
        self.node = ""
        """What the page calls `$NODE`."""

    def types(self, command: str) -> str:
        """Run a command; it must succeed."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self._folder, env={**self.at.environment, "NODE": self.node},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=400, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout + done.stderr

    def begins_again(self) -> None:
        """Rewind, and choose the node with the first worker."""
        self.types(*PAGE.blocks(AGAIN))
        until("all workers are as they were", lambda: self.ready == WORKERS)
        self.node = self.types(PAGE.blocks(BREAK)[0] + 'echo "$NODE"').strip()

    @property
    def ready(self) -> int:
        """How many workers the Job counts as ready."""
        job = self.at.found("job", "train")
        return int(job["status"].get("ready") or 0)

    @property
    def has_failed(self) -> bool:
        job = self.at.found("job", "train")
        return condition(job, "Failed") == "True"

    def object(self, name: str = "") -> Any:
        return self.at.found("node", name or self.node)

    def has(self, kind: str, status: str) -> bool:
        return condition(self.object(), kind) == status

    def workers(self) -> dict[str, Any]:
        """Return the pods of the node."""
        found = self.at.objects("pods", f"--field-selector=spec.nodeName={self.node}")
        return {each["metadata"]["name"]: each for each in found}

    def is_elsewhere(self) -> bool:
        """Return whether the first worker runs on another node."""
        which = "job-name=train,batch.kubernetes.io/job-completion-index=0"
        pods = self.at.objects("pods", "-l", which)
        return any(
            each["spec"].get("nodeName") not in {None, self.node}
            and each["status"]["phase"] == "Running"
            for each in pods
        )

    def reasons(self) -> set[str]:
        return {each["reason"] for each in self.at.objects("events")}


@pytest.fixture(scope="module")
def reader(installed: Installed) -> Iterator[Reader]:
    folder = installed.folder / "reader"
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    [job] = PAGE.blocks(BUILD, "yaml")
    (folder / "train.yaml").write_text(job, encoding="utf-8")
    yield Reader(installed, folder)
    installed.ok("delete", "cluster")


def a_kubelet_is_down(reader: Reader) -> None:
    until("the node is not Ready", lambda: reader.has("Ready", "False"))
    until("its worker is evicted", lambda: "TaintManagerEviction" in reader.reasons())
    until("the worker waits for its kubelet", lambda: is_going(reader))
    until("the Job does without it", lambda: reader.ready == WORKERS - 1)

    reader.types(PAGE.blocks(BREAK)[2])  # the machine does not come back
    until("the worker is elsewhere", reader.is_elsewhere)
    until("all workers are ready", lambda: reader.ready == WORKERS)
    for command in PAGE.blocks(BREAK)[3].splitlines():
        assert reader.types(command)


def is_going(reader: Reader) -> bool:
    return any("deletionTimestamp" in each["metadata"] for each in reader.workers().values())


def a_kubelet_is_silent(reader: Reader) -> None:
    until("the controller-manager notices", lambda: reader.has("Ready", "Unknown"))
    until("its worker is not Ready", lambda: reader.ready == WORKERS - 1)
    reader.types("kwokctl kubectl annotate node $NODE kwokctl.dev/kubelet-")
    until("the node is Ready", lambda: reader.has("Ready", "True"))
    until("its worker is as it was", lambda: reader.ready == WORKERS)
    assert not is_going(reader)


def a_machine_is_started_anew(reader: Reader) -> None:
    until("that is reported", lambda: "Rebooted" in reader.reasons())
    until("its worker has failed", lambda: reader.has_failed)


def a_problem_is_reported(reader: Reader) -> None:
    [found] = [
        each for each in reader.object()["status"]["conditions"] if each["type"] == "GPUHealthy"
    ]
    assert (found["status"], found["reason"]) == ("False", "XID79")
    assert found["lastHeartbeatTime"]
    assert found["lastTransitionTime"]


def devices_fail(reader: Reader) -> None:
    until("they are gone", lambda: reader.object()["status"]["allocatable"][GPU] == "0")
    assert reader.has("DeviceHealthy", "False")
    until("that is reported", lambda: "DeviceFailed" in reader.reasons())
    assert reader.ready == WORKERS

    reader.types("kwokctl kubectl label node $NODE example.com/device-")
    until("they are back", lambda: reader.object()["status"]["allocatable"][GPU] == "8")


def memory_runs_out(reader: Reader) -> None:
    until("the node says so", lambda: reader.has("MemoryPressure", "True"))
    until("its worker is elsewhere", reader.is_elsewhere)
    until("all workers are ready", lambda: reader.ready == WORKERS)


def a_worker_crashes(reader: Reader) -> None:
    until("that is the end of the Job", lambda: reader.has_failed)


def a_node_is_gone(reader: Reader) -> None:
    until("its worker is elsewhere", reader.is_elsewhere)
    until("all workers are ready", lambda: reader.ready == WORKERS)


def the_api_server_was_gone(reader: Reader) -> None:
    until("all workers are ready", lambda: reader.ready == WORKERS)


EFFECTS: dict[str, Callable[[Reader], None]] = {
    "a kubelet is down, and its node is not Ready": a_kubelet_is_down,
    "a kubelet is silent: it is dead, or its network is cut": a_kubelet_is_silent,
    "the machine of a node was rebooted": a_machine_is_started_anew,
    "a problem of a node is reported, as by node-problem-detector": a_problem_is_reported,
    "the devices of a node fail": devices_fail,
    "a node runs out of memory": memory_runs_out,
    "a worker crashes": a_worker_crashes,
    "a node is gone": a_node_is_gone,
    "the API server is gone for a while": the_api_server_was_gone,
}


def test_a_fleet_runs_a_job(reader: Reader) -> None:
    for block in PAGE.blocks(BUILD):
        reader.types(block.replace("create cluster", f"create cluster {UNREACHABLE}"))

    devices = [each["status"]["allocatable"][GPU] for each in reader.at.objects("nodes")]
    assert devices == ["8"] * NODES
    assert reader.ready == WORKERS


def test_every_fault_of_the_table_is_tried() -> None:
    assert list(PAGE.rows(BREAK)) == list(EFFECTS)


@pytest.mark.parametrize("fault", EFFECTS)
def test_a_fault_does_what_the_page_says_and_a_rewind_takes_it_back(
    reader: Reader, fault: str
) -> None:
    reader.begins_again()
    reader.types(PAGE.rows(BREAK)[fault])

    EFFECTS[fault](reader)

    reader.begins_again()
    until("the node is Ready", lambda: reader.has("Ready", "True"))
    assert reader.object()["status"]["allocatable"][GPU] == "8"


def test_a_node_is_replaced_while_others_are_broken(reader: Reader) -> None:
    reader.types(PAGE.blocks(BREAK)[1])
    broken = [
        each["metadata"]["name"]
        for each in reader.at.objects("nodes", "-l", "node-not-ready.stage.kwok.x-k8s.io=true")
    ]
    assert len(broken) == MANY
    until(
        "they are not Ready",
        lambda: {condition(reader.object(name), "Ready") for name in broken} == {"False"},
    )
    names = {each["metadata"]["name"] for each in reader.at.objects("nodes")}
    reader.node = min(names - {*broken})

    said = reader.types(*PAGE.blocks(REPLACE))

    assert f"all Ready but {MANY} broken on purpose (1 created)" in said
    assert reader.object()["status"]["allocatable"][GPU] == "8"
    reader.begins_again()
