"""An etcd in memory whose changes can be watched."""

import asyncio
from collections.abc import AsyncGenerator

from kwokctl.etcd.kv.kv import KeyChange, KeyValue, Txn, TxnAnswer
from tests.support.ranged_etcd import RangedEtcd


class WatchedEtcd(RangedEtcd):
    """Yields what tests and transactions write, from the beginning of the watch on."""

    def __init__(self) -> None:
        super().__init__()
        self._watches: list[asyncio.Queue[KeyChange]] = []

    @property
    def is_watched(self) -> bool:
        return bool(self._watches)

    def put(self, key: bytes, value: bytes, lease: int = 0) -> int:
        revision = super().put(key, value, lease)
        self._tell(KeyChange(self.stored[key], is_deleted=False))
        return revision

    def delete(self, key: bytes) -> None:
        super().delete(key)
        self._tell(KeyChange(KeyValue(key, b"", self.revision), is_deleted=True))

    async def txn(self, txn: Txn, *, within: float = 0) -> TxnAnswer:
        before = dict(self.stored)
        answer = await super().txn(txn, within=within)
        for key in before.keys() | self.stored.keys():
            item = self.stored.get(key)
            if item != before.get(key):
                self._tell(
                    KeyChange(item or KeyValue(key, b"", self.revision), is_deleted=item is None)
                )
        return answer

    async def watch(
        self, start: bytes, end: bytes, *, since: int
    ) -> AsyncGenerator[list[KeyChange], None]:
        changes: asyncio.Queue[KeyChange] = asyncio.Queue()
        self._watches.append(changes)
        while True:
            change = await changes.get()
            key = change.item.key
            if start <= key < end or (not end and key == start):
                yield [change]

    def _tell(self, change: KeyChange) -> None:
        for changes in self._watches:
            changes.put_nowait(change)
