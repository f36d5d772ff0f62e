"""What etcd does with transactions, worked out by hand, and transactions made up by chance."""

import random
from dataclasses import dataclass

from kwokctl.etcd.kv.kv import (
    Answer,
    Compare,
    Delete,
    Get,
    KeyValue,
    Operation,
    Put,
    Txn,
    TxnAnswer,
)

KEYS = [b"/m/%d" % number for number in range(6)]


@dataclass(frozen=True)
class Decided:
    """A transaction whose compares have been decided, those of nested ones too."""

    succeeded: bool
    steps: "list[Operation | Decided]"


class Model:
    """What a store holds after a transaction, worked out by hand."""

    def __init__(self, revision: int) -> None:
        self.held: dict[bytes, KeyValue] = {}
        self._made: dict[bytes, int] = {}
        self.revision = revision

    def txn(self, txn: Txn) -> TxnAnswer:
        """Decide all compares before anything is done, as etcd does."""
        before, next_revision = dict(self.held), self.revision + 1
        decided = self._decide(txn)
        answer = self._do(decided, next_revision)
        if self.held == before and not self._deletes(answer):
            return self._do(decided, self.revision)
        self.revision = next_revision
        return answer

    def _deletes(self, answer: TxnAnswer) -> bool:
        return any(
            self._deletes(part)
            if isinstance(part, TxnAnswer)
            else isinstance(part, int) and part > 0
            for part in answer.answers
        )

    def _decide(self, txn: Txn) -> Decided:
        succeeded = all(self._holds(compare) for compare in txn.compares)
        steps = txn.then if succeeded else txn.otherwise
        return Decided(succeeded, [self._decide(s) if isinstance(s, Txn) else s for s in steps])

    def _holds(self, compare: Compare) -> bool:
        found = self.held.get(compare.key)
        if found is None:
            return compare.revision == 0
        return self.revision_of(found, of_creation=compare.of_creation) == compare.revision

    def revision_of(self, found: KeyValue, *, of_creation: bool) -> int:
        """Return the revision at which a key was made, or last written."""
        return self._made[found.key] if of_creation else found.mod_revision

    def _do(self, decided: Decided, at: int) -> TxnAnswer:
        answers = tuple(self._apply(step, at) for step in decided.steps)
        return TxnAnswer(decided.succeeded, at, answers)

    def _apply(self, step: Operation | Decided, at: int) -> Answer:
        match step:
            case Put(key, value):
                if key not in self.held:
                    self._made[key] = at
                self.held[key] = KeyValue(key, value, at)
                return None
            case Delete(key):
                return int(self.held.pop(key, None) is not None)
            case Get(key):
                return self.held.get(key)
            case Decided():
                return self._do(step, at)
            case Txn():
                raise AssertionError("not decided")


class Chance:
    """Makes up transactions that etcd accepts: it refuses two puts of a key in one."""

    def __init__(self, seed: int, model: Model) -> None:
        self._dice = random.Random(seed)
        self._model = model

    def txn(self) -> Txn:
        keys = KEYS.copy()
        self._dice.shuffle(keys)
        return self._txn(keys, 0)

    def _txn(self, keys: list[bytes], depth: int) -> Txn:
        compares = tuple(self._compare() for _ in range(self._dice.randrange(3)))
        then = self._operations(keys, depth)
        return Txn(compares, then, self._operations(keys, depth))

    def _compare(self) -> Compare:
        key, of_creation = self._dice.choice(KEYS), self._dice.random() < 0.4
        found = self._model.held.get(key)
        actual = 0
        if found is not None:
            actual = self._model.revision_of(found, of_creation=of_creation)
        return Compare(key, actual if self._dice.random() < 0.8 else actual + 1, of_creation)

    def _operations(self, keys: list[bytes], depth: int) -> tuple[Operation, ...]:
        return tuple(self._operation(keys, depth) for _ in range(self._dice.randrange(4)))

    def _operation(self, keys: list[bytes], depth: int) -> Operation:
        choice = self._dice.randrange(4)
        if choice == 3 and depth < 2:
            return self._txn(keys, depth + 1)
        if choice == 2 or not keys:
            return Get(self._dice.choice(KEYS))
        key = keys.pop()
        if choice == 1:
            return Delete(key)
        return Put(key, self._dice.randbytes(self._dice.choice((0, 3, 2_000, 40_000))))
