"""When a copy is written as it was created, as all are played, or as it is played by itself."""

from typing import Any

import orjson
import pytest

from kwokctl.dataplane.bulk.copy_makers import (
    AllPlayed,
    AsCreated,
    EachPlayed,
    PlaceNeeds,
    UncertainCopyError,
)
from kwokctl.dataplane.copies.json_stamp import Copy
from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.errors import ExpressionError
from kwokctl.kube.resource import PODS

COPY = Copy(
    serial=5, name="p", uid="u", created="2026-01-01T00:00:07Z", pod_ips=("10.0.0.1",), node="n"
)
CREATED = AsCreated(
    lambda copy: b'{"metadata":{"name":"p"},"status":{}}', lambda copy: b"as created"
)
PLAYED = AsCreated(lambda copy: b'{"metadata":{"name":"p"}}', lambda copy: b"as all are played")


class Kubelet:
    """Gives pods a status."""

    def __init__(self, **status: Any) -> None:
        self.is_current = True
        self.needs_addresses = True
        self.status = status
        self.values: list[OwnValues] = []

    def play(self, body: Any, own: OwnValues) -> Any:
        self.values.append(own)
        return {**body, "status": self.status} if self.status else body

    def pattern(self, body: Any, own: OwnValues) -> Any:
        raise ExpressionError("each is played by itself")


def each(kubelet: Kubelet) -> EachPlayed:
    return EachPlayed(PODS, kubelet, CREATED, PlaceNeeds.ADDRESSES)


def test_each_copy_is_played_with_what_is_its_own() -> None:
    kubelet = Kubelet(phase="Running")

    made = each(kubelet).make(COPY)

    assert orjson.loads(made) == {"metadata": {"name": "p"}, "status": {"phase": "Running"}}
    assert kubelet.values == [
        OwnValues(now="2026-01-01T00:00:07.000000000Z", pod_ips=("10.0.0.1",))
    ]
    assert each(kubelet).shown(COPY) is None


@pytest.mark.parametrize(
    ("status", "is_held", "is_current"),
    [
        ({}, True, True),
        ({"phase": 5}, True, True),
        ({"podIP": "no address"}, True, True),
        ({"conditions": [{"type": "two words"}]}, True, True),
        ({"unknown": "field"}, True, True),
        ({"phase": "Running"}, False, True),
        ({"phase": "Running"}, True, False),
    ],
)
def test_what_cannot_be_played_for_sure_is_written_as_it_was_created(
    status: dict[str, Any], is_held: bool, is_current: bool
) -> None:
    kubelet = Kubelet(**status)
    kubelet.is_current = is_current
    copy = Copy(serial=5, name="p", uid="u", created="2026-01-01T00:00:07Z", is_held=is_held)

    assert each(kubelet).make(copy) == b"as created"


def test_copies_that_are_alike_are_written_as_all_are_played() -> None:
    kubelet = Kubelet(phase="Running")
    maker = AllPlayed(kubelet, PLAYED, each(kubelet), is_alike=lambda copy: copy.serial == 5)
    other = Copy(serial=6, name="p", uid="u", created=COPY.created)

    assert maker.make(COPY) == b"as all are played"
    assert maker.shown(COPY) == {"metadata": {"name": "p"}}
    assert orjson.loads(maker.make(other))["status"] == {"phase": "Running"}
    assert maker.needs is PlaceNeeds.ADDRESSES

    kubelet.is_current = False
    assert maker.make(COPY) == b"as created"


def test_a_copy_that_might_be_refused_is_not_made() -> None:
    kubelet = Kubelet(phase="Running")
    created = AsCreated(CREATED.in_json, CREATED.as_stored, lambda copy: copy.serial != 5)
    played = EachPlayed(PODS, kubelet, created, PlaceNeeds.ADDRESSES)
    other = Copy(serial=6, name="p", uid="u", created=COPY.created)

    for maker in (created, played, AllPlayed(kubelet, created, played, is_alike=lambda _: True)):
        with pytest.raises(UncertainCopyError, match="'p' might be refused"):
            maker.make(COPY)
        assert maker.make(other)
