"""Saves a cluster's etcd to a file, and puts a cluster back to what such a file holds."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from kwokctl.clusters.home import Home
from kwokctl.clusters.programs import programs
from kwokctl.clusters.saved import Saved, load
from kwokctl.clusters.start import settle, start_saved
from kwokctl.clusters.stop import stop_all
from kwokctl.components import etcd
from kwokctl.errors import ComponentError
from kwokctl.etcd import snapshot
from kwokctl.etcd.client import EtcdClient
from kwokctl.etcd.snapshot import SavedSnapshot
from kwokctl.etcd.target import EtcdTarget
from kwokctl.host.files import locked, remove_tree
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import ETCD, ClusterName, Plan, State
from kwokctl.runtime import Runtime

_MARGIN = 1_000
"""Revisions by which a restored etcd is ahead of every revision that any client has seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What `snapshot restore` has done."""

    path: Path
    revision: int
    """The revision of etcd before the restore; all later ones are higher."""
    seconds: float


async def save_snapshot(home: Home, name: ClusterName, path: Path, *, force: bool) -> SavedSnapshot:
    """Stream a snapshot from the running etcd to `path`; nothing stops.

    Raises ConflictError if the file is there and `force` is not given.
    """
    lock = home.workdir.cluster_lock(name)
    with locked(lock, what=f"the cluster '{name}'", shared=True):
        paths = home.paths(name)
        saved = load(paths, name)
        runtime = home.runtime(saved.options.runtime)
        await _demand_etcd(runtime, name)
        async with _etcd(etcd.target(saved.setting(runtime, paths))) as client:
            return await snapshot.save(client, path, force=force, progress=home.progress)


async def restore_snapshot(home: Home, name: ClusterName, path: Path) -> Restored:
    """Put the cluster back to what the snapshot holds, and start it.

    Revisions never go backwards: etcd goes on from beyond the last one, so every client that
    watches from an older revision is told to look anew. The API server is restarted with etcd,
    for it caches leases that the restored etcd does not know. What was there before is kept until
    the API answers again, and put back if it does not.
    """
    began = time.monotonic()
    with locked(home.workdir.cluster_lock(name), what=f"the cluster '{name}'"):
        snapshot.verify(path)
        paths = home.paths(name)
        saved = load(paths, name)
        runtime = home.runtime(saved.options.runtime)
        etcdutl = (await programs(home, saved.options, ["etcdutl"]))["etcdutl"]
        plan = saved.plan(runtime, paths)
        settle(paths)
        target = etcd.target(saved.setting(runtime, paths))
        revision = await _stop_and_ask(home, runtime, plan, target)
        with home.progress.step("Restoring the snapshot"):
            await snapshot.restore(
                Path(etcdutl.command[0]),
                path,
                _fresh(paths),
                bump_revision=revision + _MARGIN,
            )
        async with _swapped(home, runtime, plan, saved):
            await start_saved(home, runtime, saved, wait=0)
        return Restored(path=path, revision=revision, seconds=time.monotonic() - began)


async def _stop_and_ask(home: Home, runtime: Runtime, plan: Plan, target: EtcdTarget) -> int:
    """Stop everything and return etcd's last revision, read when nobody could write any more."""
    others = Plan(
        cluster=plan.cluster,
        components={name: c for name, c in plan.components.items() if name != ETCD},
    )
    await stop_all(home, runtime, others)
    if (await runtime.states(plan.cluster)).get(ETCD) is not State.RUNNING:
        # Its file lags behind its log, so only etcd itself can tell.
        await runtime.start(plan.cluster, ETCD)
    async with _etcd(target) as client:
        revision = (await client.status()).revision
    await runtime.stop(plan.cluster, ETCD)
    return revision


def _fresh(paths: ClusterPaths) -> Path:
    """Return the folder to restore into, without what an interrupted restore left there."""
    remove_tree(paths.etcd_restored)
    return paths.etcd_restored


@asynccontextmanager
async def _swapped(home: Home, runtime: Runtime, plan: Plan, saved: Saved) -> AsyncIterator[None]:
    """Put the restored data in place; if that is left by an exception, put the old back."""
    paths = home.paths(plan.cluster)
    remove_tree(paths.etcd_before_restore)
    paths.etcd_data.rename(paths.etcd_before_restore)
    paths.etcd_restored.rename(paths.etcd_data)
    try:
        yield
    except BaseException:
        home.progress.warn("the restored data do not work: putting back what was there before")
        await stop_all(home, runtime, plan)
        remove_tree(paths.etcd_data)
        paths.etcd_before_restore.rename(paths.etcd_data)
        await start_saved(home, runtime, saved, wait=None)
        raise
    remove_tree(paths.etcd_before_restore)


@asynccontextmanager
async def _etcd(target: EtcdTarget) -> AsyncIterator[EtcdClient]:
    client = EtcdClient(target.address, ca=target.ca, cert=target.cert, key=target.key)
    try:
        yield client
    finally:
        await client.close()


async def _demand_etcd(runtime: Runtime, name: ClusterName) -> None:
    if (await runtime.states(name)).get(ETCD) is not State.RUNNING:
        raise ComponentError(
            "etcd does not run", hint=f"start it with: kwokctl start cluster --name {name}"
        )
