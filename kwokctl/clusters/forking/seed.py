"""Lets a new cluster begin with what a snapshot file holds."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from kwokctl.clusters.forking.content import ForkedData, forget_events
from kwokctl.clusters.forking.mend import Corrections, mend, registered, wait_served
from kwokctl.clusters.forking.releases import said, stored_kinds, unknown
from kwokctl.clusters.programs.needed import programs
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.definitions import etcd, kube_apiserver
from kwokctl.components.setting import Setting
from kwokctl.errors import NotServedError
from kwokctl.etcd import snapshot_files
from kwokctl.etcd.kv.kv import Kv
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.served_kinds import served_kinds
from kwokctl.kube.transport.pool import Pool
from kwokctl.runtime import BringsKubernetes

_OF_MAKER = "/configmaps/kube-system/kubeadm-config"
"""The key in which kubeadm keeps its configuration of a cluster, below the prefix of all keys."""


async def seed(home: Home, saved: Saved, path: Path) -> Callable[[], Awaitable[None]]:
    """Make the data of a new cluster, whose files are there; return what corrects them.

    That is to be called when the API server answers, before controllers see the objects. Raises
    SnapshotError if the file holds nothing under the cluster's prefix, NotServedError if the runtime needs
    objects that it does not hold.
    """
    runtime = home.runtime(saved.options.runtime)
    setting = saved.setting(runtime, home.paths(saved.name))
    prefix = kube_apiserver.prefix(setting)
    snapshot_files.check_objects(path, prefix)
    if isinstance(runtime, BringsKubernetes):
        _check_maker(path, prefix, runtime)
    etcdutl = (await programs(home, saved.options, ["etcdutl"]))["etcdutl"]
    data = ForkedData(file=path, etcdutl=Path(etcdutl.command[0]), revision=0)
    with home.progress.step(f"Preparing the data of '{path}'"):
        await data.restore(setting.paths)
    data.put_in_place(setting.paths)

    async def correct() -> None:
        await wait_served(home, saved)
        await _check_release(home, saved, setting, path)
        await forget_events(setting)
        nodes = registered(runtime, saved)
        await mend(Corrections(setting=setting, has_other_authorities=True, nodes=nodes))

    return correct


async def _check_release(home: Home, saved: Saved, setting: Setting, path: Path) -> None:
    """Raise NotServedError for data that this Kubernetes cannot read, and warn of what it does not show."""
    at = etcd.target(setting)
    async with (
        Kv(at.address, ca=at.ca, cert=at.cert, key=at.key) as kv,
        Pool(load_access(setting.paths.own_kubeconfig)) as pool,
    ):
        stored = await stored_kinds(kv, kube_apiserver.prefix(setting))
        found = unknown(stored, await served_kinds(Client(pool)))
    version = saved.options.kube_version
    if found.unreadable:
        raise NotServedError(
            f"'{path}' was saved by a later Kubernetes than {version}, which cannot read: "
            f"{', '.join(said(found.unreadable))}",
            hint="give the version with which it was saved: --kube-version",
        )
    if found.unserved:
        home.progress.warn(
            f"'{path}' holds kinds that Kubernetes {version} does not serve, so their objects are not visible: "
            f"{', '.join(said(found.unserved))}"
        )


def _check_maker(path: Path, prefix: str, runtime: BringsKubernetes) -> None:
    if not snapshot_files.holds(path, f"{prefix}{_OF_MAKER}"):
        raise NotServedError(
            f"'{path}' was not saved from a cluster of '{runtime.maker}': the new cluster would lack the "
            "objects that its node needs",
            hint="choose another --runtime",
        )
