"""Events that are written to etcd are, byte for byte, what the API server makes of the same ones."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

import msgspec
import pytest

from kwokctl.dataplane.api_plane import FIELD_MANAGER
from kwokctl.dataplane.events.event_bytes import stored_value
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.errors import ApiError
from kwokctl.etcd.kv.kv import KeyValue
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.resource import EVENTS, NODES, PODS, Resource
from tests.support import changing
from tests.support.installed import PATIENCE, Installed
from tests.support.planes import KEYS, Reached, reached

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]


@pytest.fixture(scope="module")
def cluster(small_storage: Installed) -> Installed:
    return small_storage


def event(resource: Resource, namespace: str, name: str, **words: str) -> ObjectEvent:
    return ObjectEvent(
        resource=resource,
        about_namespace=namespace,
        about=name,
        uid="0" * 8,
        version="77",
        type=words.get("type", "Normal"),
        reason=words.get("reason", "Sent"),
        message=words.get("message", "as is: «done»"),
        component="kwok_controller",
        at=time.time(),
    )


@dataclass(frozen=True)
class Place:
    """Where an Event is."""

    at: Reached

    async def stored(self, sent: ObjectEvent) -> KeyValue:
        found = await self.at.kv.get(KEYS.key(EVENTS, sent.namespace, sent.name))
        assert found is not None
        return found

    async def read(self, sent: ObjectEvent) -> Json:
        return await self.at.client.get(EVENTS, sent.namespace, sent.name)


def run(cluster: Installed, work: Callable[[Place], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(PATIENCE), reached(cluster) as found:
            await work(Place(found))

    asyncio.run(main())


EVERY = [
    event(PODS, "default", "p"),
    event(PODS, "default", "p" * 200, type="Warning", message="long " * 100),
    event(NODES, "", "n", message=""),
    event(PODS, "kube-system", "p", reason="", type=""),
]


@pytest.mark.parametrize("sent", EVERY, ids=lambda sent: sent.about[:5])
def test_an_event_is_what_the_api_server_stores(cluster: Installed, sent: ObjectEvent) -> None:
    async def work(place: Place) -> None:
        place.at.plane.leave([EVENTS])
        now, made, found = sent, "", {}
        while made != format_time(now.second):  # the API server's second may be the next one
            now = msgspec.structs.replace(sent, at=time.time())
            await place.at.plane.record(now)
            found = await place.read(now)
            made = found["metadata"]["creationTimestamp"]

        assert found["metadata"]["managedFields"][0]["manager"] == FIELD_MANAGER
        ours = stored_value(now, found["metadata"]["uid"], FIELD_MANAGER)
        assert ours == (await place.stored(now)).value

    run(cluster, work)


def test_the_api_server_reads_events_and_shows_them_to_watchers(cluster: Installed) -> None:
    sent = [event(PODS, "default", f"seen-{number}") for number in range(30)]

    async def work(place: Place) -> None:
        async with aclosing(
            watch(place.at.client.pool, EVENTS, decoder=msgspec.json.decode)
        ) as seen:
            await anext(seen)
            for each in sent:
                await place.at.plane.record(each)
            missing = {each.name for each in sent}
            async for batch in seen:
                missing -= {each.object["metadata"]["name"] for each in batch if each.object}
                if not missing:
                    break
        found = [await place.read(each) for each in sent]
        assert [each["involvedObject"] for each in found] == [
            each.document()["involvedObject"] for each in sent
        ]

    run(cluster, work)
    listed = cluster.kubectl("get", "events", "--field-selector", "reason=Sent")
    assert all(f"pod/{each.about}" in listed for each in sent)


def test_events_expire_as_those_of_the_api_server_and_share_leases(cluster: Installed) -> None:
    sent = [event(PODS, "default", f"lasting-{number}") for number in range(1100)]

    async def work(place: Place) -> None:
        for each in sent:
            await place.at.plane.record(each)
        leases = [(await place.stored(each)).lease for each in sent]

        assert [leases.count(each) for each in dict.fromkeys(leases)] == [1, 1000, 99]
        # The last is that of the API server, which gives its own leases a twentieth more.
        assert {await place.at.kv.granted_seconds(each) for each in leases} == {1260}

    run(cluster, work)


def test_no_event_is_written_into_a_namespace_that_is_being_deleted(cluster: Installed) -> None:
    sent = [event(PODS, "going", f"late-{number}") for number in range(3)]

    async def work(place: Place) -> None:
        for each in sent[:2]:
            await place.at.plane.record(each)
        await asyncio.to_thread(cluster.kubectl, "delete", "namespace", "going", "--wait=false")
        with pytest.raises(ApiError, match=r"being terminated|not found"):
            await place.at.plane.record(sent[2])
        assert await place.at.kv.get(KEYS.key(EVENTS, "going", sent[2].name)) is None

    cluster.create(changing.namespace("going"))
    run(cluster, work)
