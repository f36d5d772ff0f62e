"""Lets a new cluster begin with what a snapshot file holds."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from kwokctl.clusters.forking.content import ForkedData, forget_events
from kwokctl.clusters.forking.mend import mend_foreign, wait_served
from kwokctl.clusters.programs.needed import programs
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.definitions import kube_apiserver
from kwokctl.errors import NotServedError
from kwokctl.etcd.snapshots import snapshot
from kwokctl.runtime import BringsKubernetes, RunsImages, Runtime


def check_seed(path: Path, runtime: Runtime) -> None:
    """Raise SnapshotError for a file that is no snapshot, NotServedError for a runtime that takes none."""
    if isinstance(runtime, RunsImages | BringsKubernetes):
        raise NotServedError(
            f"'--from' is not supported yet on the runtime '{runtime.name}'",
            hint="create the cluster without it, then: kwokctl snapshot restore --path "
            + str(path),
        )
    snapshot.verify(path)


async def seed(home: Home, saved: Saved, path: Path) -> Callable[[], Awaitable[None]]:
    """Make the data of a new cluster, whose files are there; return what corrects them.

    That is to be called when the API server answers, before controllers see the objects. Raises
    SnapshotError if the file holds nothing under the cluster's prefix.
    """
    setting = saved.setting(home.runtime(saved.options.runtime), home.paths(saved.name))
    snapshot.check_objects(path, kube_apiserver.prefix(setting))
    etcdutl = (await programs(home, saved.options, ["etcdutl"]))["etcdutl"]
    data = ForkedData(file=path, etcdutl=Path(etcdutl.command[0]), revision=0)
    with home.progress.step(f"Preparing the data of '{path}'"):
        await data.restore(setting.paths)
    data.put_in_place(setting.paths)

    async def correct() -> None:
        await wait_served(home, saved)
        await forget_events(setting)
        await mend_foreign(setting)

    return correct
