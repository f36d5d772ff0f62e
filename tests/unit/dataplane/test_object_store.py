"""Each write to etcd builds on what was seen, and does nothing where that has changed."""

from pathlib import Path

import pytest

from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.errors import EtcdConflictError
from kwokctl.etcd.kv.kv import KeyValue, Put, Txn, TxnAnswer
from tests.support.memory_etcd import MemoryEtcd

KEY = b"/registry/pods/ns/p"
OTHER = b"/registry/leases/ns/p"
ROOT = Path(__file__).parents[3]


class BusyEtcd(MemoryEtcd):
    """Another client writes just before each transaction, as often as it likes."""

    def __init__(self, writes: list[KeyValue | None]) -> None:
        super().__init__()
        self.writes = writes
        self.leases[7] = 60

    async def txn(self, txn: Txn, *, within: float = 0) -> TxnAnswer:
        if self.writes:
            theirs = self.writes.pop(0)
            self.stored.pop(KEY, None)
            if theirs is not None:
                self.put(KEY, theirs.value, theirs.lease)
        return await super().txn(txn)


@pytest.fixture
def etcd() -> MemoryEtcd:
    etcd = MemoryEtcd()
    etcd.leases[7] = 60
    return etcd


async def test_a_change_replaces_what_was_seen_with_a_lease(etcd: MemoryEtcd) -> None:
    seen = etcd.put(KEY, b"old")

    revision = await ObjectStore(etcd).change(Put(KEY, b"new", 7), seen)

    assert etcd.stored[KEY] == KeyValue(KEY, b"new", revision, 7)


@pytest.mark.parametrize("stored", [None, b"theirs"])
async def test_a_change_of_nothing_stores_only_where_nothing_is(
    etcd: MemoryEtcd, stored: bytes | None
) -> None:
    if stored:
        etcd.put(KEY, stored)
        with pytest.raises(EtcdConflictError, match="modified"):
            await ObjectStore(etcd).change(Put(KEY, b"new"), 0)
    else:
        await ObjectStore(etcd).change(Put(KEY, b"new"), 0)

    assert etcd.stored[KEY].value == (stored or b"new")


@pytest.mark.parametrize(
    ("stored", "error"), [(b"theirs", (409, "Conflict")), (None, (404, "NotFound"))]
)
async def test_what_another_client_has_done_meanwhile_stays(
    etcd: MemoryEtcd, stored: bytes | None, error: tuple[int, str]
) -> None:
    store, seen = ObjectStore(etcd), etcd.put(KEY, b"old")
    del etcd.stored[KEY]
    if stored:
        etcd.put(KEY, stored)
    before = dict(etcd.stored)

    for write in (store.change(Put(KEY, b"new"), seen), store.remove(KEY, seen)):
        with pytest.raises(EtcdConflictError) as caught:
            await write
        assert (caught.value.status, caught.value.reason) == error

    assert etcd.stored == before


async def test_other_keys_go_with_what_was_seen(etcd: MemoryEtcd) -> None:
    etcd.put(OTHER, b"lease")

    await ObjectStore(etcd).remove(KEY, etcd.put(KEY, b"old"), with_keys=[OTHER])

    assert etcd.stored == {}


@pytest.mark.parametrize("lease", [0, 7])
async def test_whatever_is_there_is_replaced_and_expires_as_it_did(lease: int) -> None:
    theirs = KeyValue(KEY, b"theirs", 0, lease)
    etcd = BusyEtcd([theirs, None, theirs, theirs])
    etcd.put(KEY, b"old")

    await ObjectStore(etcd).put_over(KEY, b"new")

    assert (etcd.stored[KEY].value, etcd.stored[KEY].lease) == (b"new", lease)


async def test_what_is_not_there_is_put_and_discarded(etcd: MemoryEtcd) -> None:
    store = ObjectStore(etcd)

    await store.put_over(KEY, b"new")
    assert etcd.stored[KEY].value == b"new"

    for _ in range(2):
        await store.discard(KEY)
        assert etcd.stored == {}


def test_only_the_witness_of_a_mark_is_written_beside_it() -> None:
    calls = {
        str(file.relative_to(ROOT)): file.read_text("utf-8").count(".txn(")
        for file in (ROOT / "kwokctl").rglob("*.py")
    }
    del calls["kwokctl/dataplane/object_store.py"]

    assert {file for file, number in calls.items() if number} == {
        "kwokctl/clusters/time_travel/make_mark.py"
    }
