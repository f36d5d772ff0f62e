"""What one `kwok` needs that writes through the API: its memory, and CPU while nothing is asked of it.

    python -m benchmarks.one_replica [--nodes 1000 2000 5000] [--pods 10] [--seconds 60]

After each step the fleet is left alone. Leases last 200 s, so that the API server has time for the renewals
on a small machine.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.processes import CONTROLLER, cpu_seconds, peak_bytes, programs, resident_bytes
from benchmarks.report import Row, report
from kwokctl.kube.kubeconfig.access import load_access
from tests.support.installed import Installed, until
from tests.support.ports import free_port

_KWOK = "kwok"
_LEASE = 200
_COMPONENTS = "etcd,kube-apiserver,kube-controller-manager"


def main() -> None:
    """Measure and print, step by step."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="+", default=[1_000, 2_000, 5_000])
    parser.add_argument("--pods", type=int, default=10, help="of a node")
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        cluster = Installed.within(Path(folder))
        words = ("--components", _COMPONENTS, "--node-heartbeat=stretched", "--etcd-fsync=off")
        cluster.ok("create", "cluster", "--wait=180s", *words)
        try:
            with _kwok(cluster) as pid:
                for nodes in given.nodes:
                    _step(cluster, pid, nodes, nodes * given.pods)
                    _report(nodes, given.pods, given.seconds, _processes(cluster, pid))
        finally:
            cluster.run("delete", "cluster")


@contextmanager
def _kwok(cluster: Installed) -> Iterator[int]:
    words = (
        f"--kubeconfig={_kubeconfig(cluster)}",
        "--manage-all-nodes",
        f"--node-lease-duration-seconds={_LEASE}",
        f"--server-address=127.0.0.1:{free_port()}",
    )
    with (cluster.folder / "log").open("wb") as log:
        command = [sys.executable, "-m", "kwokctl.kwok", *words]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(30)


def _step(cluster: Installed, pid: int, nodes: int, pods: int) -> None:
    """Make a fleet of that size, and return when all of its nodes have a Lease and it is at rest."""
    cluster.ok("scale", "node", f"--replicas={nodes}", "--wait=30m", timeout=1800)
    words = ("--on-nodes=type=kwok", "--wait=30m")
    cluster.ok("scale", "pod", f"--replicas={pods}", *words, timeout=1800)
    until("each node has a Lease", lambda: _leases(cluster) >= nodes, patience=600)
    before = cpu_seconds(pid)
    time.sleep(30)
    print(f"CPU of half a minute of settling: {cpu_seconds(pid) - before:.2f} s", flush=True)


def _leases(cluster: Installed) -> int:
    words = ("get", "leases", "--namespace=kube-node-lease", "--output=name")
    return len(cluster.kubectl(*words).split())


def _processes(cluster: Installed, pid: int) -> Mapping[str, int]:
    port = urlsplit(load_access(_kubeconfig(cluster)).server).port or 443
    found = {name: of for name, of in programs(port).items() if name != CONTROLLER}
    return found | {_KWOK: pid}


def _report(nodes: int, pods: int, seconds: float, processes: Mapping[str, int]) -> None:
    before = {name: cpu_seconds(pid) for name, pid in processes.items()}
    began = time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    spent = {name: cpu_seconds(pid) - before[name] for name, pid in processes.items()}
    rows = [
        Row("memory of kwok", resident_bytes(processes[_KWOK]) / 1e6, "MB"),
        Row("the same at its peak", peak_bytes(processes[_KWOK]) / 1e6, "MB"),
        *(Row(f"CPU of {name}, of one core", s / took * 100, "%") for name, s in spent.items()),
    ]
    report(f"{nodes:,} nodes with {pods} pods each, through the API", rows)


def _kubeconfig(cluster: Installed) -> Path:
    return cluster.workdir / "clusters" / cluster.name / "kubeconfig.yaml"


if __name__ == "__main__":
    main()
