"""Makes the cluster of a test run, or of one of its workers, and takes it away in the end."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kwokctl.errors import NotFoundError
from kwokctl.host.file_locks import lock
from kwokctl.json_value import Json

if TYPE_CHECKING:
    from kwokctl.library.cluster import Cluster

_PREFIX = "pytest-"


class RunPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan for the clusters of a test run."""

    run: str
    """Tells this run from others."""
    worker: str = ""
    """The name of a worker of pytest-xdist; empty without."""
    used: str = ""
    """A cluster that exists, in which tests run."""
    source: str = ""
    """A cluster that exists, from which a fork is made."""
    keep: bool = False
    """Whether clusters stay when the tests have ended."""
    options: Mapping[str, Json] = msgspec.field(default_factory=dict)
    """Those of `Cluster.create`."""

    @property
    def base(self) -> str:
        """The name of the cluster that is made for the run."""
        return f"{_PREFIX}{self.run[:8].lower()}"

    @property
    def own(self) -> str:
        """The name of the cluster in which this worker runs tests."""
        return f"{self.base}-{self.worker}" if self.worker else self.base


@contextmanager
def session_cluster(
    plan: RunPlan, shared: Path, setup: "Callable[[Cluster], object]", clusters: "type[Cluster]"
) -> "Iterator[Cluster]":
    """Yield the cluster of a worker; `shared` is a folder that all workers of the run know."""
    cluster = _got(plan, shared, setup, clusters)
    try:
        yield cluster
    finally:
        if plan.keep or cluster.name == plan.used:
            cluster.close()
        else:
            cluster.delete()


def _got(
    plan: RunPlan, shared: Path, setup: "Callable[[Cluster], object]", clusters: "type[Cluster]"
) -> "Cluster":
    source = plan.source or (plan.used if plan.worker else "")
    if source:
        return clusters.open(source).fork(plan.own)
    if plan.used:
        return clusters.open(plan.used)
    if plan.worker:
        base = _base(plan, shared, setup, clusters)
        return base.fork(plan.own)
    return _made(plan.own, plan, setup, clusters)


def _base(
    plan: RunPlan, shared: Path, setup: "Callable[[Cluster], object]", clusters: "type[Cluster]"
) -> "Cluster":
    """Return the cluster that each worker forks; the first worker creates it."""
    with _turn(shared / f"{plan.base}.lock"):
        try:
            return clusters.open(plan.base)
        except NotFoundError:
            return _made(plan.base, plan, setup, clusters)


def _made(
    name: str, plan: RunPlan, setup: "Callable[[Cluster], object]", clusters: "type[Cluster]"
) -> "Cluster":
    cluster = clusters.create(name, **plan.options)
    try:
        setup(cluster)
    except BaseException:
        cluster.delete()
        raise
    return cluster


def delete_all_of(plan: RunPlan) -> None:
    """Delete the clusters that workers of a run have left: their forks, and the source of these.

    One that cannot be deleted does not keep the others; its error is raised in the end.
    """
    from kwokctl.clusters.state.saved import cluster_names
    from kwokctl.host.paths import WorkDir, default_workdir
    from kwokctl.library.cluster import Cluster

    with ExitStack() as every:
        for name in cluster_names(WorkDir(default_workdir())):
            if name == plan.base or name.startswith(f"{plan.base}-"):
                every.callback(partial(_delete, Cluster, name))


def _delete(clusters: "type[Cluster]", name: str) -> None:
    clusters.open(name).delete()


@contextmanager
def _turn(path: Path) -> Iterator[None]:
    """Wait until no other worker is inside."""
    with path.open("a") as file:
        lock(file.fileno())
        yield
