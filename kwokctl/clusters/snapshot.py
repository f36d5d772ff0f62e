"""Saves a cluster's etcd to a snapshot file, and restores a cluster from one."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from kwokctl.clusters.faults_in_etcd import remove_faults
from kwokctl.clusters.programs.needed import programs
from kwokctl.clusters.start import start_saved
from kwokctl.clusters.state.data_folders import exchange, put_back, settle
from kwokctl.clusters.state.half_copies import demand_whole
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import alone, using
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.clusters.stop import stop_all
from kwokctl.clusters.stopped_components import demand_running
from kwokctl.components.definitions import etcd, kube_apiserver
from kwokctl.components.setting import Setting
from kwokctl.errors import KwokctlError, UnavailableError
from kwokctl.etcd import snapshot_files
from kwokctl.etcd.bolt import DamagedFileError
from kwokctl.etcd.database_contents import last_revision
from kwokctl.etcd.etcd3_client import EtcdClient
from kwokctl.etcd.member import DATABASE, EtcdTarget
from kwokctl.etcd.snapshot_files import SavedSnapshot
from kwokctl.host.files import remove_tree
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import ETCD, ClusterName, State
from kwokctl.runtime import Runtime

MARGIN = 1_000_000_000
"""The distance in revisions between a restored etcd and the last revision that was requested.

Clients continue to write while the data are prepared; this is the number that etcd proposes for a week
(https://etcd.io/docs/v3.6/op-guide/recovery/#restoring-with-revision-bump).
"""
_LOGS_BYTES = 128 << 20
"""The first two files of etcd's log, which it makes in full size: 64 MB each."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a `snapshot restore`."""

    path: Path
    revision: int
    """The revision of etcd before the restore; all later ones are higher."""
    faults_left_out: int = 0
    """The number of Faults of the snapshot that the cluster does not have, as was asked."""


async def save_snapshot(home: Home, name: ClusterName, path: Path, *, force: bool) -> SavedSnapshot:
    """Stream a snapshot from the running etcd to `path`; nothing stops.

    Raises ConflictError if the file is there and `force` is not given.
    """
    with using(home.workdir, name):
        paths = home.paths(name)
        saved = load(paths, name)
        runtime = home.runtime(saved.options.runtime)
        await demand_running(home, runtime, name, ETCD)
        async with _etcd(etcd.target(saved.setting(runtime, paths))) as client:
            return await snapshot_files.save(client, path, force=force, progress=home.progress)


async def restore_snapshot(
    home: Home, name: ClusterName, path: Path, *, without_faults: bool = False
) -> Restored:
    """Put the cluster back to what the snapshot holds, and start it.

    Revisions never go backwards: etcd continues beyond the last one, so every client that
    watches from an older revision has to list again. The API server is restarted with etcd,
    for it caches leases that the restored etcd does not know. Nothing is stopped before the new
    data are there; the old data are kept until the API answers again, and put back if it does
    not. With `without_faults` no controller ever sees the Faults of the snapshot.
    """
    with alone(home.workdir, name):
        snapshot_files.verify(path)
        paths = home.paths(name)
        saved = load(paths, name)
        demand_whole(paths, name)
        runtime = home.runtime(saved.options.runtime)
        setting = saved.setting(runtime, paths)
        snapshot_files.check_objects(path, kube_apiserver.prefix(setting))
        settle(paths)
        check_room(path, paths.root)
        revision = await last_revision_of(runtime, name, setting)
        await _prepare(home, saved, path, bump_revision=revision + MARGIN)
        left_out = 0

        async def leave_out() -> None:
            nonlocal left_out
            left_out = await remove_faults(setting)

        async with _undone_on_failure(home, runtime, saved):
            await stop_all(home, runtime, saved.plan(runtime, paths))
            exchange(paths)
            first = leave_out if without_faults else None
            await start_saved(home, runtime, saved, wait=0, before_controllers=first)
        return Restored(path=path, revision=revision, faults_left_out=left_out)


async def last_revision_of(runtime: Runtime, name: ClusterName, setting: Setting) -> int:
    """Return etcd's last revision; if it is stopped, the last one in its database file.

    It is 0 if the data are damaged: no client can continue from what they held.
    """
    if (await runtime.states(name)).get(ETCD) is State.RUNNING:
        async with _etcd(etcd.target(setting)) as client:
            return (await client.status()).revision
    try:
        return last_revision(setting.paths.etcd_data / DATABASE)
    except (OSError, DamagedFileError):
        return 0


async def _prepare(home: Home, saved: Saved, path: Path, *, bump_revision: int) -> None:
    """Make the new data beside the old; nothing is left of them when that fails."""
    paths = home.paths(saved.name)
    etcdutl = (await programs(home, saved.options, ["etcdutl"]))["etcdutl"]
    try:
        with home.progress.step("Preparing the data of the snapshot"):
            await snapshot_files.restore(
                Path(etcdutl.command[0]), path, paths.etcd_restored, bump_revision=bump_revision
            )
    except BaseException:
        remove_tree(paths.etcd_restored)
        raise


def check_room(path: Path, folder: Path) -> None:
    """Raise UnavailableError unless a folder has room for the data of a snapshot."""
    needed, free = path.stat().st_size + _LOGS_BYTES, shutil.disk_usage(folder).free
    if free < needed:
        raise UnavailableError(
            f"the data of '{path}' need {needed / 1e6:,.0f} MB in '{folder}', "
            f"where {free / 1e6:,.0f} MB are free",
            hint="free space there, then repeat; nothing was stopped",
        )


@asynccontextmanager
async def _undone_on_failure(home: Home, runtime: Runtime, saved: Saved) -> AsyncIterator[None]:
    """If the block raises, put the old data back, and start what ran with them."""
    paths = home.paths(saved.name)
    has_run = State.RUNNING in (await runtime.states(saved.name)).values()
    try:
        yield
    except BaseException as e:
        home.progress.warn(f"{_reason(e, paths)}: putting the old data back")
        try:
            await stop_all(home, runtime, saved.plan(runtime, paths))
            put_back(paths)
            if has_run:
                await start_saved(home, runtime, saved, wait=None)
        except KwokctlError as again:
            home.progress.warn(
                f"the old data are complete, but the cluster does not run: {again}; "
                f"start it with: kwokctl start cluster --name {saved.name}"
            )
        else:
            home.progress.note(
                "the old data are back" + (", and the cluster runs again" if has_run else "")
            )
        raise


def _reason(error: BaseException, paths: ClusterPaths) -> str:
    if isinstance(error, asyncio.CancelledError):
        return "the restore was interrupted"
    if paths.etcd_before_restore.exists():
        return "the cluster does not start with the restored data"
    return "the restore has failed"


@asynccontextmanager
async def _etcd(target: EtcdTarget) -> AsyncIterator[EtcdClient]:
    client = EtcdClient(target.address, ca=target.ca, cert=target.cert, key=target.key)
    try:
        yield client
    finally:
        await client.close()
