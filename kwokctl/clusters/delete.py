"""Deletes clusters: what runs, what is on disk, and what was put into the user's kubeconfig."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import msgspec

from kwokctl import registry
from kwokctl.clusters.launching.failed_logs import forget_failed_logs
from kwokctl.clusters.state import go_kwokctl
from kwokctl.clusters.state.context_files import context_files
from kwokctl.clusters.state.home import Home, context_name
from kwokctl.clusters.state.locks import alone
from kwokctl.clusters.state.saved import Saved, cluster_names, is_foreign, load
from kwokctl.errors import ConfigError, ConflictError, KwokctlError, UnavailableError
from kwokctl.host.files import remove_private_folder, remove_tree
from kwokctl.host.paths import ClusterPaths
from kwokctl.kube.kubeconfig import entries as kubeconfigs
from kwokctl.model import ClusterName


class Deleted(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a `delete cluster --all`."""

    names: tuple[ClusterName, ...]
    failures: dict[ClusterName, KwokctlError]
    left: tuple[ClusterName, ...]
    """Clusters of another program, which were left alone."""


async def delete_cluster(
    home: Home, name: ClusterName, *, kubeconfig: Path | None, force: bool
) -> bool:
    """Delete a cluster and its context; return False if there was no cluster.

    A cluster that the original made, and one whose state cannot be read, need `force`. A kubeconfig
    that cannot be changed keeps nothing else from being deleted; the error is raised at the end, and the
    context goes when this is repeated.
    """
    others = [other for other in cluster_names(home.workdir) if other != name]
    return await _delete(home, name, kubeconfig=kubeconfig, force=force, heirs=others)


async def _delete(
    home: Home,
    name: ClusterName,
    *,
    kubeconfig: Path | None,
    force: bool,
    heirs: Collection[ClusterName],
) -> bool:
    """Delete a cluster; if its context was current, one of the `heirs` becomes current."""
    with alone(home.workdir, name):
        paths = home.paths(name)
        existed, remembered = paths.saved.is_file(), context_files(paths)
        if existed:
            await _take_down(home, name, paths, force=force)
            # Before the kubeconfig is written, which may be on the same full disk.
            _remove_all_but_state(paths)
        try:
            for file in dict.fromkeys((kubeconfig, *remembered)) if kubeconfig else ():
                await remove_context(home, name, file, heirs=heirs, existed=existed)
        finally:
            if existed:
                remove_tree(paths.root)
            forget_failed_logs(home.workdir, name)
    return existed


async def delete_all(home: Home, *, kubeconfig: Path | None, force: bool) -> Deleted:
    """Delete every cluster of kwokctl; one that fails does not keep the others."""
    gone: list[ClusterName] = []
    left: list[ClusterName] = []
    failures: dict[ClusterName, KwokctlError] = {}
    for name in cluster_names(home.workdir):
        try:
            if is_foreign(home.paths(name)):
                left.append(name)
            elif await _delete(home, name, kubeconfig=kubeconfig, force=force, heirs=()):
                gone.append(name)
        except KwokctlError as e:
            failures[name] = e
    return Deleted(names=tuple(gone), failures=failures, left=tuple(left))


def _remove_all_but_state(paths: ClusterPaths) -> None:
    """Remove the files; the state goes last, so that what is cut short can be repeated."""
    remove_private_folder(paths.sockets)
    for entry in paths.root.iterdir():
        if entry != paths.saved:
            remove_tree(entry)


async def remove_context(
    home: Home,
    name: ClusterName,
    kubeconfig: Path,
    *,
    heirs: Collection[ClusterName],
    existed: bool,
) -> None:
    """Remove the context from the user's kubeconfig; if it was the current one, make another context current.

    Of a cluster that is gone already only what certainly was made for it is removed.
    """
    context, root = context_name(name), home.paths(name).root
    try:
        was_current = kubeconfigs.current_context(kubeconfig) == context
        removed = await kubeconfigs.remove_context(
            kubeconfig, context, home=root, only_into_home=not existed
        )
        if not removed:
            return
        if not existed:
            home.progress.note(f"removed the context '{context}', which was left behind")
        if was_current:
            current = await kubeconfigs.make_current(kubeconfig, _contexts(home, heirs))
            home.progress.note(
                f"'{current}' is the current context now"
                if current
                else "the kubeconfig has no current context now"
            )
    except KwokctlError as e:
        if kubeconfigs.may_name(kubeconfig, context):
            raise _left(name, context, e, existed=existed) from e


def _left(name: ClusterName, context: str, error: KwokctlError, *, existed: bool) -> ConfigError:
    deleted = f"the cluster '{name}' is deleted" if existed else f"there is no cluster '{name}'"
    return ConfigError(
        f"{deleted}, but its context '{context}' may have stayed: {error}",
        hint=f"repair the file, then repeat: kwokctl delete cluster --name {name}",
        detail=error.detail,
    )


def _contexts(home: Home, names: Collection[ClusterName]) -> dict[str, Path]:
    """Return the contexts of clusters with their folders; that of the youngest comes first."""
    ordered = sorted(names, key=lambda name: _made(home.paths(name)), reverse=True)
    return {context_name(name): home.paths(name).root for name in ordered}


def _made(paths: ClusterPaths) -> float:
    """Return when a cluster was made; each start rewrites its state, but never its authority."""
    try:
        return (paths.pki / "ca.crt").stat().st_mtime
    except OSError:
        return 0.0


async def _take_down(home: Home, name: ClusterName, paths: ClusterPaths, *, force: bool) -> None:
    """Remove what the cluster's runtime has of it, or what any has where that cannot be read."""
    try:
        if is_foreign(paths):
            await go_kwokctl.take_down(paths, name, force=force)
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
                hint=f"to delete it anyway: kwokctl delete cluster --force --name {name}",
            ) from e
        raise
    await _remove(home, saved, force=force)


async def _remove(home: Home, saved: Saved, *, force: bool) -> None:
    """Uninstall; if the runtime is not available, `force` leaves what it has.

    Nothing is stopped first: what components would still write is deleted anyway, and a kubelet,
    for example, ends no pod while its API server is down.
    """
    name, runtime = saved.name, home.runtime(saved.options.runtime)
    try:
        with home.progress.step(f"Removing {', '.join(saved.names)}"):
            await runtime.uninstall(name)
    except UnavailableError as e:
        if not force:
            raise UnavailableError(
                str(e),
                hint=f"{e.hint}; or delete only the files of the cluster, and leave its containers: "
                f"kwokctl delete cluster --force --name {name}",
                detail=e.detail,
            ) from e
        names = ", ".join(saved.names)
        home.progress.warn(f"{e}: containers of '{name}' may still be there: {names}")


async def _uninstall_everywhere(home: Home, name: ClusterName) -> None:
    """Ask every runtime to remove its parts of a cluster, because the cluster's runtime is unknown."""
    for kind in registry.names():
        # A runtime that is not on this machine has nothing here.
        with suppress(UnavailableError):
            await home.runtime(kind).uninstall(name)
