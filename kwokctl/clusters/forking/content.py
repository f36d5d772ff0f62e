"""Copies what one etcd holds into the data of another, by a snapshot in a folder that does not outlive its use.

The snapshot holds every Secret.
"""

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import msgspec

from kwokctl.clusters.programs.needed import programs
from kwokctl.clusters.snapshot import MARGIN, check_room, last_revision_of
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.components.definitions import etcd, kube_apiserver
from kwokctl.components.setting import Setting
from kwokctl.etcd import snapshot_files
from kwokctl.etcd.etcd3_client import EtcdClient
from kwokctl.etcd.kv.kv import Kv
from kwokctl.host.file_locks import lock, try_lock
from kwokctl.host.files import private_folder, remove_tree
from kwokctl.host.paths import ClusterPaths
from kwokctl.runtime import Runtime


class ForkedData(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot of the cluster that is forked."""

    file: Path
    etcdutl: Path
    revision: int
    """That of the source: clients that have seen it must list again in the fork."""

    async def restore(self, paths: ClusterPaths) -> None:
        """Make the data of a new cluster."""
        private_folder(paths.root)
        check_room(self.file, paths.root)
        remove_tree(paths.etcd_restored)
        bump = self.revision + MARGIN
        await snapshot_files.restore(
            self.etcdutl, self.file, paths.etcd_restored, bump_revision=bump
        )

    def put_in_place(self, paths: ClusterPaths) -> None:
        """Start etcd with these data."""
        remove_tree(paths.etcd_data)
        paths.etcd_restored.rename(paths.etcd_data)


@asynccontextmanager
async def snapshot_of(home: Home, saved: Saved, runtime: Runtime) -> AsyncIterator[ForkedData]:
    """Keep a snapshot of a running cluster as long as the block runs."""
    setting = saved.setting(runtime, home.paths(saved.name))
    etcdutl = (await programs(home, saved.options, ["etcdutl"]))["etcdutl"]
    at = etcd.target(setting)
    with snapshot_folder(home.workdir.root) as folder:
        file = folder / "source.db"
        client = EtcdClient(at.address, ca=at.ca, cert=at.cert, key=at.key)
        async with client:
            await snapshot_files.save(client, file, force=False, progress=home.progress)
        revision = await last_revision_of(runtime, saved.name, setting)
        yield ForkedData(file=file, etcdutl=Path(etcdutl.command[0]), revision=revision)


async def forget_events(setting: Setting) -> None:
    """Delete the Events of a cluster: they are of what happened in another."""
    at = etcd.target(setting)
    start, end = RewindScope(kube_apiserver.prefix(setting)).events
    async with Kv(at.address, ca=at.ca, cert=at.cert, key=at.key) as kv:
        # In one revision: the API server keeps no cache of Events, which could miss some of them.
        await kv.delete_all(start, end)


_PREFIX = "fork-"


@contextmanager
def snapshot_folder(root: Path) -> Iterator[Path]:
    """Yield a new folder in `root`; remove it in the end, and at once those that killed runs have left."""
    with _opened(root) as turn:
        lock(turn)  # so that no other process sees a folder before it is locked
        for left in root.glob(f"{_PREFIX}*"):
            _remove_unused(left)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
        used = os.open(folder, os.O_RDONLY)
        lock(used)
    try:
        yield folder
    finally:
        remove_tree(folder)
        os.close(used)


def _remove_unused(folder: Path) -> None:
    """Remove a folder unless the process that has made it still uses it."""
    # Its process may just be removing it.
    with suppress(FileNotFoundError), _opened(folder) as descriptor:
        if try_lock(descriptor):
            remove_tree(folder)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
