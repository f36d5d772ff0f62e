import json
from collections.abc import Sequence
from typing import Any

import pytest

from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.etcd_plane import EtcdPlane, EtcdRoute
from kwokctl.dataplane.leases.encode import Lease
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.port import ObjectKey, Patch, Renewal
from kwokctl.errors import (
    EtcdConflictError,
    EtcdGoneError,
    EtcdRefusedError,
    RequestError,
)
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import LEASES, NODES, PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.replacing import replace
from tests.support.memory_etcd import MemoryEtcd

POD = ObjectKey(PODS, "ns", "p")
KEY = b"/registry/pods/ns/p"
NODE = ObjectKey(NODES, None, "n")
NODE_KEY = b"/registry/minions/n"
LEASE_KEY = b"/registry/leases/kube-node-lease/n"
RUNNING = Patch(
    document={"status": {"phase": "Running"}}, type=PatchType.STRATEGIC, subresource="status"
)
LEASE = Lease({"name": "n"}, holder="me", duration=40, acquired=1.5, renewed=2.5)


class Api(ApiPlane):
    """Notes what comes through the API."""

    def __init__(self) -> None:
        super().__init__(Pool(Access(server="http://127.0.0.1:1")))
        self.asked: list[str] = []

    async def patch(self, target: ObjectKey, patch: Patch, *, current: Json = None) -> Json:
        self.asked.append(f"patch {target.name} {patch.subresource}")
        return {"through": "api"}

    async def delete(self, target: ObjectKey, **options: Any) -> None:
        self.asked.append(f"delete {target.name} {options.get('grace_seconds')}")

    async def renew(self, renewals: Sequence[Renewal]) -> Any:
        self.asked += [f"renew {renewal.node}" for renewal in renewals]
        return ()


def route(etcd: MemoryEtcd, **options: Any) -> EtcdRoute:
    return EtcdRoute(address="", store=ObjectStore(etcd), keys=Keys("/registry"), **options)


class Rig:
    """A plane over an etcd in memory that holds one pod."""

    def __init__(self, value: bytes | None = None) -> None:
        self.etcd, self.api = MemoryEtcd(), Api()
        metadata = {"name": "p", "namespace": "ns", "uid": "u", "labels": {"a": "b"}}
        spec = {"containers": [{"name": "c", "image": "i"}]}
        self.pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        version = self.etcd.put(KEY, value or json.dumps(self.pod).encode())
        seen = {**metadata, "resourceVersion": str(version)}
        self.seen: Json = {**self.pod, "metadata": seen, "status": {"phase": "Pending"}}
        self.plane = EtcdPlane(self.api, route(self.etcd), lambda: 0.0)

    def put_node(self) -> Json:
        """Write a node, and return it as it is seen."""
        node: Json = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {}}
        version = self.etcd.put(NODE_KEY, json.dumps(node).encode())
        return {**node, "metadata": {"name": "n", "resourceVersion": str(version)}}

    @property
    def stored(self) -> Any:
        return json.loads(self.etcd.stored[KEY].value)


async def test_a_status_is_written_to_etcd_with_all_else_as_it_was() -> None:
    rig = Rig()

    answer = await rig.plane.patch(POD, RUNNING, current=rig.seen)

    assert rig.stored == {**rig.pod, "status": {"phase": "Running"}}
    assert answer["metadata"]["resourceVersion"] == str(rig.etcd.stored[KEY].mod_revision)
    assert answer["status"] == {"phase": "Running"}
    assert rig.api.asked == []
    assert rig.seen["status"] == {"phase": "Pending"}


CREATED: Json = {
    "manager": "kubectl",
    "operation": "Update",
    "apiVersion": "v1",
    "time": "1969-12-31T23:59:00Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:spec": {"f:nodeName": {}}},
}


async def test_who_has_written_a_status_is_noted() -> None:
    rig = Rig()
    rig.seen["metadata"]["managedFields"] = [CREATED]

    answer = await rig.plane.patch(POD, RUNNING, current=rig.seen)

    status = {
        **CREATED,
        "manager": rig.api.manager,
        "time": "1970-01-01T00:00:00Z",
        "fieldsV1": {"f:status": {"f:phase": {}}},
        "subresource": "status",
    }
    assert rig.stored["metadata"]["managedFields"] == [CREATED, status]
    assert answer["metadata"]["managedFields"] == [CREATED, status]


async def test_managed_fields_of_a_status_are_omitted_on_request() -> None:
    rig = Rig()
    rig.seen["metadata"]["managedFields"] = [CREATED]
    plane = EtcdPlane(rig.api, route(rig.etcd, managed_fields=False), lambda: 0.0)

    await plane.patch(POD, RUNNING, current=rig.seen)

    assert rig.stored["status"] == {"phase": "Running"}
    assert rig.stored["metadata"]["managedFields"] == [CREATED]


async def test_a_status_whose_owners_are_not_certain_goes_through_the_api() -> None:
    rig = Rig()
    rig.seen["metadata"]["managedFields"] = [{**CREATED, "apiVersion": "v1beta1"}]

    await rig.plane.patch(POD, RUNNING, current=rig.seen)

    assert rig.api.asked == ["patch p status"]


async def test_a_write_after_a_concurrent_change_has_no_effect() -> None:
    rig = Rig()
    rig.etcd.put(KEY, b'{"theirs":true}')

    with pytest.raises(EtcdConflictError) as caught:
        await rig.plane.patch(POD, RUNNING, current=rig.seen)

    assert (caught.value.status, caught.value.reason) == (409, "Conflict")
    assert rig.stored == {"theirs": True}


async def test_an_object_that_is_gone_is_not_brought_back() -> None:
    rig = Rig()
    await rig.plane.patch(POD, RUNNING, current=rig.seen)
    del rig.etcd.stored[KEY]

    with pytest.raises(EtcdConflictError) as caught:
        await rig.plane.patch(POD, RUNNING, current=rig.seen)

    assert caught.value.status == 404
    assert KEY not in rig.etcd.stored


@pytest.mark.parametrize(
    "patch",
    [
        Patch(document={"spec": {}}, type=PatchType.STRATEGIC),
        Patch(document={"status": {}}, type=PatchType.MERGE, subresource="status", as_user="x"),
        Patch(document={}, type=PatchType.APPLY, subresource="status"),
        Patch(document={"x": 1}, type=PatchType.MERGE, subresource="resize"),
        Patch(
            document={"status": {"phase": "Running"}, "metadata": {"labels": {"c": "d"}}},
            type=PatchType.STRATEGIC,
            subresource="status",
        ),
        Patch(
            document={"status": {"startTime": "yesterday"}},
            type=PatchType.STRATEGIC,
            subresource="status",
        ),
        Patch(
            document={"status": {"conditions": [{"type": "two words"}]}},
            type=PatchType.STRATEGIC,
            subresource="status",
        ),
        Patch(document={"status": None}, type=PatchType.MERGE, subresource="status"),
        Patch(
            document=[{"op": "replace", "path": "/status", "value": {"phase": "Failed"}}],
            type=PatchType.JSON,
            subresource="status",
        ),
        Patch(
            document=[{"op": "replace", "path": "/status", "value": "Failed"}],
            type=PatchType.JSON,
            subresource="status",
        ),
        Patch(
            document={"status": {"conditions": [{"$patch": "replace"}]}},
            type=PatchType.STRATEGIC,
            subresource="status",
        ),
    ],
)
async def test_patches_that_are_not_certainly_a_status_go_through_the_api(patch: Patch) -> None:
    rig = Rig()
    rig.seen["status"] = {"phase": "Pending", "qosClass": "BestEffort"}

    assert await rig.plane.patch(POD, patch, current=rig.seen) == {"through": "api"}
    assert rig.stored == rig.pod


async def test_encrypted_values_are_left_to_the_api() -> None:
    rig = Rig(value=b"k8s:enc:aescbc:v1:k:x")

    await rig.plane.patch(POD, RUNNING, current=rig.seen)

    assert rig.api.asked == ["patch p status"]


async def test_the_first_object_of_a_kind_decides_for_all_of_them() -> None:
    rig = Rig(value=b"k8s:enc:aescbc:v1:k:x")
    for _ in range(2):
        await rig.plane.patch(POD, RUNNING, current=rig.seen)
        rig.etcd.put(KEY, json.dumps(rig.pod).encode())

    assert rig.api.asked == ["patch p status"] * 2


async def test_an_object_that_is_gone_decides_nothing() -> None:
    rig = Rig()
    stored = rig.etcd.stored.pop(KEY)
    await rig.plane.patch(POD, RUNNING, current=rig.seen)
    rig.etcd.stored[KEY] = stored
    await rig.plane.patch(POD, RUNNING, current=rig.seen)

    assert rig.api.asked == ["patch p status"]


async def test_what_has_not_been_seen_is_left_to_the_api() -> None:
    rig = Rig()
    del rig.seen["metadata"]["resourceVersion"]
    for current in (None, rig.seen):
        await rig.plane.patch(POD, RUNNING, current=current)
        await rig.plane.delete(POD, grace_seconds=0, current=current)

    assert rig.api.asked == ["patch p status", "delete p 0"] * 2


async def test_what_the_caller_has_computed_is_written() -> None:
    rig = Rig()
    computed = {**rig.seen, "status": {"phase": "Failed"}}

    await rig.plane.patch(POD, replace(RUNNING, result=computed), current=rig.seen)

    assert rig.stored["status"] == {"phase": "Failed"}


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"metadata": {"labels": {"c": "d"}}}, []),
        ({"spec": {"unschedulable": True}}, ["patch n status"]),
    ],
)
async def test_labels_of_a_node_are_written_to_etcd_with_its_status_and_its_spec_is_not(
    change: Json, asked: Sequence[str]
) -> None:
    rig = Rig()
    seen = rig.put_node()
    patch = replace(RUNNING, document={"status": {"phase": "Running"}, **change})

    await rig.plane.patch(NODE, patch, current=seen)

    assert rig.api.asked == asked


async def test_kinds_that_something_watches_over_are_left_to_the_api_until_it_is_gone() -> None:
    rig = Rig()
    rig.plane.leave([PODS, LEASES])
    await rig.plane.patch(POD, RUNNING, current=rig.seen)
    await rig.plane.delete(POD, grace_seconds=0, current=rig.seen)
    await rig.plane.renew([Renewal("n", "", LEASE)])
    assert rig.api.asked == ["patch p status", "delete p 0", "renew n"]

    rig.plane.leave([])
    await rig.plane.patch(POD, RUNNING, current=rig.seen)

    assert len(rig.api.asked) == 3
    assert rig.stored["status"] == {"phase": "Running"}


@pytest.mark.parametrize("uid", ["u", None])
async def test_a_pod_that_nothing_holds_back_is_deleted_in_etcd(uid: str | None) -> None:
    rig = Rig()

    await rig.plane.delete(POD, grace_seconds=0, uid=uid, current=rig.seen)

    assert KEY not in rig.etcd.stored
    assert rig.api.asked == []


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ({"finalizers": ["x"]}, {"grace_seconds": 0}),
        ({}, {"grace_seconds": 30}),
        ({}, {"grace_seconds": 0, "uid": "another"}),
    ],
)
async def test_other_deletions_go_through_the_api(
    change: dict[str, Any], options: dict[str, Any]
) -> None:
    rig = Rig()
    rig.seen["metadata"].update(change)

    await rig.plane.delete(POD, current=rig.seen, **options)

    assert KEY in rig.etcd.stored
    assert len(rig.api.asked) == 1


async def test_nodes_are_deleted_through_the_api() -> None:
    rig = Rig()

    await rig.plane.delete(NODE, grace_seconds=0, current=rig.put_node())

    assert rig.api.asked == ["delete n 0"]


async def test_leases_are_made_and_renewed_together() -> None:
    rig = Rig()

    (made,) = await rig.plane.renew([Renewal("n", "", LEASE)])
    (again,) = await rig.plane.renew([Renewal("n", made.version, LEASE)])

    assert made.found is not None
    assert made.found.uid
    assert made.found.created == "1970-01-01T00:00:00Z"
    assert int(again.version) == rig.etcd.revision > int(made.version)
    assert len(rig.etcd.transactions) == 2


async def test_a_lease_held_by_another_is_reported_and_the_others_are_renewed() -> None:
    rig = Rig()
    theirs = rig.etcd.put(LEASE_KEY, b'{"metadata":{"name":"n"},"spec":{"holderIdentity":"x"}}')

    answers = await rig.plane.renew([Renewal("n", "", LEASE), Renewal("m", "", LEASE)])

    taken, made = answers
    assert taken.error is not None
    assert taken.error.status == 409
    assert taken.found is not None
    assert (taken.found.holder, taken.found.version) == ("x", str(theirs))
    assert made.error is None


async def test_hundreds_of_leases_are_renewed_in_a_few_transactions() -> None:
    rig = Rig()
    names = [f"n{number}" for number in range(rig.plane.leases_at_once)]
    made = await rig.plane.renew([Renewal(name, "", LEASE) for name in names])
    rig.etcd.transactions.clear()

    renewals = [Renewal(name, one.version, LEASE) for name, one in zip(names, made, strict=True)]
    answers = await rig.plane.renew(renewals)

    assert {answer.version for answer in answers} == {str(rig.etcd.revision)}
    assert len(rig.etcd.transactions) == 1


async def test_a_renewal_that_conflicts_does_not_stop_the_others() -> None:
    rig = Rig()
    names = [f"n{number}" for number in range(rig.plane.leases_at_once)]
    made = await rig.plane.renew([Renewal(name, "", LEASE) for name in names])
    key = LEASE_KEY.removesuffix(b"n") + b"n3"
    theirs = rig.etcd.put(key, b'{"metadata":{"name":"n3"},"spec":{"holderIdentity":"x"}}')

    renewals = [Renewal(name, one.version, LEASE) for name, one in zip(names, made, strict=True)]
    answers = await rig.plane.renew(renewals)

    (forestalled,) = [answer for answer in answers if answer.error is not None]
    assert forestalled is answers[3]
    assert forestalled.found is not None
    assert forestalled.found.version == str(theirs)
    assert all(int(answer.version) > theirs for answer in answers if answer is not forestalled)


async def test_a_lease_that_is_stored_otherwise_has_to_be_looked_at() -> None:
    rig = Rig()
    rig.etcd.put(LEASE_KEY, b"k8s\x00...")

    (answer,) = await rig.plane.renew([Renewal("n", "", LEASE)])

    assert answer.found is None
    assert answer.error is not None


async def test_a_lease_that_is_gone_is_reported() -> None:
    rig = Rig()

    (answer,) = await rig.plane.renew([Renewal("n", "7", LEASE)])

    assert answer.error is not None
    assert answer.error.status == 404


@pytest.mark.parametrize("error", [EtcdGoneError("gone"), EtcdRefusedError("no", code=8)])
async def test_an_etcd_that_does_not_answer_keeps_its_error(error: RequestError) -> None:
    rig = Rig()
    rig.etcd.refuse = [error, error]

    with pytest.raises(RequestError) as caught:
        await rig.plane.patch(POD, RUNNING, current=rig.seen)
    (answer,) = await rig.plane.renew([Renewal("n", "7", LEASE)])

    assert caught.value is error
    assert answer.error is error
    assert (error.status, error.path) == (0, "etcd")
    assert rig.plane.windows[PODS].unseen == 0


async def test_the_metrics_show_how_writes_are_paced() -> None:
    rig = Rig()
    await rig.plane.patch(POD, RUNNING, current=rig.seen)
    labels = (("kind", "Pod"),)

    assert rig.plane.figures()["kwok_controller_unseen_writes", labels] == 1
    rig.plane.seen(PODS, rig.etcd.revision)
    assert rig.plane.figures()["kwok_controller_unseen_writes", labels] == 0
