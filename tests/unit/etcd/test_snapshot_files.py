""""""

import hashlib
import stat
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from kwokctl.errors import ConflictError, SnapshotError, UnavailableError
from kwokctl.etcd import shim, snapshot_files
from kwokctl.etcd.etcd3_client import EtcdClient
from kwokctl.etcd.kv.maintenance import MemberStatus
from kwokctl.progress import Silent
from tests.support.original_snapshot import unpacked

DATABASE = b"\0" * 16 + struct.pack("<I", 0xED0CDAED) + b"\7" * (1024 - 20)
WHOLE = DATABASE + hashlib.sha256(DATABASE).digest()


class FakeEtcd:
    """Streams what it is given."""

    def __init__(self, *parts: bytes) -> None:
        self.parts: Iterable[bytes] = parts

    async def status(self) -> MemberStatus:
        return MemberStatus(
            version="3.6.16", revision=7, db_size=len(DATABASE), db_size_in_use=0, quota=0
        )

    async def snapshot(self, take: Callable[[bytes], None]) -> None:
        for part in self.parts:
            take(part)


async def save(etcd: FakeEtcd, path: Path, *, force: bool = False) -> snapshot_files.SavedSnapshot:
    return await snapshot_files.save(cast(EtcdClient, etcd), path, force=force, progress=Silent())


@pytest.mark.parametrize("cut", [1, 31, 33, 1000, 1030, len(WHOLE)])
async def test_a_stream_is_saved_whatever_its_parts(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "s.db"

    saved = await save(FakeEtcd(*(WHOLE[i : i + cut] for i in range(0, len(WHOLE), cut))), path)

    assert path.read_bytes() == WHOLE
    assert saved.size == len(WHOLE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    snapshot_files.verify(path)


@pytest.mark.parametrize("stream", [WHOLE[:-1], WHOLE[:-1] + b"x", b"", b"x" + WHOLE[1:]])
async def test_a_stream_that_is_not_whole_leaves_no_file(tmp_path: Path, stream: bytes) -> None:
    with pytest.raises(SnapshotError):
        await save(FakeEtcd(stream), tmp_path / "s.db")

    assert list(tmp_path.iterdir()) == []


async def test_a_file_is_overwritten_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_text("precious")

    with pytest.raises(ConflictError, match="exists"):
        await save(FakeEtcd(WHOLE), path)
    assert path.read_text() == "precious"

    await save(FakeEtcd(WHOLE), path, force=True)
    assert path.read_bytes() == WHOLE
    assert list(tmp_path.iterdir()) == [path]


async def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "s.db"

    def parts() -> Iterable[bytes]:
        path.write_text("precious")
        yield WHOLE

    etcd = FakeEtcd()
    etcd.parts = parts()

    with pytest.raises(ConflictError, match="was created meanwhile"):
        await save(etcd, path)
    assert path.read_text() == "precious"


async def test_where_nothing_can_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="nowhere"):
        await save(FakeEtcd(WHOLE), tmp_path / "nowhere" / "s.db")
    with pytest.raises(ConflictError, match="is a folder"):
        await save(FakeEtcd(WHOLE), tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"hello", "is not an etcd snapshot"),
        (b"x" * 544, "is not an etcd snapshot"),
        (DATABASE, "is incomplete"),
        (WHOLE[:-7], "is incomplete"),
        (WHOLE[:100] + b"x" + WHOLE[101:], "is damaged"),
    ],
)
def test_a_file_that_cannot_be_trusted_is_refused(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(content)

    with pytest.raises(SnapshotError, match=said):
        snapshot_files.verify(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="cannot be read"):
        snapshot_files.verify(tmp_path / "absent.db")


def test_etcd3_works_with_the_protobuf_of_today() -> None:
    etcd3: Any = shim.load()

    request = etcd3.etcdrpc.RangeRequest(key=b"a", limit=3)

    assert etcd3.etcdrpc.RangeRequest.FromString(request.SerializeToString()).limit == 3
    assert shim.load() is etcd3


def test_a_snapshot_of_the_original_is_whole_and_holds_objects(tmp_path: Path) -> None:
    file = unpacked(tmp_path)

    snapshot_files.verify(file)
    snapshot_files.check_objects(file, "/registry")
    with pytest.raises(SnapshotError, match="no Kubernetes objects under '/other'"):
        snapshot_files.check_objects(file, "/other")
