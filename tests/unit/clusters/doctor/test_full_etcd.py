"""An etcd that is full: what the repair of `doctor` does with it."""

from pathlib import Path

import pytest

from kwokctl.clusters.doctor.check import Repair
from kwokctl.clusters.doctor.cluster import (
    etcd,
)
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.overview.figures import Store
from kwokctl.errors import CapacityError
from kwokctl.etcd.kv import maintenance
from kwokctl.etcd.kv.kv import Kv
from kwokctl.etcd.protobuf import VARINT, tag, varint
from kwokctl.replacing import replace
from tests.support.examined import GIB, WELL, checked, whats


class Full(Kv):
    """An etcd that has raised its alarm."""

    def __init__(self) -> None:
        super().__init__("unix:/nowhere")
        self.channel = self  # type: ignore[assignment]  # all that is called is `call`
        self.asked: list[str] = []
        self.is_raised = True
        self.left = 0
        """How large it is once it is compacted and defragmented."""

    async def call(self, path: str, message: bytes, *, within: float) -> bytes:
        self.asked.append(path.rpartition("/")[2])
        if path.endswith("/Alarm"):
            self.is_raised &= not message
            return b"\x12\x04\x08\x05\x10\x01" if self.is_raised else b""
        return tag(3, VARINT) + varint(self.left) if path.endswith("/Status") else b""

    async def close(self) -> None:
        """Nothing was dialled."""


class OfFull(CheckedCluster, frozen=True):
    """A cluster of which etcd is full."""

    full = Full()

    def etcd(self) -> Kv:
        return self.full


async def repair_of_full(tmp_path: Path, *, left: int) -> tuple[Full, Repair]:
    """Return an etcd whose file is as large as its quota, and how it is repaired."""
    store = Store(size=8 * GIB, in_use=8 * GIB, quota=8 * GIB)
    one = checked(tmp_path, replace(WELL, etcd=store))
    ill = OfFull(home=one.home, saved=one.saved, runtime=one.runtime, seen=one.seen)
    ill.full.is_raised, ill.full.left = True, left
    report = await etcd.look(ill)
    assert whats(report)[0] == "etcd has reached its quota and refuses every write (alarm NOSPACE)"
    repair = report.findings[0].repair
    assert repair is not None
    return ill.full, repair


async def test_a_full_etcd_writes_again_where_compaction_leaves_room(tmp_path: Path) -> None:
    full, repair = await repair_of_full(tmp_path, left=GIB)

    await repair.do()

    assert await maintenance.alarms(full) == []
    assert {"Compact", "Defragment"} <= {*full.asked}


async def test_an_etcd_that_stays_full_keeps_its_alarm(tmp_path: Path) -> None:
    full, repair = await repair_of_full(tmp_path, left=7 * GIB)

    with pytest.raises(CapacityError, match="7Gi are in use, 88% of the quota: delete objects"):
        await repair.do()
    assert await maintenance.alarms(full) != []
