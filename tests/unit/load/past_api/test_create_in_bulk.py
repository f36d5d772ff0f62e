"""Arrivals past the API server: which go through it nevertheless, and what is said of that."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kwokctl.dataplane.port import NewObjects, WriteCopy
from kwokctl.draws.streams import DrawStream
from kwokctl.errors import ApiError, CannotStampError, ConfigError
from kwokctl.load.acts.act import ActContext
from kwokctl.load.acts.create_in_bulk import BulkCreateAct
from kwokctl.load.client.sender import Flight, LoadSender
from kwokctl.load.past_api.way import DirectWay
from kwokctl.load.sending.plan import ArrivalPlan
from tests.support.load_rig import MemoryCluster, load_of

_POD = """
apiVersion: v1
kind: Pod
metadata: {annotations: {drawn: "{{ .params.n }}"}}
spec: {containers: [{name: a, image: IMAGE}]}
"""
_PARAMS = {"n": {"integer": {"from": 1, "to": 10**9}}}


class Way:
    """Writes copies into a list, and is its own kind, session and guard."""

    def __init__(self, *, cannot: str = "") -> None:
        self.copies: list[dict[str, Any]] = []
        self.cannot, self.why, self.is_left = cannot, "", False
        self.checked: list[int] = []
        self.samples: list[int] = []

    async def kind(self, *_: object, **__: object) -> Any:
        admission = SimpleNamespace(why=None, namespace_version=7)
        self.admission = admission
        return SimpleNamespace(session=self, admission=admission, managed_fields=False)

    async def check(self, new: NewObjects) -> None:
        self.checked = [*new.serials]
        assert new.namespace == "default"
        assert new.namespace_version() == 7

    async def copies_of(self, new: NewObjects, samples: Mapping[int, bytes]) -> WriteCopy:
        self.samples = list(samples)
        if self.cannot:
            raise CannotStampError(self.cannot)
        varying = new.varying({})

        async def write(serial: int) -> str | None:
            if self.is_left:
                return None
            body = new.body(serial)
            assert [read(serial) for read in varying.values()] == [
                body["metadata"]["annotations"]["drawn"]
            ]
            self.copies.append(body)
            return f"copy-{serial}"

        return write


class Rig:
    """A load of 40 arrivals, sent one after the other."""

    def __init__(self, way: Way, template: str, **more: Any) -> None:
        load = load_of(
            {"every": "1s"}, count=40, bulk=True, params=_PARAMS,
            create=[{"template": template}], **more,
        )  # fmt: skip
        self.way, self.cluster = way, MemoryCluster()
        self.sender = LoadSender(self.cluster, load.spec)
        stream = DrawStream.of(0, load.name)
        self.plan = ArrivalPlan(load, "run", stream)
        context = ActContext(load, "run", self.sender, stream)
        self.act = BulkCreateAct(context, cast(DirectWay, way))

    async def send(self, index: int) -> Flight:
        flight = Flight(self.sender)
        await self.act.prepared(self.plan.data(index))(flight)
        return flight


def rig(template: str = _POD, **more: Any) -> Rig:
    return Rig(Way(**more), template)


async def test_the_first_two_go_through_the_api_server_and_the_others_are_copies() -> None:
    at = rig()
    await at.act.open(at.plan)
    assert (at.way.checked[:2], at.way.checked[-1]) == ([0, 1], 39)
    flights = [await at.send(index) for index in range(5)]
    assert [each.past_api for each in flights] == [0, 0, 1, 1, 1]
    assert at.way.samples == [0, 1]
    assert [each["metadata"]["name"] for each in at.cluster.bodies] == ["web-0", "web-1"]
    assert [each["metadata"]["name"] for each in at.way.copies] == ["web-2", "web-3", "web-4"]
    assert [each.made[0].uid for each in flights] == [
        "uid-0",
        "uid-1",
        "copy-2",
        "copy-3",
        "copy-4",
    ]
    assert all(each.sent is not None for each in flights)
    assert not at.act.why


async def test_what_differs_from_the_start_is_refused_with_its_field() -> None:
    at = rig(_POD.replace("IMAGE", "'x{{ .index }}'"))
    with pytest.raises(
        ConfigError, match=r"'spec.bulk' cannot write pods to etcd: 'spec.containers\[0\].image'"
    ):
        await at.act.open(at.plan)
    assert not at.cluster.sent


async def test_objects_need_names() -> None:
    at = rig("apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n")
    with pytest.raises(
        ConfigError, match=r"'spec.bulk' needs the names of objects: a Pod has none"
    ):
        await at.act.open(at.plan)


async def test_what_differs_later_goes_through_the_api_server_and_is_said() -> None:
    at = rig(_POD.replace("IMAGE", "'{{ if eq .index 30 }}y{{ else }}x{{ end }}'"))
    await at.act.open(at.plan)
    flights = [await at.send(index) for index in (0, 1, 30, 31)]
    assert [each.past_api for each in flights] == [0, 0, 0, 1]
    assert "'spec.containers[0].image' of a Pod differs" in at.act.why


async def test_what_the_guard_leaves_to_the_api_server_goes_there_and_is_said() -> None:
    at = rig()
    await at.act.open(at.plan)
    for index in range(3):
        await at.send(index)
    at.way.is_left, at.way.admission.why = True, "the namespace 'default' has a ResourceQuota"
    assert (await at.send(3)).past_api == 0
    assert len(at.cluster.bodies) == 3
    assert at.act.why == "the namespace 'default' has a ResourceQuota"


async def test_objects_that_cannot_be_copied_go_through_the_api_server_without_more_tries() -> None:
    at = rig(cannot="values in etcd are encrypted")
    await at.act.open(at.plan)
    flights = [await at.send(index) for index in range(4)]
    assert [each.past_api for each in flights] == [0, 0, 0, 0]
    assert at.way.samples == [0, 1]
    assert at.act.why == "values in etcd are encrypted"


async def test_an_arrival_that_is_refused_shows_nothing_and_the_next_one_does() -> None:
    at = rig()
    await at.act.open(at.plan)
    at.cluster.refuse = lambda _, number: (
        ApiError("exists", status=409, reason="AlreadyExists") if number == 0 else None
    )
    with pytest.raises(ApiError):
        await at.send(0)
    assert [(await at.send(index)).past_api for index in (1, 2, 3)] == [0, 0, 1]
    assert at.way.samples == [1, 2]
