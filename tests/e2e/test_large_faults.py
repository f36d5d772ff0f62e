"""A fault of 20,000 units in a real API server: how large its objects are, and that all units are read back."""

import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import msgspec
import pytest

from kwokctl import assets
from kwokctl.clusters.faults.stored_faults import decode_fault, rows_of
from kwokctl.controller.faults.fault_objects import FaultObjects, page_name
from kwokctl.controller.faults.injecting import Injecting
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.expr import yaml
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.objects.fault_status import reported
from kwokctl.faults.objects.row_pages import paged
from kwokctl.faults.objects.unit_rows import row_text
from kwokctl.kube.client import Client
from kwokctl.kube.resource import (
    CUSTOM_RESOURCE_DEFINITIONS,
    FAULT_PAGES,
    FAULTS,
    NODES,
    Resource,
)
from kwokctl.replacing import replace
from tests.support.direct import ask, encoded
from tests.support.installed import Installed
from tests.support.shared_faults import eventually, is_gone, served

pytestmark = [pytest.mark.e2e, pytest.mark.components, pytest.mark.timeout(300, func_only=True)]

UNITS = 20_000
KIB = 1024


class ManyNodes:
    """Reads nodes that no API server has: storing 20,000 of them would be most of the test."""

    async def pages(self, resource: Resource) -> AsyncIterator[Sequence[bytes]]:
        assert resource is NODES
        yield [
            msgspec.json.encode(
                {
                    "metadata": {"name": f"large-{number:06}", "uid": f"{number:08}-89ab-cdef-0123-456789abcdef"},
                    "spec": {},
                    "status": {"capacity": {"nvidia.com/gpu": "8"}},
                }
            )
            for number in range(UNITS)
        ]  # fmt: skip

    def __len__(self) -> int:
        return UNITS

    def get(self, name: str) -> None:
        """No controller plays any of them."""


def injecting(client: Client) -> Injecting:
    many = ManyNodes()
    return Injecting(
        FaultObjects(client),
        cast("ObjectReader", many),
        cast("NodeRegistry", many),
        OpenFaults(FaultClock(time.time)),
        time.time,
    )


async def remove(client: Client, name: str) -> None:
    """Remove a kind with all that there is of it."""
    await client.call("DELETE", CUSTOM_RESOURCE_DEFINITIONS.path(None, name))
    await eventually(lambda: is_gone(client, name))


async def stored(client: Client) -> StoredFault:
    return decode_fault.decode(await client.call("GET", FAULTS.path(None, "large")))


async def size(client: Client, resource: Resource, name: str) -> int:
    return len(await client.call("GET", resource.path(None, name)))


def test_no_object_of_a_large_fault_is_large_and_all_units_are_read_back(
    storage: Installed,
) -> None:
    (definitions,) = yaml.load_all(assets.text("crds/fault.yaml"))

    async def story(client: Client) -> None:
        for each in definitions["items"]:
            await client.call("POST", CUSTOM_RESOURCE_DEFINITIONS.path(), encoded(each))
        await eventually(lambda: served(client))
        try:
            await client.call("POST", FAULTS.path(), encoded(fault()))
            await injecting(client).inject(await stored(client))
            await read_back(client)
        finally:
            for each in definitions["items"]:
                await remove(client, each["metadata"]["name"])

    ask(storage, story)


def fault() -> dict[str, Any]:
    return {
        "apiVersion": FAULTS.api_version,
        "kind": FAULTS.kind,
        "metadata": {"name": "large"},
        "spec": {
            "class": "xid-79",
            "target": {"percent": 100, "foreign": True},
            "parameters": {"gpu": 3},
            "dialects": ["npd"],
            "seed": 7,
        },
    }


async def listed(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = msgspec.json.decode(await client.call("GET", FAULT_PAGES.path()))[
        "items"
    ]
    return found


async def read_back(client: Client) -> None:
    found = await stored(client)
    assert (found.status.phase, found.status.units) == ("Injecting", UNITS)
    rows = (await rows_of(client, [found]))[found.metadata.uid]
    # They are in the order in which they were drawn: all of 100 %.
    nodes = [row.unit.node for row in rows]
    assert sorted(nodes) == [f"large-{number:06}" for number in range(UNITS)]
    assert {row.unit.gpu for row in rows} == {3}

    # The same when all have ended in some way, which makes rows longer.
    objects = FaultObjects(client)
    pages = paged(rows)
    for number, some in pages.items():
        pages[number] = [replace(row, landed=98765.432, problem="NodeGone") for row in some]
        page = await client.find(FAULT_PAGES, None, page_name(found.metadata, number))
        version = page["metadata"]["resourceVersion"] if page else ""
        await objects.put_page(found, number, [row_text(row) for row in pages[number]], version)
    status = reported(found.status, pages, at="2026-01-01T12:00:00Z", left=None)
    await objects.put_status(found, status)
    assert await size(client, FAULTS, "large") < 8 * KIB
    names = [each["metadata"]["name"] for each in await listed(client)]
    assert max([await size(client, FAULT_PAGES, name) for name in names]) < 64 * KIB
    again = (await rows_of(client, [await stored(client)]))[found.metadata.uid]
    assert [row.unit for row in again] == [row.unit for row in rows]
    assert {row.landed for row in again} == {98765.432}
