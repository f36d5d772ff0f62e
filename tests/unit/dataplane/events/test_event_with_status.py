"""An Event and the status after it are one transaction where both would go to etcd."""

import json
from typing import Any

import pytest

from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.etcd_plane import EtcdPlane, EtcdRoute
from kwokctl.dataplane.events.event_bytes import stored_value
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import EtcdConflictError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import EVENTS, NAMESPACES, PODS
from kwokctl.kube.transport.pool import Pool, Response
from tests.support.memory_etcd import MemoryEtcd

KEYS = Keys("/registry")
NAMESPACE = KEYS.key(NAMESPACES, None, "ns")
POD = ObjectKey(PODS, "ns", "p")
POD_KEY = KEYS.key(PODS, "ns", "p")
RUNNING = Patch(
    document={"status": {"phase": "Running"}}, type=PatchType.STRATEGIC, subresource="status"
)


def event(number: int) -> ObjectEvent:
    return ObjectEvent(
        resource=PODS, about_namespace="ns", about="p", uid="u", version="7", type="Normal",
        reason="Started", message="", component="kwok_controller", at=1_800_000_000.0 + number,
    )  # fmt: skip


class Namespaces(Pool):
    """Shows the namespace as it is in etcd."""

    def __init__(self, etcd: MemoryEtcd) -> None:
        super().__init__(Access(server="http://127.0.0.1:1"))
        self._etcd = etcd

    async def request(self, method: str, path: str, **_: Any) -> Response:
        version = str(self._etcd.stored[NAMESPACE].mod_revision)
        return Response(200, json.dumps({"metadata": {"resourceVersion": version}}).encode(), [])


class Api(ApiPlane):
    """An API server that stores the Events that come through it."""

    def __init__(self, etcd: MemoryEtcd) -> None:
        super().__init__(Namespaces(etcd))
        self._etcd = etcd
        self.recorded: list[ObjectEvent] = []

    async def record(self, event: ObjectEvent) -> None:
        self.recorded.append(event)
        lease = await self._etcd.grant(3660)
        self._etcd.put(key_of(event), stored_value(event, "uid", ""), lease)


def key_of(sent: ObjectEvent) -> bytes:
    return KEYS.key(EVENTS, sent.namespace, sent.name)


class Rig:
    """A plane over an etcd in memory with one pod."""

    def __init__(self) -> None:
        self.etcd = MemoryEtcd()
        self.api = Api(self.etcd)
        route = EtcdRoute(address="", store=ObjectStore(self.etcd), keys=KEYS)
        self.plane = EtcdPlane(self.api, route, lambda: 0.0)
        self.etcd.put(NAMESPACE, b"active")
        self.put_pod()

    def put_pod(self) -> None:
        """Write the pod as another client does, and see it."""
        body = {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}}
        version = self.etcd.put(POD_KEY, json.dumps(body).encode())
        metadata = {**body["metadata"], "resourceVersion": str(version)}
        self.seen: Json = {"metadata": metadata, "status": {"phase": "Pending"}}

    async def both(self, number: int, patch: Patch = RUNNING) -> Json:
        return await self.plane.patch_and_record(POD, patch, event(number), current=self.seen)

    def revisions(self, number: int) -> tuple[int, int]:
        """Return the revisions of the pod and of an Event, 0 if there is none."""
        found = self.etcd.stored.get(key_of(event(number)))
        return self.etcd.stored[POD_KEY].mod_revision, found.mod_revision if found else 0


async def test_an_event_and_the_status_after_it_are_written_in_one_revision() -> None:
    rig = Rig()
    await rig.plane.record(event(0))

    answer = await rig.both(1)

    pod, created = rig.revisions(1)
    assert pod == created == int(answer["metadata"]["resourceVersion"])
    assert answer["status"] == {"phase": "Running"}
    assert rig.etcd.stored[key_of(event(1))].lease
    assert rig.api.recorded == [event(0)]


async def test_neither_is_written_before_an_event_has_shown_how_they_are_stored() -> None:
    rig = Rig()
    before, _ = rig.revisions(1)

    assert await rig.both(1) is None
    assert rig.revisions(1) == (before, 0)


async def test_neither_is_written_to_an_object_that_has_changed() -> None:
    rig = Rig()
    await rig.plane.record(event(0))
    seen = rig.seen
    rig.put_pod()
    before, _ = rig.revisions(1)
    rig.seen = seen

    with pytest.raises(EtcdConflictError) as caught:
        await rig.both(1)

    assert caught.value.reason == "Conflict"
    assert rig.revisions(1) == (before, 0)


async def test_neither_is_written_over_an_event_that_exists() -> None:
    rig = Rig()
    for number in range(2):
        await rig.plane.record(event(number))
    before = rig.revisions(1)

    assert await rig.both(1) is None
    assert rig.revisions(1) == before


async def test_neither_is_written_while_the_namespace_has_to_be_looked_at_again() -> None:
    rig = Rig()
    for number in range(2):
        await rig.plane.record(event(number))
    rig.etcd.put(NAMESPACE, b"labelled")
    before, _ = rig.revisions(2)

    assert await rig.both(2) is None
    assert rig.revisions(2) == (before, 0)
    assert await rig.both(3) is not None


async def test_neither_is_written_with_a_lease_that_a_restore_has_taken_away() -> None:
    rig = Rig()
    for number in range(2):
        await rig.plane.record(event(number))
    rig.etcd.leases = {9000: 1}
    before, _ = rig.revisions(2)

    assert await rig.both(2) is None
    assert rig.revisions(2) == (before, 0)
    assert await rig.both(3) is not None


@pytest.mark.parametrize("subresource", ["", "resize"])
async def test_what_is_no_status_is_not_written_with_an_event(subresource: str) -> None:
    rig = Rig()
    await rig.plane.record(event(0))
    patch = Patch(document={}, type=PatchType.MERGE, subresource=subresource)

    assert await rig.both(1, patch) is None


@pytest.mark.parametrize("resource", [PODS, EVENTS])
async def test_kinds_that_something_watches_over_are_not_written_together(resource: Any) -> None:
    rig = Rig()
    await rig.plane.record(event(0))
    rig.plane.leave([resource])

    assert await rig.both(1) is None


async def test_events_that_something_watches_over_are_left_to_the_api() -> None:
    rig = Rig()
    await rig.plane.record(event(0))
    rig.plane.leave([EVENTS])
    await rig.plane.record(event(1))

    assert rig.api.recorded == [event(0), event(1)]


async def test_a_planned_object_is_stored_together_with_its_event() -> None:
    rig = Rig()
    await rig.plane.record(event(0))
    answer = await rig.both(1)
    version = int(answer["metadata"]["resourceVersion"])

    revision = await rig.plane.store_whole(POD, b"planned", version, event(2))

    assert rig.etcd.stored[POD_KEY].value == b"planned"
    assert rig.revisions(2) == (revision, revision)


async def test_a_planned_object_is_not_stored_without_its_event() -> None:
    rig = Rig()
    await rig.plane.record(event(0))
    answer = await rig.both(1)
    version = int(answer["metadata"]["resourceVersion"])

    rig.etcd.put(NAMESPACE, b"terminating")
    assert await rig.plane.store_whole(POD, b"planned", version, event(2)) is None

    rig.plane.leave({EVENTS})
    assert await rig.plane.store_whole(POD, b"planned", version, event(3)) is None
    assert rig.revisions(2) == (version, 0)
