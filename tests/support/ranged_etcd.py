"""An etcd in memory that also answers for ranges of keys, as they are now."""

from kwokctl.etcd.kv.kv import KeyPage, KeyValue
from tests.support.memory_etcd import MemoryEtcd


class RangedEtcd(MemoryEtcd):
    """Answers for the latest revision, whichever is requested: no test writes while it reads."""

    async def page(
        self,
        start: bytes,
        end: bytes,
        *,
        limit: int = 0,
        revision: int = 0,
        keys_only: bool = False,
    ) -> KeyPage:
        found = self._within(start, end)
        return KeyPage(found[: limit or None], bool(limit and len(found) > limit), self.revision)

    async def count(self, start: bytes, end: bytes, *, revision: int = 0) -> int:
        return len(self._within(start, end))

    async def written(
        self, start: bytes, end: bytes, *, since: int, revision: int = 0
    ) -> list[KeyValue]:
        return [item for item in self._within(start, end) if item.mod_revision >= since]

    async def created(self, start: bytes, end: bytes, *, since: int) -> list[KeyValue]:
        return [item for item in self._within(start, end) if self._made[item.key] >= since]

    def delete(self, key: bytes) -> None:
        """Do what another client does: delete a key."""
        self.revision += 1
        del self.stored[key]

    def _within(self, start: bytes, end: bytes) -> list[KeyValue]:
        if not end:
            return [self.stored[start]] if start in self.stored else []
        return [self.stored[key] for key in sorted(self.stored) if start <= key < end]
