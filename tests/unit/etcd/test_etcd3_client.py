""""""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kwokctl.errors import UnavailableError
from kwokctl.etcd.etcd3_client import EtcdClient
from kwokctl.etcd.kv.maintenance import MemberStatus
from tests.support.eventually import eventually
from tests.support.fake_etcd import FakeEtcd, serving


@pytest.fixture
def socket() -> Iterator[Path]:
    """Return a path that is short enough for a socket."""
    with TemporaryDirectory(prefix="etcd-") as folder:
        yield Path(folder, "s")


@pytest.fixture
def etcd() -> FakeEtcd:
    """Return an etcd to be served."""
    return FakeEtcd()


async def test_status_is_what_etcd_reports(etcd: FakeEtcd, socket: Path) -> None:
    with serving(etcd, socket) as target:
        async with EtcdClient(target) as client:
            status = await client.status()
    assert status == MemberStatus(
        version="3.6.0", revision=42, db_size=4096, db_size_in_use=0, quota=0
    )


async def test_status_waits_for_an_etcd_that_is_just_starting(etcd: FakeEtcd, socket: Path) -> None:
    async with EtcdClient(f"unix:{socket}") as client, asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(client.status())
        await asyncio.sleep(0.05)
        with serving(etcd, socket):
            assert (await asked).revision == 42


async def test_a_wait_for_an_etcd_that_never_starts_ends_when_cancelled(socket: Path) -> None:
    async with EtcdClient(f"unix:{socket}") as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.status()


async def test_a_snapshot_comes_in_parts(etcd: FakeEtcd, socket: Path) -> None:
    etcd.parts = [b"one", b"two" * 2_000_000, b"three"]
    taken: list[bytes] = []
    with serving(etcd, socket) as target:
        async with EtcdClient(target) as client:
            await client.snapshot(taken.append)
    assert taken == etcd.parts


async def test_a_stalled_snapshot_ends_when_cancelled(etcd: FakeEtcd, socket: Path) -> None:
    etcd.stalls = True
    with serving(etcd, socket) as target:
        async with EtcdClient(target) as client:
            taken: list[bytes] = []
            taking = asyncio.create_task(client.snapshot(taken.append))
            await eventually(lambda: taken)
            taking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await taking
            assert await asyncio.to_thread(etcd.left.wait, 60)


async def test_a_failed_call_is_reported_with_its_reason(etcd: FakeEtcd, socket: Path) -> None:
    etcd.breaks = True
    with serving(etcd, socket) as target:
        async with EtcdClient(target) as client:
            with pytest.raises(UnavailableError, match="the disk is gone"):
                await client.snapshot(lambda _: None)


async def test_an_error_of_the_receiver_of_parts_is_raised_unchanged(
    etcd: FakeEtcd, socket: Path
) -> None:
    def fail(part: bytes) -> None:
        raise OSError(28, "No space left on device")

    with serving(etcd, socket) as target:
        async with EtcdClient(target) as client:
            with pytest.raises(OSError, match="No space left"):
                await client.snapshot(fail)


async def test_missing_certificates_are_reported(tmp_path: Path) -> None:
    async with EtcdClient("127.0.0.1:1", ca=tmp_path / "ca.crt") as client:
        with pytest.raises(UnavailableError, match=r"ca\.crt': No such file"):
            await client.status()
