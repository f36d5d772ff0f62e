""""""

import asyncio
import hashlib
import os
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kwokctl.errors import ConflictError, SnapshotError, UnavailableError
from kwokctl.etcd import snapshot_files
from kwokctl.etcd.etcd3_client import EtcdClient
from kwokctl.progress import Silent, Step
from tests.support.fake_etcd import FakeEtcd, bolt_database, serving, snapshot_of

_DATABASE = bolt_database(64)
_WHOLE = snapshot_of(_DATABASE)


@pytest.fixture
def etcd() -> FakeEtcd:
    """Return an etcd with a snapshot."""
    return FakeEtcd()


@pytest.fixture
async def client(etcd: FakeEtcd) -> AsyncIterator[EtcdClient]:
    """Return a client of the etcd, which is served."""
    with TemporaryDirectory(prefix="etcd-") as folder, serving(etcd, Path(folder, "s")) as target:
        async with EtcdClient(target) as client:
            yield client


class Listening(Silent):
    """Counts what is done."""

    def __init__(self) -> None:
        self.done = 0
        self.total: int | None = None

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        self.total = total
        yield self

    def say(self, what: str) -> None:
        """Not listened to."""

    def expect(self, total: int | None) -> None:
        """Not listened to."""

    def advance(self, amount: int = 1) -> None:
        self.done += amount


def _cut(data: bytes, *sizes: int) -> list[bytes]:
    parts = []
    for size in sizes:
        parts.append(data[:size])
        data = data[size:]
    return [*parts, data]


@pytest.mark.parametrize(
    "parts",
    [
        [_WHOLE],
        _cut(_WHOLE, len(_DATABASE)),
        _cut(_WHOLE, len(_DATABASE), 1, 30),
        _cut(_WHOLE, 10, 0, 100_000, 20, 20),
        [_WHOLE[n : n + 65_536] for n in range(0, len(_WHOLE), 65_536)],
    ],
)
async def test_a_snapshot_is_summed_up_and_counted_on_the_way(
    etcd: FakeEtcd, client: EtcdClient, tmp_path: Path, parts: list[bytes]
) -> None:
    etcd.parts = parts
    path, progress = tmp_path / "s.db", Listening()
    saved = await snapshot_files.save(client, path, force=False, progress=progress)
    assert path.read_bytes() == _WHOLE
    assert saved.sha256 == hashlib.sha256(_DATABASE).hexdigest()
    assert (progress.total, progress.done) == (4096, len(_WHOLE))


async def test_a_stream_that_breaks_leaves_nothing(
    etcd: FakeEtcd, client: EtcdClient, tmp_path: Path
) -> None:
    etcd.breaks = True
    with pytest.raises(UnavailableError, match="the disk is gone"):
        await snapshot_files.save(client, tmp_path / "s.db", force=False, progress=Silent())
    assert list(tmp_path.iterdir()) == []


async def test_a_cancelled_save_leaves_nothing(
    etcd: FakeEtcd, client: EtcdClient, tmp_path: Path
) -> None:
    etcd.stalls = True
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await snapshot_files.save(client, tmp_path / "s.db", force=False, progress=Silent())
    assert list(tmp_path.iterdir()) == []


async def test_a_full_disk_is_reported_and_leaves_no_file(
    client: EtcdClient, tmp_path: Path
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        with pytest.raises(UnavailableError, match="cannot be written: File too large"):
            await snapshot_files.save(client, tmp_path / "s.db", force=False, progress=Silent())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("force", [False, True])
async def test_a_pipe_is_neither_replaced_nor_read(
    client: EtcdClient, tmp_path: Path, force: bool
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ConflictError, match="is not a file"):
        await snapshot_files.save(client, pipe, force=force, progress=Silent())
    assert pipe.is_fifo()
    with pytest.raises(SnapshotError, match="is not a file"):
        snapshot_files.verify(pipe)


def test_a_file_that_was_cut_by_whole_pages_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(_WHOLE[:-512])
    with pytest.raises(SnapshotError, match="is damaged"):
        snapshot_files.verify(path)


def _program(folder: Path, script: str) -> Path:
    path = folder / "etcdutl"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return path


async def test_restoring_raises_revisions_and_forgets_what_is_older(tmp_path: Path) -> None:
    etcdutl = _program(tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/words')
    path, data = tmp_path / "s.db", tmp_path / "data"
    await snapshot_files.restore(etcdutl, path, data, bump_revision=1234)
    words = (tmp_path / "words").read_text().splitlines()
    assert words[:3] == ["snapshot", "restore", str(path)]
    assert {f"--data-dir={data}", "--bump-revision=1234", "--mark-compacted"} <= set(words)


async def test_a_failed_restore_reports_the_reason(tmp_path: Path) -> None:
    etcdutl = _program(tmp_path, "echo no space left >&2; exit 3")
    with pytest.raises(SnapshotError) as caught:
        await snapshot_files.restore(etcdutl, tmp_path / "s.db", tmp_path / "data", bump_revision=1)
    assert caught.value.detail == "no space left"
