"""A machine and a cluster for the checks of `doctor`, in folders of a test."""

from pathlib import Path
from typing import Any

from kwokctl.clusters.doctor.check import Report
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.clusters.overview.figures import ControllerReport, Nodes, Overview, Pods, Store
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.status import ComponentStatus, RunStatus
from kwokctl.components.catalog import usual_options
from kwokctl.host.paths import WorkDir
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KWOK_CONTROLLER, ClusterName
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import save_cluster

NAME = ClusterName("ill")
GIB = 1 << 30
NOW = 1_800_000_000.0
WELL = Overview(
    name=NAME,
    status=RunStatus.READY,
    kube_version="v1.36.3",
    runtime="fake",
    components=(
        ComponentStatus(name=KWOK_CONTROLLER, status=RunStatus.READY, version="", ports=()),
    ),
    usage={},
    writes="",
    heartbeat="",
    nodes=Nodes(by_status={"Ready": 3}),
    pods=Pods(by_status={"Running": 5}),
    etcd=Store(size=GIB, in_use=GIB, quota=8 * GIB),
    controller=ControllerReport(stages=("a", "b"), watch_delay=0.01),
)


class ServedCluster(CheckedCluster, frozen=True, kw_only=True):
    """A cluster whose API server is a test's."""

    url: str = ""

    def api(self) -> Pool:
        return Pool(Access(server=self.url))


def home_in(folder: Path, runtime: FakeRuntime | None = None) -> Home:
    """Return a home below a folder."""
    load = (runtime or FakeRuntime()).load
    return Home(workdir=WorkDir(folder / "work"), cache=folder / "cache", load_runtime=load)


def machine(folder: Path, runtime: FakeRuntime | None = None, **more: Any) -> Machine:
    """Return a machine whose kernel's files are below a folder; `options` are given by their names."""
    options = cluster_options(**more.pop("options", {}))
    return Machine(home=home_in(folder, runtime), options=options, **{"root": folder, **more})


def checked(
    folder: Path, seen: Overview = WELL, runtime: FakeRuntime | None = None, *, url: str = ""
) -> ServedCluster:
    """Return a cluster with all components."""
    runtime = runtime or FakeRuntime()
    home = home_in(folder, runtime)
    saved = save_cluster(home.workdir, NAME, usual_options())
    return ServedCluster(
        home=home, saved=saved, runtime=runtime, seen=seen, url=url, wall=lambda: NOW
    )


def whats(report: Report) -> list[str]:
    """Return what a check has found."""
    return [each.what for each in report.findings]


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files of the kernel."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
