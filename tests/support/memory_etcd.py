"""An etcd in memory: keys, revisions and transactions as `Kv` has them."""

from kwokctl.errors import EtcdRefusedError
from kwokctl.etcd.kv.kv import Compare, Delete, Get, KeyValue, Kv, Put, Txn, TxnAnswer


class MemoryEtcd(Kv):
    """Keeps values; each transaction that writes is one revision."""

    def __init__(self) -> None:
        super().__init__("unix:/nowhere")
        self.revision = 100
        self.stored: dict[bytes, KeyValue] = {}
        self._made: dict[bytes, int] = {}
        self.leases: dict[int, int] = {}
        """For how many seconds each lease was made."""
        self.transactions: list[Txn] = []
        self.refuse: list[Exception] = []
        """What the next transactions are answered with, first come first served."""

    def put(self, key: bytes, value: bytes, lease: int = 0) -> int:
        """Do what another client does: write a value; returns the revision."""
        self.revision += 1
        self._put(key, value, lease)
        return self.revision

    async def get(self, key: bytes) -> KeyValue | None:
        return self.stored.get(key)

    async def grant(self, seconds: int) -> int:
        lease = 7000 + len(self.leases)
        self.leases[lease] = seconds
        return lease

    async def granted_seconds(self, lease: int) -> int:
        return self.leases.get(lease, 0)

    async def txn(self, txn: Txn, *, within: float = 0) -> TxnAnswer:
        self.transactions.append(txn)
        if self.refuse:
            raise self.refuse.pop(0)
        before = self.revision
        self.revision += 1
        answer, wrote = self._run(txn)
        if not wrote:
            self.revision = before
        return answer

    def _run(self, txn: Txn) -> tuple[TxnAnswer, bool]:
        holds = all(map(self._holds, txn.compares))
        answers: list[int | KeyValue | TxnAnswer | None] = []
        wrote = False
        operations = txn.then if holds else txn.otherwise
        for lease in (each.lease for each in operations if isinstance(each, Put)):
            if lease and lease not in self.leases:  # before anything is written
                raise EtcdRefusedError("etcdserver: requested lease not found", code=5)
        for operation in operations:
            match operation:
                case Put(key, value, lease):
                    self._put(key, value, lease)
                    answers.append(None)
                    wrote = True
                case Delete(key):
                    answers.append(int(self.stored.pop(key, None) is not None))
                    wrote = True
                case Get(key):
                    answers.append(self.stored.get(key))
                case Txn():
                    inner, inner_wrote = self._run(operation)
                    answers.append(inner)
                    wrote = wrote or inner_wrote
        return TxnAnswer(holds, self.revision, tuple(answers)), wrote

    def _holds(self, compare: Compare) -> bool:
        found = self.stored.get(compare.key)
        if found is None:
            return compare.revision == 0
        of_creation = compare.of_creation
        return compare.revision == (self._made[compare.key] if of_creation else found.mod_revision)

    def _put(self, key: bytes, value: bytes, lease: int) -> None:
        if key not in self.stored:
            self._made[key] = self.revision
        self.stored[key] = KeyValue(key, value, self.revision, lease)
