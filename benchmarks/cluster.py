"""A cluster that a benchmark makes for itself: commands in its work folder, and its programs."""

import asyncio
import os
import platform
import subprocess
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from benchmarks.processes import programs
from benchmarks.results import Machine
from kwokctl import __version__
from kwokctl.clusters.state.home import cluster_name
from kwokctl.clusters.state.saved import load
from kwokctl.etcd.etcd3_client import EtcdClient
from kwokctl.host.memory import machine_memory
from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import ComponentName

KWOKCTL = (sys.executable, "-m", "kwokctl")
_NAME = "bench"
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Where it is set, each command compiles its 400 modules again."""
_OTHER_WAY = "writes: "
"""What `scale` says where it takes another data path than the cluster."""


class FailedError(Exception):
    """A command has failed, so there is nothing to measure."""


@dataclass(frozen=True, slots=True)
class BenchCluster:
    """A running cluster."""

    workdir: Path
    paths: ClusterPaths
    data_path: str
    """The one that is taken: `etcd` or `api`."""
    programs: Mapping[str, int]
    """The pid of each program."""

    def pool(self) -> Pool:
        """Return connections to its API server; close them."""
        return Pool(load_access(self.paths.kubeconfig))

    def port(self, component: ComponentName) -> int:
        """Return the port at which a component listens on this machine."""
        return load(self.paths, cluster_name(_NAME)).options.component(component).port

    async def kwokctl(self, *words: str) -> bytes:
        """Run a command of kwokctl on it, and return its output; raise FailedError if it fails or writes by another path."""
        command = (*KWOKCTL, f"--name={_NAME}", *words)
        running = await asyncio.create_subprocess_exec(
            *command, env=_environment(self.workdir), stdout=PIPE, stderr=PIPE
        )
        try:
            out, said = await running.communicate()
        except asyncio.CancelledError:
            running.terminate()
            raise
        text = said.decode(errors="replace")
        if running.returncode:
            raise FailedError(f"{' '.join(words)} exited with {running.returncode}:\n{text}")
        if _OTHER_WAY in text:
            raise FailedError(f"{' '.join(words)} did not write by {self.data_path}:\n{text}")
        return out


@contextmanager
def fresh_cluster(*words: str) -> Iterator[BenchCluster]:
    """Make a cluster with these words for `create cluster`, and delete it again."""
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        create = ("create", "cluster", "--output=json", "--wait=2m", "--kubeconfig=", *words)
        made = msgspec.json.decode(_run(folder, *create))["result"]
        try:
            paths = WorkDir(Path(folder)).cluster(cluster_name(_NAME))
            port = urlsplit(load_access(paths.kubeconfig).server).port
            data_path = made["dataPath"]["path"]
            yield BenchCluster(Path(folder), paths, data_path, programs(port or 443))
        finally:
            _run(folder, "delete", "cluster", "--kubeconfig=")


def _environment(workdir: Path) -> dict[str, str]:
    """Return the environment of a user: Python keeps what it has compiled."""
    kept = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    return {**kept, "KWOK_WORKDIR": str(workdir)}


def _run(folder: str, *words: str) -> str:
    env = _environment(Path(folder))
    command = (*KWOKCTL, f"--name={_NAME}", *words)
    done = subprocess.run(command, check=False, env=env, capture_output=True, text=True)
    if done.returncode:
        raise FailedError(f"{' '.join(words)} exited with {done.returncode}:\n{done.stderr}")
    return done.stdout


async def versions(cluster: BenchCluster, client: Client) -> dict[str, str]:
    """Return the versions that figures depend on."""
    async with EtcdClient(f"unix:{cluster.paths.etcd_socket}") as etcd:
        status = await etcd.status()
    served = msgspec.json.decode(await client.call("GET", "/version"))
    return {
        "kwokctl": __version__,
        "Python": platform.python_version(),
        "Kubernetes": served["gitVersion"].removeprefix("v"),
        "etcd": status.version,
    }


def machine() -> Machine:
    """Return what this machine is."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return Machine(
        processor=models[0] if models else platform.machine(),
        cores=os.cpu_count() or 1,
        memory_gib=round(machine_memory() / 2**30),
        system=f"{platform.system()} {platform.release()}",
    )
