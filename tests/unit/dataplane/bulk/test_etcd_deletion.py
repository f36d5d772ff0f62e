"""Deleting in etcd: what is there is in two places, as the API shows it and as etcd has it."""

import json

import pytest

from kwokctl.clusters.scaling.cluster_reader import Existing
from kwokctl.dataplane.bulk.etcd_bulk import delete_in_etcd
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.pacing import Window
from kwokctl.dataplane.port import OldObjects
from kwokctl.errors import CannotStampError, EtcdGoneError
from kwokctl.kube.resource import NODES, PODS, Resource
from tests.support import virtual_time
from tests.support.bulk import bulk_access
from tests.support.memory_cluster import MemoryCluster
from tests.support.memory_etcd import MemoryEtcd


class Rig:
    """A cluster with objects of one kind."""

    def __init__(self, resource: Resource = PODS) -> None:
        self.resource = resource
        self.namespace = "default" if resource.namespaced else None
        self.cluster, self.etcd = MemoryCluster(), MemoryEtcd()
        self.keys = Keys("/registry")
        self.reported = 0
        self.is_left = False

    def key(self, name: str) -> bytes:
        return self.keys.key(self.resource, self.namespace, name)

    def known(self, name: str, *, is_held: bool = False) -> Existing:
        """Have an object, and return what was seen of it."""
        finalizers = {"finalizers": ["x"]} if is_held else {}
        kind = self.resource.kind
        body = self.cluster.put(kind, name, namespace=self.namespace, **finalizers)
        version = self.etcd.put(self.key(name), json.dumps(body).encode())
        body["metadata"]["resourceVersion"] = str(version)
        return Existing(
            name=name,
            uid=body["metadata"]["uid"],
            created="",
            set_name="pod",
            is_going=False,
            version=str(version),
            is_held=is_held,
        )

    async def delete(self, *surplus: Existing) -> None:
        def tell() -> None:
            self.reported += 1

        old = OldObjects(
            resource=self.resource,
            namespace=self.namespace,
            objects=surplus,
            look=self.cluster.get,
            on_deleted=tell,
            on_api=lambda why: None,
        )
        access = bulk_access(etcd=self.etcd, plane=self.cluster, left=lambda resource: self.is_left)
        await delete_in_etcd(old, access, Window(first=1000))


async def test_objects_go_in_etcd_each_by_itself() -> None:
    rig = Rig()
    surplus = [rig.known(f"pod-{number}") for number in range(100)]
    stays = rig.known("stays")

    await rig.delete(*surplus)

    assert list(rig.etcd.stored) == [rig.key(stays.name)]
    assert all(len(txn.then) == 1 for txn in rig.etcd.transactions)
    assert rig.reported == 100


async def test_objects_are_deleted_through_the_api_as_soon_as_an_obstacle_appears() -> None:
    rig = Rig()
    surplus = [rig.known(f"pod-{number}") for number in range(3)]
    rig.is_left = True

    await rig.delete(*surplus)

    assert rig.etcd.transactions == []
    assert rig.cluster.writes == [("delete", f"pod-{number}") for number in range(3)]


async def test_a_node_takes_its_lease_with_it() -> None:
    rig = Rig(NODES)
    node = rig.known("n")
    rig.etcd.put(b"/registry/leases/kube-node-lease/n", b"{}")

    await rig.delete(node)

    assert rig.etcd.stored == {}


async def test_objects_with_finalizers_go_through_the_api() -> None:
    rig = Rig()

    await rig.delete(rig.known("free"), rig.known("held", is_held=True))

    assert list(rig.etcd.stored) == [rig.key("held")]
    assert rig.cluster.writes == [("delete", "held")]
    metadata = rig.cluster.objects["Pod", "default", "held"]["metadata"]
    assert metadata["deletionTimestamp"]
    assert rig.reported == 2


async def test_an_object_that_has_changed_is_looked_at_again() -> None:
    rig = Rig()
    known, plain = rig.known("a"), rig.known("b")
    for name in ("a", "b"):
        version = rig.etcd.put(rig.key(name), b"{}")
        rig.cluster.objects["Pod", "default", name]["metadata"]["resourceVersion"] = str(version)
    rig.cluster.objects["Pod", "default", "a"]["metadata"]["finalizers"] = ["late"]

    await rig.delete(known, plain)

    assert list(rig.etcd.stored) == [rig.key("a")]
    assert rig.cluster.writes == [("delete", "a")]


async def test_an_object_that_another_has_replaced_stays() -> None:
    rig = Rig()
    first, known = rig.known("first"), rig.known("a")
    rig.etcd.put(rig.key("a"), b"{}")
    rig.cluster.objects["Pod", "default", "a"]["metadata"]["uid"] = "another"

    await rig.delete(first, known)

    assert list(rig.etcd.stored) == [rig.key("a")]
    assert rig.reported == 2


async def test_nothing_is_deleted_in_an_etcd_that_is_not_the_clusters() -> None:
    rig = Rig()
    known = rig.known("a")
    rig.etcd.stored.clear()

    with pytest.raises(CannotStampError, match="'a' is not where it was expected"):
        await rig.delete(known)

    assert rig.cluster.names("Pod") == ["a"]


def test_an_etcd_that_goes_away_for_a_moment_is_waited_for() -> None:
    rig = Rig()
    surplus = [rig.known("a"), rig.known("b")]
    rig.etcd.refuse = [EtcdGoneError("gone")] * 3

    virtual_time.run(rig.delete(*surplus))

    assert (rig.etcd.stored, rig.reported) == ({}, 2)


def test_an_etcd_that_stays_away_ends_it() -> None:
    rig = Rig()
    surplus = [rig.known("a"), rig.known("b")]
    rig.etcd.refuse = [EtcdGoneError("gone")] * 20

    with pytest.raises(EtcdGoneError, match="gone"):
        virtual_time.run(rig.delete(*surplus))
