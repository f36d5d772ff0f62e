"""Objects are chosen by kind, name and namespace, and those alone are read or deleted."""

import pytest

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.clusters.direct_etcd.finding import WantedObjects, delete_objects, read_objects
from kwokctl.dataplane.objects.resources import resources_with
from kwokctl.errors import NotFoundError
from kwokctl.etcd.kv.kv import KeyValue
from tests.support.ranged_etcd import RangedEtcd

KEYS = (
    "/registry/minions/a",
    "/registry/minions/ab",
    "/registry/pods/default/a",
    "/registry/pods/default/b",
    "/registry/pods/other/a",
    "/registry/services/specs/other/a",
)


@pytest.fixture
def etcd() -> RangedEtcd:
    etcd = RangedEtcd()
    for key in (*KEYS, "/registry2/minions/a"):
        etcd.put(key.encode(), b"{}")
    return etcd


def _access(etcd: RangedEtcd) -> ObjectAccess:
    return ObjectAccess(kv=etcd, prefix="/registry/", resources=resources_with([]), api=None)


async def _read(etcd: RangedEtcd, wanted: WantedObjects) -> list[str]:
    found: list[KeyValue] = []
    number = await read_objects(_access(etcd), wanted, found.append, chunk=2)
    assert number == len(found)
    return [item.key.decode().removeprefix("/registry/") for item in found]


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        (WantedObjects(), [key.removeprefix("/registry/") for key in KEYS]),
        (WantedObjects(namespace="other"), ["pods/other/a", "services/specs/other/a"]),
        (WantedObjects(resource="no"), ["minions/a", "minions/ab"]),
        (WantedObjects(resource="no", name="a"), ["minions/a"]),
        (WantedObjects(resource="no", name="a", namespace="other"), ["minions/a"]),
        (WantedObjects(resource="po"), ["pods/default/a", "pods/default/b"]),
        (WantedObjects(resource="po", namespace="other"), ["pods/other/a"]),
        (WantedObjects(resource="po", name="b"), ["pods/default/b"]),
        (
            WantedObjects(resource="po", is_everywhere=True),
            ["pods/default/a", "pods/default/b", "pods/other/a"],
        ),
        (
            WantedObjects(resource="po", name="a", is_everywhere=True),
            ["pods/default/a", "pods/other/a"],
        ),
        (WantedObjects(resource="cm"), []),
    ],
)
async def test_those_that_are_meant_are_read(
    etcd: RangedEtcd, wanted: WantedObjects, keys: list[str]
) -> None:
    assert await _read(etcd, wanted) == keys


async def test_a_name_that_there_is_not_is_an_error(etcd: RangedEtcd) -> None:
    with pytest.raises(NotFoundError, match="etcd has no po called 'c'"):
        await _read(etcd, WantedObjects(resource="po", name="c"))


async def test_each_object_is_deleted_in_a_revision_of_its_own(etcd: RangedEtcd) -> None:
    gone = await delete_objects(_access(etcd), WantedObjects(resource="po"), chunk=10)

    assert [item.key for item in gone] == [b"/registry/pods/default/a", b"/registry/pods/default/b"]
    assert len(etcd.transactions) == 2
    assert sorted(etcd.stored) == [
        b"/registry/minions/a",
        b"/registry/minions/ab",
        b"/registry/pods/other/a",
        b"/registry/services/specs/other/a",
        b"/registry2/minions/a",
    ]


async def test_a_dry_run_deletes_nothing(etcd: RangedEtcd) -> None:
    wanted = WantedObjects(resource="po")

    assert len(await delete_objects(_access(etcd), wanted, chunk=10, is_dry_run=True)) == 2
    assert len(etcd.stored) == len(KEYS) + 1
