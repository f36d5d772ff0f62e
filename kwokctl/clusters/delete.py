"""Deletes clusters: what runs, what lies on disk, and what was put into the user's kubeconfig."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kwokctl import registry
from kwokctl.clusters import originals
from kwokctl.clusters.home import Home, context_name
from kwokctl.clusters.saved import Saved, cluster_names, is_foreign, load
from kwokctl.errors import ConfigError, ConflictError, KwokctlError, UnavailableError
from kwokctl.host.files import locked, remove_tree
from kwokctl.host.paths import ClusterPaths
from kwokctl.kube import kubeconfig as kubeconfigs
from kwokctl.model import ClusterName


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What `delete cluster --all` has done."""

    names: tuple[ClusterName, ...]
    failures: dict[ClusterName, KwokctlError]
    left: tuple[ClusterName, ...]
    """Clusters of another program, which were left alone."""


async def delete_cluster(
    home: Home, name: ClusterName, *, kubeconfig: Path | None, force: bool
) -> bool:
    """Delete a cluster and its context; return False if there was none.

    A cluster that the original made, and one whose state cannot be read, need `force`.
    """
    with locked(home.workdir.cluster_lock(name), what=f"the cluster '{name}'"):
        paths = home.paths(name)
        if not paths.saved.is_file():
            return False
        await _take_down(home, name, paths, force=force)
        if kubeconfig:
            kubeconfigs.remove_context(kubeconfig, context_name(name), home=paths.root)
        _remove_files(paths)
    return True


async def delete_all(home: Home, *, kubeconfig: Path | None, force: bool) -> Deleted:
    """Delete every cluster of ours; one that fails does not keep the others."""
    gone: list[ClusterName] = []
    left: list[ClusterName] = []
    failures: dict[ClusterName, KwokctlError] = {}
    for name in cluster_names(home.workdir):
        try:
            if is_foreign(home.paths(name)):
                left.append(name)
            elif await delete_cluster(home, name, kubeconfig=kubeconfig, force=force):
                gone.append(name)
        except KwokctlError as e:
            failures[name] = e
    return Deleted(names=tuple(gone), failures=failures, left=tuple(left))


def _remove_files(paths: ClusterPaths) -> None:
    """Remove the folder; its state goes last, so that what is cut short can be repeated."""
    remove_tree(paths.sockets)
    for entry in paths.root.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            remove_tree(entry)
    remove_tree(paths.root)


async def _take_down(home: Home, name: ClusterName, paths: ClusterPaths, *, force: bool) -> None:
    """Remove what the cluster's runtime has of it, or what any has where that cannot be read."""
    try:
        if is_foreign(paths):
            await originals.take_down(paths, name, force=force)
            return
        saved = load(paths, name)
    except ConfigError:
        if not force:
            raise
        await _uninstall_everywhere(home, name)
        return
    except ConflictError as e:
        if not force:
            raise ConflictError(
                str(e),
                hint=f"to delete it all the same: kwokctl delete cluster --force --name {name}",
            ) from e
        raise
    await _remove(home, saved, force=force)


async def _remove(home: Home, saved: Saved, *, force: bool) -> None:
    """Uninstall; where the runtime is not there `force` gives up what it has.

    Nothing is stopped first: nobody reads what components would still write, and a kubelet, say,
    ends nothing as long as its API server does not come up.
    """
    name, runtime = saved.name, home.runtime(saved.options.runtime)
    try:
        with home.progress.step(f"Removing {', '.join(saved.names)}"):
            await runtime.uninstall(name)
    except UnavailableError as e:
        if not force:
            raise UnavailableError(
                str(e),
                hint=f"{e.hint}; or give up what is there, and delete the files of the cluster: "
                f"kwokctl delete cluster --force --name {name}",
                detail=e.detail,
            ) from e
        names = ", ".join(saved.names)
        home.progress.warn(f"{e}: what it has of '{name}' stays, if it ran: {names}")


async def _uninstall_everywhere(home: Home, name: ClusterName) -> None:
    """Ask every runtime to remove what it has of a cluster, for nothing tells whose it was."""
    for kind in registry.names():
        # One that is not on this machine has nothing here.
        with suppress(UnavailableError):
            await home.runtime(kind).uninstall(name)
