"""How nodes show that they live, with the real controller-manager watching."""

import json
from pathlib import Path

import pytest
import yaml

from tests.support.data_paths import data_paths
from tests.support.installed import Installed, condition

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]


def arguments(cluster: Installed) -> dict[str, list[str]]:
    """Return the arguments of each component as they are saved."""
    text = (cluster.workdir / "clusters" / cluster.name / "kwok.yaml").read_text()
    return {c["name"]: c["args"] for c in next(yaml.safe_load_all(text))["components"]}


def command_line(cluster: Installed, component: str) -> str:
    words = Path(f"/proc/{cluster.pids()[component]}/cmdline").read_bytes()
    return words.replace(b"\0", b" ").decode()


def test_a_plain_cluster_beats_as_real_nodes_do_and_after_a_stop_as_before(
    installed: Installed,
) -> None:
    plain = installed.called("plain")
    created = plain.run("create", "cluster", "--wait", "--etcd-fsync=off")
    assert created.code == 0, created.err
    assert "api" not in data_paths(created.err)
    assert "power cut" in created.err
    before = arguments(plain)

    plain.ok("stop", "cluster")
    plain.ok("start", "cluster", "--wait")

    assert arguments(plain) == before
    assert "--node-lease-duration-seconds=40" in command_line(plain, "kwok-controller")
    assert "--node-monitor-grace-period=50000ms" in command_line(plain, "kube-controller-manager")
    assert "--unsafe-no-fsync=true" in command_line(plain, "etcd")
    plain.ok("delete", "cluster")


def test_without_heartbeats_nodes_are_ready_and_free_of_taints_and_hold_no_lease(
    installed: Installed,
) -> None:
    still = installed.called("still")
    still.ok(
        "create", "cluster", "--wait", "--node-heartbeat", "off", "--etcd-fsync", "off",
        "--disable", "kube-scheduler",
    )  # fmt: skip

    still.ok("scale", "node", "--replicas", "3", "--wait")

    nodes = still.objects("nodes")
    assert [condition(node, "Ready") for node in nodes] == ["True"] * 3
    assert [node["spec"].get("taints") for node in nodes] == [None] * 3
    assert still.objects("leases", "--namespace", "kube-node-lease") == []
    planned = json.loads(still.ok("plan", "--nodes", "1000", "-o", "json"))
    assert planned["leaseWritesPerSecond"] == 0
    still.ok("delete", "cluster")


def test_times_that_contradict_each_other_are_refused_before_anything_is_made(
    installed: Installed,
) -> None:
    words = ("create", "cluster", "--node-heartbeat", "real", "--heartbeat-factor", "5")

    done = installed.called("torn").run(*words)

    assert done.code == 2
    assert "'--node-heartbeat real' and '--heartbeat-factor 5'" in done.err
    assert not (installed.workdir / "clusters" / "torn").exists()
