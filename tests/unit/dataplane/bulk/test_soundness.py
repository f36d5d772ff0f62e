"""Copies are looked at by themselves where a template derives what their statuses say."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from kwokctl.dataplane.bulk.choose_maker import soundness
from kwokctl.dataplane.copies.json_stamp import Copy, Stamp
from kwokctl.dataplane.copies.variable_fields import Path, Role, Slot, ValueSource
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODES, SERVICES, Resource

NODE: Json = {
    "metadata": {"name": "n"},
    "status": {
        "capacity": {"cpu": "1", "example.com/a": "8"},
        "allocatable": {"cpu": "1", "example.com/a": "8"},
        "addresses": [{"type": "Hostname", "address": "a"}, {"type": "Hostname", "address": "b"}],
        "phase": "Running",
    },
}
DEVICE: Path = ("status", "capacity", "example.com/a")
FIRST: Path = ("status", "addresses", 0, "address")


def _given(value: Json, _serial: int) -> Json:
    return value


def sound(values: Mapping[Path, Json], resource: Resource = NODES, **other: Role) -> bool:
    """Return whether a copy with other values than the real node is taken."""
    role = other.get("role", Role.SERIAL)
    slots = [
        Slot(path, ValueSource(role, of_serial=partial(_given, value)), "as it was")
        for path, value in values.items()
    ]
    is_sound = soundness(resource, NODE, Stamp(slots))
    return is_sound(Copy(serial=7, name="n7", uid="u", created="2026-01-01T00:00:00Z"))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, True),
        ({DEVICE: "9"}, True),
        ({DEVICE: "0.5"}, False),
        ({DEVICE: "1O"}, False),
        ({FIRST: "c"}, True),
        ({FIRST: "b"}, False),
        ({FIRST: 1}, False),
        ({("status", "phase"): "Odd", DEVICE: "1"}, True),
        ({("status", "phase"): 1}, False),
        ({("status", "nodeInfo", "bootID"): "any text"}, True),
        ({("status", "nodeInfo", "bootID"): 1}, False),
        ({("metadata", "labels", "a"): "two words"}, True),
    ],
)
def test_values_that_differ_in_a_status_are_looked_at(
    values: Mapping[Path, Json], expected: bool
) -> None:
    assert sound(values) is expected


def test_other_values_are_certain() -> None:
    assert sound({DEVICE: "0.5"}, role=Role.NAME)
    assert sound({DEVICE: "0.5"}, SERVICES)


def test_what_was_taken_of_the_real_object_is_not_looked_at_again() -> None:
    node: Any = {**NODE, "status": {**NODE["status"], "volumesInUse": "not looked at"}}
    source = ValueSource(Role.SERIAL, of_serial=lambda _: "9")

    is_sound = soundness(NODES, node, Stamp([Slot(DEVICE, source, "8")]))

    assert is_sound(Copy(serial=7, name="n7", uid="u", created="2026-01-01T00:00:00Z"))
