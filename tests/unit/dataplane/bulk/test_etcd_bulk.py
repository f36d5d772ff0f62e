"""Which bulk writes go to etcd, and what happens with those that cannot."""

from typing import Any

import pytest

from kwokctl.clusters.scaling.cluster_reader import Existing
from kwokctl.dataplane.bulk.etcd_bulk import EtcdBulk
from kwokctl.dataplane.pacing import Window
from kwokctl.dataplane.port import FEWEST_COPIES, NewObjects, OldObjects
from kwokctl.errors import CannotStampError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS, SERVICES, Resource
from kwokctl.kube.transport.pool import Pool, Response
from kwokctl.replacing import replace
from tests.support.bulk import bulk_access, new_pods
from tests.support.memory_cluster import MemoryCluster
from tests.support.memory_etcd import MemoryEtcd


class Admitting(Pool):
    """An API server that admits what it is shown."""

    def __init__(self) -> None:
        super().__init__(Access(server="http://127.0.0.1:1"))

    async def request(self, method: str, path: str, **_: Any) -> Response:
        assert (method, "dryRun=All" in path) == ("POST", True)
        return Response(201, b"{}", [])


class Rig:
    """A cluster whose etcd is empty, so that it is not the one it seems to be."""

    def __init__(self, *, insists: bool = False) -> None:
        self.cluster, self.etcd = MemoryCluster(), MemoryEtcd()
        self.left = False
        self.created = 0
        self.reasons: list[str] = []
        access = bulk_access(
            etcd=self.etcd, plane=self.cluster, pool=Admitting(), left=lambda resource: self.left
        )
        self.bulk = EtcdBulk(access, Window, insists=insists)

    def pods(self, number: int) -> NewObjects:
        def body(serial: int) -> dict[str, Any]:
            return {"metadata": {"name": f"pod-{serial:06d}", "resourceVersion": "1"}}

        def on_created() -> None:
            self.created += 1

        on_api = self.reasons.append
        return new_pods(range(number), body=body, on_created=on_created, on_api=on_api)

    def old(self, *names: str, resource: Resource = PODS, grace_seconds: int = 0) -> OldObjects:
        """Have objects, in the API only."""
        for name in names:
            self.cluster.put(resource.kind, name, namespace="default", uid=f"uid of {name}")
        return OldObjects(
            resource=resource,
            namespace="default",
            objects=[
                Existing(name=name, uid=f"uid of {name}", created="", set_name=None, is_going=False)
                for name in names
            ],
            grace_seconds=grace_seconds,
            look=self.cluster.get,
            on_deleted=lambda: None,
            on_api=self.reasons.append,
        )


@pytest.mark.parametrize(("number", "is_left"), [(FEWEST_COPIES - 1, False), (FEWEST_COPIES, True)])
async def test_few_objects_and_kinds_that_are_left_go_through_the_api(
    number: int, is_left: bool
) -> None:
    rig = Rig()
    rig.left = is_left

    await rig.bulk.create(rig.pods(number))

    assert (rig.created, len(rig.cluster.names("Pod"))) == (number, number)
    assert (rig.reasons, rig.etcd.transactions) == ([], [])


async def test_objects_that_differ_in_more_than_values_go_through_the_api() -> None:
    rig = Rig()

    await rig.bulk.create(replace(rig.pods(FEWEST_COPIES), is_uniform=False))

    assert (rig.created, len(rig.cluster.names("Pod"))) == (FEWEST_COPIES, FEWEST_COPIES)
    assert (rig.reasons, rig.etcd.transactions) == ([], [])


async def test_objects_that_cannot_be_copied_go_through_the_api_after_the_samples() -> None:
    rig = Rig()

    await rig.bulk.create(rig.pods(FEWEST_COPIES))

    assert (rig.created, len(rig.cluster.writes)) == (FEWEST_COPIES, FEWEST_COPIES)
    assert rig.reasons == ["'pod-000000' is not where it was expected in etcd"]


async def test_a_caller_that_insists_on_etcd_gets_the_reason_as_an_error() -> None:
    rig = Rig(insists=True)

    with pytest.raises(CannotStampError, match="not where it was expected"):
        await rig.bulk.create(rig.pods(FEWEST_COPIES))
    with pytest.raises(CannotStampError, match="not where it was expected"):
        await rig.bulk.delete(rig.old("a"))

    assert (rig.created, rig.reasons) == (2, [])
    assert "a" in rig.cluster.names("Pod")


async def test_a_reason_that_the_caller_has_given_itself_is_not_reported() -> None:
    rig = Rig(insists=True)
    new = rig.pods(FEWEST_COPIES)

    def leave(body: dict[str, Any]) -> None:
        rig.left = len(rig.cluster.writes) == 1 or rig.left

    rig.cluster.before_create = leave
    await rig.bulk.create(new)

    assert (rig.created, rig.reasons) == (FEWEST_COPIES, [])


@pytest.mark.parametrize(
    ("resource", "grace_seconds", "reasons"),
    [
        (PODS, 0, ["'a' is not where it was expected in etcd"]),
        (PODS, 7, []),
        (SERVICES, 0, ["deleting such an object has effects on others"]),
    ],
)
async def test_what_cannot_be_deleted_in_etcd_is_deleted_through_the_api(
    resource: Resource, grace_seconds: int, reasons: list[str]
) -> None:
    rig = Rig()

    await rig.bulk.delete(rig.old("a", "b", resource=resource, grace_seconds=grace_seconds))

    assert rig.cluster.names(resource.kind) == []
    assert rig.reasons == reasons
    assert set(rig.cluster.grace) == {grace_seconds}
