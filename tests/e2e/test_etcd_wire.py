"""The client of the hot path against a real etcd."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kwokctl.errors import EtcdGoneError, EtcdRefusedError
from kwokctl.etcd.kv import maintenance
from kwokctl.etcd.kv.kv import Compare, Delete, Get, KeyValue, Kv, Put, Txn, TxnAnswer, prefix_end
from tests.support.certificates import certificates
from tests.support.etcd_alarms import alarms, disarm
from tests.support.etcd_model import KEYS, Chance, Model
from tests.support.real_etcd import RealEtcd

pytestmark = [pytest.mark.e2e, pytest.mark.components]

MIB = 1 << 20


@pytest.fixture
async def kv(etcd: RealEtcd) -> AsyncIterator[Kv]:
    async with Kv(etcd.target) as client:
        yield client


async def test_a_key_is_created_once_updated_in_turn_and_deleted(kv: Kv) -> None:
    absent = Compare(b"k", 0, of_creation=True)
    assert await kv.get(b"k") is None

    created = await kv.txn(Txn((absent,), (Put(b"k", b"1"),)))
    again = await kv.txn(Txn((absent,), (Put(b"k", b"2"),), (Get(b"k"),)))

    assert created == TxnAnswer(True, created.revision, (None,))
    found = KeyValue(b"k", b"1", created.revision)
    assert again == TxnAnswer(False, created.revision, (found,))
    updated = await kv.txn(Txn((Compare(b"k", created.revision),), (Put(b"k", b""),)))
    assert updated.revision == created.revision + 1
    assert await kv.get(b"k") == KeyValue(b"k", b"", updated.revision)
    stale = await kv.txn(Txn((Compare(b"k", created.revision),), (Delete(b"k"),)))
    assert not stale.succeeded
    gone = await kv.txn(Txn((Compare(b"k", updated.revision),), (Delete(b"k"), Delete(b"no"))))
    assert (gone.succeeded, gone.answers) == (True, (1, 0))
    assert await kv.get(b"k") is None


async def test_nested_transactions_succeed_or_fail_one_by_one(kv: Kv) -> None:
    first = await kv.txn(Txn((), tuple(Put(b"%02d" % n, b"old") for n in range(64))))

    def renewal(number: int) -> Txn:
        key, revision = b"%02d" % number, first.revision + number % 2
        return Txn((Compare(key, revision),), (Put(key, b"new"),), (Get(key),))

    answer = await kv.txn(Txn((), tuple(renewal(number) for number in range(64))))

    nested = [part for part in answer.answers if isinstance(part, TxnAnswer)]
    assert [part.succeeded for part in nested] == [True, False] * 32
    assert {part.revision for part in nested} == {answer.revision}
    values = [(await kv.page(b"0", b"9")).items[n].value for n in range(4)]
    assert values == [b"new", b"old", b"new", b"old"]


async def test_a_range_is_read_in_consistent_pages(kv: Kv) -> None:
    async with asyncio.TaskGroup() as tasks:
        for number in range(100):
            tasks.create_task(kv.txn(Txn((), (Put(b"/p/%03d" % number, b"v"),))))
    await kv.txn(Txn((), (Put(b"/q", b"not of them"),)))
    end = prefix_end(b"/p/")

    first = await kv.page(b"/p/", end, limit=60)
    assert (first.more, len(first.items)) == (True, 60)
    await kv.txn(Txn((), (Put(b"/p/070", b"later"), Delete(b"/p/080"))))
    following = first.items[-1].key + b"\0"
    second = await kv.page(following, end, revision=first.revision)
    assert not second.more
    assert [item.key for item in first.items + second.items] == [b"/p/%03d" % n for n in range(100)]
    assert {item.value for item in second.items} == {b"v"}

    keys = await kv.page(b"/p/", end, keys_only=True)
    assert {item.value for item in keys.items} == {b""}
    assert len(keys.items) == 99


async def test_a_revision_that_was_compacted_is_refused(kv: Kv) -> None:
    await kv.txn(Txn((), (Put(b"k", b"first"),)))
    last = await kv.txn(Txn((), (Put(b"k", b"last"),)))

    await kv.compact(last.revision)

    with pytest.raises(EtcdRefusedError, match="compacted") as refused:
        await kv.page(b"a", b"z", revision=last.revision - 1)
    assert refused.value.code == 11
    with pytest.raises(EtcdRefusedError, match="compacted"):
        await kv.compact(last.revision - 1)


async def test_large_values_go_both_ways_and_too_large_ones_are_refused(kv: Kv) -> None:
    large = random.Random(1).randbytes(int(1.4 * MIB))
    sizes = [len(large), 2_000, 10, 600_000]
    async with asyncio.TaskGroup() as tasks:
        for number, size in enumerate(sizes):
            tasks.create_task(kv.txn(Txn((), (Put(b"%d" % number, large[:size]),))))

    for number, size in enumerate(sizes):
        found = await kv.get(b"%d" % number)
        assert found is not None
        assert found.value == large[:size]
    for size in (int(1.8 * MIB), 2 * MIB, 5 * MIB):
        with pytest.raises(EtcdRefusedError, match=r"too large|larger than max") as refused:
            await kv.txn(Txn((), (Put(b"k", bytes(size)),)))
        assert not refused.value.is_full
    assert len((await kv.page(b"0", b"9")).items) == 4


async def test_an_answer_of_many_megabytes_comes_whole(kv: Kv) -> None:
    value = random.Random(2).randbytes(MIB)
    for number in range(24):
        await kv.txn(Txn((), (Put(b"%02d" % number, value),)))

    pages = await asyncio.gather(*(kv.page(b"0", b"9") for _ in range(3)))

    for page in pages:
        assert [item.value for item in page.items] == [value] * 24


async def test_thousands_of_writes_at_once_are_each_done_once(kv: Kv) -> None:
    revisions = []

    async def write(number: int) -> None:
        key = b"/w/%05d" % number
        absent = Compare(key, 0, of_creation=True)
        answer = await kv.txn(Txn((absent,), (Put(key, key * 200),)))
        assert answer.succeeded
        revisions.append(answer.revision)

    async with asyncio.TaskGroup() as tasks:
        for number in range(4000):
            tasks.create_task(write(number))

    assert len(set(revisions)) == 4000
    page = await kv.page(b"/w/", prefix_end(b"/w/"))
    assert sorted(item.mod_revision for item in page.items) == sorted(revisions)
    assert all(item.value == item.key * 200 for item in page.items)


async def test_cancelled_calls_leave_a_connection_that_works(kv: Kv) -> None:
    dice = random.Random(3)
    await kv.get(b"k")
    for _ in range(40):
        txn = Txn((), (Put(b"k", bytes(dice.choice((10, 2_000, 300_000)))),))
        calls = [asyncio.ensure_future(kv.txn(txn)) for _ in range(20)]
        await asyncio.sleep(0)
        for _ in range(dice.randrange(5)):
            await asyncio.sleep(0)
        for call in dice.sample(calls, 15):
            call.cancel()
        done = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(each, TxnAnswer) for each in done) >= 5

    connection = kv.channel._connection
    assert connection is not None
    assert connection._calls == {}
    assert connection._sender._held == {}


async def test_a_killed_etcd_fails_what_is_under_way_and_is_found_again(
    etcd: RealEtcd, kv: Kv
) -> None:
    written: dict[bytes, int] = {}
    unknown: set[bytes] = set()

    async def write(number: int) -> None:
        for turn in range(1_000_000):
            key = b"/%02d/%06d" % (number, turn)
            try:
                answer = await kv.txn(Txn((Compare(key, 0),), (Put(key, bytes(2_000)),)))
            except EtcdGoneError:
                unknown.add(key)
                return
            written[key] = answer.revision

    async with asyncio.TaskGroup() as tasks:
        for number in range(64):
            tasks.create_task(write(number))
        while len(written) < 500:
            await asyncio.sleep(0.001)
        etcd.kill()
    assert len(unknown) == 64
    with pytest.raises(EtcdGoneError, match="cannot be reached"):
        await kv.get(b"k")

    await etcd.start()

    found = {item.key: item.mod_revision for item in (await kv.page(b"/", b"0")).items}
    assert written.items() <= found.items()
    assert found.keys() <= written.keys() | unknown


async def test_an_etcd_that_is_stopped_is_left_and_found_again(etcd: RealEtcd, kv: Kv) -> None:
    await kv.txn(Txn((), (Put(b"k", b"v"),)))

    # A client that reads on lets etcd go at once.
    await asyncio.to_thread(etcd.stop)
    with pytest.raises(EtcdGoneError):
        await kv.get(b"k")
    await etcd.start()

    found = await kv.get(b"k")
    assert found is not None
    assert found.value == b"v"


async def test_an_etcd_that_does_nothing_is_given_up_at_the_deadline(
    etcd: RealEtcd, kv: Kv
) -> None:
    await kv.get(b"k")
    etcd.pause()
    try:
        with pytest.raises(EtcdGoneError, match="in time"):
            await kv.txn(Txn((), (Put(b"k", b"v"),)), within=0.2)
    finally:
        etcd.resume()

    assert (await kv.txn(Txn((), (Put(b"k", b"w"),)))).succeeded


async def test_a_full_etcd_says_so_and_works_again_after_upkeep(
    etcd_program: str, socket_folder: Path
) -> None:
    etcd = RealEtcd(etcd_program, socket_folder, f"--quota-backend-bytes={16 * MIB}")
    await etcd.start()
    try:
        async with Kv(etcd.target) as kv:
            await _fill(kv)
            assert await alarms(kv) == ["NOSPACE"]
            full = await maintenance.status(kv)
            assert full.quota == 16 * MIB
            assert full.db_size > full.quota // 2

            await kv.compact(full.revision)
            await maintenance.defragment(kv)
            await disarm(kv)

            assert await alarms(kv) == []
            after = await maintenance.status(kv)
            assert after.db_size < full.db_size
            assert (await kv.txn(Txn((), (Put(b"k", b"room"),)))).succeeded
    finally:
        etcd.kill()


async def _fill(kv: Kv) -> None:
    """Overwrite a key until etcd has no space for another version of it."""
    refused: EtcdRefusedError | None = None
    while refused is None:
        try:
            await kv.txn(Txn((), (Put(b"k", bytes(MIB)),)))
        except EtcdRefusedError as e:
            refused = e
    assert "database space exceeded" in str(refused)
    assert refused.is_full


async def test_status_contains_the_version_and_quota_of_etcd(kv: Kv) -> None:
    last = await kv.txn(Txn((), (Put(b"k", b"v"),)))

    status = await maintenance.status(kv)

    assert status.version.startswith("3.")
    assert status.revision == last.revision
    assert 0 < status.db_size_in_use <= status.db_size < status.quota


async def test_over_tls_both_sides_are_proven(etcd_program: str, socket_folder: Path) -> None:
    known = certificates()
    contents = {"ca": known.ca, "cert": known.client.cert, "key": known.client.key}
    contents |= {"server.crt": known.server.cert, "server.key": known.server.key}
    for name, content in contents.items():
        (socket_folder / name).write_bytes(content)
    etcd = RealEtcd(
        etcd_program,
        socket_folder,
        f"--cert-file={socket_folder / 'server.crt'}",
        f"--key-file={socket_folder / 'server.key'}",
        f"--trusted-ca-file={socket_folder / 'ca'}",
        "--client-cert-auth",
        is_secure=True,
    )
    await etcd.start()
    ca, cert, key = (socket_folder / name for name in ("ca", "cert", "key"))
    try:
        for target in (etcd.port, etcd.port.replace("127.0.0.1", "localhost")):
            async with Kv(target, ca=ca, cert=cert, key=key) as kv:
                await test_large_values_go_both_ways_and_too_large_ones_are_refused(kv)
                await test_thousands_of_writes_at_once_are_each_done_once(kv)
                await kv.txn(Txn((), tuple(Delete(b"/w/%05d" % n) for n in range(100))))
                await _forget(kv)
        async with Kv(etcd.port, ca=ca) as nobody:
            with pytest.raises(EtcdGoneError, match="cannot be reached"):
                await nobody.get(b"k")
        async with Kv(etcd.port) as plain:
            with pytest.raises(EtcdGoneError, match="cannot be reached"):
                await plain.get(b"k")
    finally:
        etcd.kill()


async def _forget(kv: Kv) -> None:
    """Delete all keys."""
    while items := (await kv.page(b"\0", b"\0", limit=100, keys_only=True)).items:
        await kv.txn(Txn((), tuple(Delete(item.key) for item in items)))


async def test_etcd_does_what_a_model_of_it_does(kv: Kv) -> None:
    model = Model((await maintenance.status(kv)).revision)
    chance = Chance(20, model)

    for _ in range(1500):
        txn = chance.txn()
        assert await kv.txn(txn) == model.txn(txn), txn

    page = await kv.page(b"/m/", prefix_end(b"/m/"))
    assert {item.key: item for item in page.items} == model.held
    for key in KEYS:
        assert await kv.get(key) == model.held.get(key)
