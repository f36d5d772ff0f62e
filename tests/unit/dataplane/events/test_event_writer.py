""""""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.events.event_bytes import stored_value
from kwokctl.dataplane.events.event_writer import EventWriter
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.errors import EtcdGoneError, EtcdRefusedError, RequestError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import EVENTS, NAMESPACES, PODS, Resource
from kwokctl.kube.transport.pool import Pool
from tests.support.memory_etcd import MemoryEtcd

KEYS = Keys("/registry")
NAMESPACE = KEYS.key(NAMESPACES, None, "ns")


def event(number: int, namespace: str = "ns") -> ObjectEvent:
    return ObjectEvent(
        resource=PODS,
        about_namespace=namespace,
        about=f"p{number}",
        uid="u",
        version="7",
        type="Normal",
        reason="Started",
        message="as it should",
        component="kwok_controller",
        at=1_800_000_000.25,
    )


def again(once: ObjectEvent) -> ObjectEvent:
    return msgspec.structs.replace(once, at=once.at + 9, first=once.at, count=2)


class Api(ApiPlane):
    """An API server over an etcd in memory, with one namespace."""

    def __init__(self, etcd: MemoryEtcd, *, seconds: int = 3660) -> None:
        super().__init__(Pool(Access(server="http://127.0.0.1:1")))
        self.etcd = etcd
        self.recorded: list[str] = []
        self.seconds = seconds
        self.folder = EVENTS
        self.head = b""
        etcd.put(NAMESPACE, b"active")

    async def record(self, event: ObjectEvent) -> None:
        self.recorded.append(event.about)
        lease = await self.etcd.grant(self.seconds) if self.seconds else 0
        key = KEYS.key(self.folder, event.namespace, event.name)
        self.etcd.put(key, self.head or stored_value(event, "uid", ""), lease)


class Rig:
    def __init__(self, **options: Any) -> None:
        self.etcd = MemoryEtcd()
        self.api = Api(self.etcd, **options)
        self.asked: list[str] = []
        self.is_going = False
        self.writer = EventWriter(
            self.api.record, ObjectStore(self.etcd), KEYS, self.namespace, manager="me"
        )

    async def namespace(self, name: str) -> Mapping[str, Any]:
        self.asked.append(name)
        going = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if self.is_going else {}
        return {"resourceVersion": str(self.etcd.stored[NAMESPACE].mod_revision), **going}

    def leases(self) -> list[int]:
        """Return the leases of the Events, in the order of their keys."""
        folder = KEYS.folder(EVENTS)
        return [
            self.etcd.stored[key].lease
            for key in sorted(self.etcd.stored)
            if key.startswith(folder)
        ]


async def test_the_first_event_goes_through_the_api_and_shows_how_the_others_are_stored() -> None:
    rig = Rig()

    await asyncio.gather(*(rig.writer.record(event(number)) for number in range(5)))

    assert rig.api.recorded == ["p0"]
    assert rig.etcd.leases == {7000: 3660, 7001: 3660}
    assert rig.leases() == [7000, *[7001] * 4]
    assert set(rig.asked) == {"ns"}


@pytest.mark.parametrize("head", [b"k8s:enc:aescbc:v1:", b'{"kind":"Event"}'])
async def test_events_in_another_form_go_through_the_api(head: bytes) -> None:
    rig = Rig()
    rig.api.head = head

    for number in range(3):
        await rig.writer.record(event(number))

    assert rig.api.recorded == ["p0", "p1", "p2"]


async def test_events_that_are_stored_elsewhere_go_through_the_api() -> None:
    rig = Rig()
    rig.api.folder = Resource("", "v1", "others", "Event", namespaced=True)

    for number in range(3):
        await rig.writer.record(event(number))

    assert rig.api.recorded == ["p0", "p1", "p2"]


async def test_the_first_event_decides_for_all() -> None:
    rig = Rig()
    rig.api.head = b"k8s:enc:aescbc:v1:"
    await rig.writer.record(event(0))
    rig.api.head = b""

    for each in (event(1), again(event(1)), event(2)):
        await rig.writer.record(each)

    assert rig.api.recorded == ["p0", "p1", "p1", "p2"]


async def test_a_first_event_whose_lease_is_gone_decides_nothing() -> None:
    rig = Rig()

    async def record(event: ObjectEvent) -> None:
        await rig.api.record(event)
        rig.etcd.leases.clear()

    writer = EventWriter(record, ObjectStore(rig.etcd), KEYS, rig.namespace, manager="me")
    for number in range(2):
        await writer.record(event(number))

    assert rig.api.recorded == ["p0", "p1"]


async def test_an_event_whose_name_is_taken_goes_through_the_api() -> None:
    rig = Rig()
    for number in (0, 1, 1):
        await rig.writer.record(event(number))

    assert rig.api.recorded == ["p0", "p1"]


@pytest.mark.parametrize("head", [b"enc:", PREFIX])
async def test_an_event_that_is_stored_otherwise_is_counted_by_the_api_server(head: bytes) -> None:
    rig = Rig()
    for number in range(2):
        await rig.writer.record(event(number))
    key = KEYS.key(EVENTS, "ns", event(1).name)
    value = rig.etcd.stored[key].value
    rig.etcd.put(key, head if head == PREFIX else head + value.removeprefix(PREFIX))

    await rig.writer.record(again(event(1)))

    assert rig.api.recorded == ["p0", "p1"]


def test_a_field_without_a_value_has_no_owner() -> None:
    value = stored_value(msgspec.structs.replace(event(1), message=""), "uid", "me")

    assert b'"f:reason"' in value
    assert b'"f:message"' not in value


def test_without_a_manager_no_field_has_an_owner() -> None:
    assert b"FieldsV1" not in stored_value(event(1), "uid", "")


async def test_events_that_never_expire_have_no_lease() -> None:
    rig = Rig(seconds=0)

    for number in range(3):
        await rig.writer.record(event(number))

    assert (rig.api.recorded, rig.leases()) == (["p0"], [0, 0, 0])


async def test_the_api_server_decides_where_the_namespace_has_changed() -> None:
    rig = Rig()
    for number in range(2):
        await rig.writer.record(event(number))
    rig.etcd.put(NAMESPACE, b"labelled")

    for number in range(2, 4):
        await rig.writer.record(event(number))

    assert rig.api.recorded == ["p0", "p2"]


async def test_the_api_server_decides_where_the_namespace_is_being_deleted() -> None:
    rig = Rig()
    rig.is_going = True

    for number in range(3):
        await rig.writer.record(event(number))

    assert rig.api.recorded == ["p0", "p1", "p2"]


async def test_a_lease_that_a_restore_has_taken_away_is_replaced() -> None:
    rig = Rig()
    for number in range(2):
        await rig.writer.record(event(number))
    rig.etcd.leases = {9000: 1}

    for number in range(2, 4):
        await rig.writer.record(event(number))

    assert rig.api.recorded == ["p0", "p2"]
    assert rig.leases()[3] in rig.etcd.leases


@pytest.mark.parametrize("error", [EtcdGoneError("gone"), EtcdRefusedError("no", code=8)])
async def test_an_etcd_that_does_not_answer_is_the_callers_to_handle(error: RequestError) -> None:
    rig = Rig()
    await rig.writer.record(event(0))
    rig.etcd.refuse = [error]

    with pytest.raises(type(error)):
        await rig.writer.record(event(1))

    assert rig.api.recorded == ["p0"]


async def test_an_event_that_happens_again_keeps_its_name_and_gets_a_count() -> None:
    rig = Rig()
    for number in range(2):
        await rig.writer.record(event(number))
    repeated = msgspec.structs.replace(again(event(1)), field="spec.containers{c}")
    await rig.writer.record(repeated)

    once = msgspec.structs.replace(repeated, field="")
    key = KEYS.key(EVENTS, "ns", repeated.name)
    stored = rig.etcd.stored[key].value
    uid = re.search(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", stored)
    assert uid is not None
    assert len(rig.leases()) == 2
    # All but the time of the fields' manager, which is that of the first one, is as if written anew.
    anew = stored_value(once, uid[0].decode(), "me")
    assert len(stored) == len(anew)
    assert rig.etcd.stored[key].lease


async def test_an_event_that_has_expired_is_written_with_its_count() -> None:
    rig = Rig()
    await rig.writer.record(event(0))
    repeated = msgspec.structs.replace(event(1), first=1_700_000_000.0, count=7)
    await rig.writer.record(repeated)

    assert KEYS.key(EVENTS, "ns", repeated.name) in rig.etcd.stored
