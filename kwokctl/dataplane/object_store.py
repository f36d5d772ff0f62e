"""Writes objects of a cluster to its etcd: one transaction for each object, leases in batches.

Every transaction writes at most one object of a resource: the watch cache of the API server moves
from revision to revision, and a list or watch that begins between two events of one revision would
never see the second. Leases are the exception: a missed event is repaired by the next renewal.
"""

from collections.abc import Sequence

from kwokctl.errors import EtcdConflictError
from kwokctl.etcd.kv.kv import (
    Answer,
    Compare,
    Delete,
    Get,
    KeyValue,
    Kv,
    Put,
    Txn,  # noqa: TID251 - the only writer of objects to etcd
    TxnAnswer,
    prefix_end,
)

OPERATIONS_PER_TRANSACTION = 128
"""Operations of a transaction (`--max-txn-ops` of etcd)."""
_INDEPENDENT_WRITES = OPERATIONS_PER_TRANSACTION // 2
"""The most independent writes in a transaction: each needs a second operation."""


class ObjectStore:
    """Writes values, each only if its key has not been changed meanwhile.

    Every method raises EtcdConflictError if it has been changed, and the errors of `Kv`. Only `put_over`
    and `discard` compare nothing: they are for commands whose user asks for exactly that, even in an etcd
    without an API server. Callers see to pacing and admission; those commands have neither.
    """

    def __init__(self, kv: Kv) -> None:
        """Write through `kv`, which the caller closes."""
        self.kv = kv

    async def get(self, key: bytes) -> KeyValue | None:
        """Return the value of a key."""
        return await self.kv.get(key)

    async def as_of(self, key: bytes, revision: int) -> KeyValue | None:
        """Return the value that a key had in a revision; RequestError if that was compacted."""
        page = await self.kv.page(key, b"", revision=revision)
        return page.items[0] if page.items else None

    async def keys(self, prefix: bytes) -> list[bytes]:
        """Return the keys that begin with a prefix."""
        page = await self.kv.page(prefix, prefix_end(prefix), keys_only=True)
        return [each.key for each in page.items]

    async def add(self, objects: Sequence[Put], given: Sequence[Compare] = ()) -> int:
        """Store objects of different resources together, none if a key is taken.

        Returns the revision of the write. Raises EtcdConflictError `AlreadyExists` if a key is taken, or
        if a condition of `given` does not hold.
        """
        compares = (*(Compare(each.key, 0, of_creation=True) for each in objects), *given)
        answer = await self.kv.txn(Txn(compares, tuple(objects)))
        if not answer.succeeded:
            raise EtcdConflictError("the object exists already", status=409, reason="AlreadyExists")
        return answer.revision

    async def change(self, changed: Put, version: int) -> int:
        """Replace a value of revision `version`, 0 for a new key; return the revision of the write.

        Raises EtcdConflictError: `Conflict` if the value has changed since, `NotFound` if it is gone.
        """
        key = changed.key
        answer = await self.kv.txn(Txn((Compare(key, version),), (changed,), (Get(key),)))
        if not answer.succeeded:
            raise _changed(answer)
        return answer.revision

    async def change_and_add(self, changed: Put, version: int, new: Put, given: Compare) -> int:
        """Replace a value like `change`, and store a `new` object of another resource with it if `given` holds.

        Returns 0, with nothing written, if only the new object could not be stored.
        """
        compares = Compare(changed.key, version), Compare(new.key, 0, of_creation=True), given
        answer = await self.kv.txn(Txn(compares, (changed, new), (Get(changed.key),)))
        if answer.succeeded:
            return answer.revision
        found = answer.answers[0]
        if isinstance(found, KeyValue) and found.mod_revision == version:
            return 0
        raise _changed(answer)

    async def remove(self, key: bytes, version: int, *, with_keys: Sequence[bytes] = ()) -> int:
        """Delete the value of `key` that was stored in revision `version`, and `with_keys` with it.

        Raises EtcdConflictError like `change`.
        """
        deletes = tuple(Delete(each) for each in (key, *with_keys))
        answer = await self.kv.txn(Txn((Compare(key, version),), deletes, (Get(key),)))
        if not answer.succeeded:
            raise _changed(answer)
        return answer.revision

    async def put_over(self, key: bytes, value: bytes) -> None:
        """Store a value without a comparison; a key that expires with a lease still does."""
        found: Answer = None
        while True:
            seen = found if isinstance(found, KeyValue) else KeyValue(key, b"", 0)
            put = Put(key, value, seen.lease)
            answer = await self.kv.txn(Txn((Compare(key, seen.mod_revision),), (put,), (Get(key),)))
            if answer.succeeded:
                return
            found = answer.answers[0]

    async def discard(self, key: bytes) -> None:
        """Delete a key without a comparison."""
        await self.kv.txn(Txn((), (Delete(key),)))

    async def change_many(self, writes: Sequence[tuple[Put, int]]) -> Sequence[TxnAnswer]:
        """Write at most `OPERATIONS_PER_TRANSACTION` values whose revisions are known, 0 for a new key.

        Each is written if its key is unchanged; else its answer has the stored value. Replacements
        are first tried in one all-or-nothing transaction, which is cheaper and nearly always succeeds,
        because other clients rarely write these keys.
        """
        if all(version for _, version in writes):
            compares = tuple(Compare(each.key, version) for each, version in writes)
            puts = tuple(each for each, _ in writes)
            answer = await self.kv.txn(Txn(compares, puts))
            if answer.succeeded:
                return [TxnAnswer(True, answer.revision, ())] * len(writes)
        answers: list[TxnAnswer] = []
        for start in range(0, len(writes), _INDEPENDENT_WRITES):
            answers += await self._change_each(writes[start : start + _INDEPENDENT_WRITES])
        return answers

    async def _change_each(self, writes: Sequence[tuple[Put, int]]) -> list[TxnAnswer]:
        """Write values in one transaction, each independently of the others."""
        parts = tuple(
            Txn(
                (Compare(each.key, version, of_creation=not version),),
                (each,),
                (Get(each.key),),
            )
            for each, version in writes
        )
        answer = await self.kv.txn(Txn((), parts))
        return [part for part in answer.answers if isinstance(part, TxnAnswer)]


def _changed(answer: TxnAnswer) -> EtcdConflictError:
    if answer.answers[0] is None:
        return EtcdConflictError("the object is gone", status=404, reason="NotFound")
    return EtcdConflictError("the object has been modified", status=409, reason="Conflict")
