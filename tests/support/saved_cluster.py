"""A cluster that is on disk as `create` leaves it, but of which nothing was ever started."""

from pathlib import Path

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, save
from kwokctl.components.catalog import catalog
from kwokctl.config.options import ClusterOptions
from kwokctl.host.paths import WorkDir
from kwokctl.model import Artifact, ClusterName
from tests.support.fake_runtime import FakeRuntime


def save_cluster(workdir: WorkDir, name: ClusterName, options: ClusterOptions) -> Saved:
    """Save a cluster with all components, each of which is a program that does nothing."""
    names = (*catalog(), *(extra.name for extra in options.extras))
    saved = Saved(
        name=name,
        options=options,
        names=names,
        artifacts={n: Artifact(name=n, version="v1", command=("/bin/true",)) for n in names},
        stages=(),
    )
    paths = workdir.cluster(name)
    paths.root.mkdir(parents=True, exist_ok=True)
    save(paths, saved, saved.plan(FakeRuntime(), paths))
    return saved


def home_with(
    folder: Path, name: ClusterName, options: ClusterOptions, runtime: FakeRuntime
) -> Home:
    """Return a home in which there is such a cluster, on a runtime in memory."""
    workdir = WorkDir(folder)
    save_cluster(workdir, name, options)
    return Home(workdir=workdir, cache=folder / "cache", load_runtime=runtime.load)
