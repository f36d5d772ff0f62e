"""Faults, schedules and Repairs that are deleted while a command follows them, also where its watch misses that."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.faults.fault_states import FaultReport, fault_changes
from kwokctl.clusters.faults.object_versions import object_versions
from kwokctl.clusters.faults.stored_faults import decode_fault
from kwokctl.clusters.faults.stored_schedules import decode_schedule
from kwokctl.clusters.repairs.stored_repairs import decode_repair
from kwokctl.clusters.state.home import cluster_name
from kwokctl.errors import NotFoundError
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import FAULT_SCHEDULES, FAULTS, REPAIRS, Resource
from kwokctl.kube.transport.pool import Pool
from tests.support.changing_kind import ChangingKind, Object, named
from tests.support.fake_api_server import serving
from tests.support.served_home import served_home

NAME = cluster_name("kwok")
KINDS = [
    (FAULTS, decode_fault.decode, {"class": "xid-79", "target": {"nodes": ["n"]}}),
    (FAULT_SCHEDULES, decode_schedule, {"horizon": "1h"}),
    (REPAIRS, decode_repair.decode, {"node": "n", "action": "reboot"}),
]


def fault(name: str, *, uid: str = "", phase: str = "Pending") -> Object:
    spec = {"class": "xid-79", "target": {"nodes": ["n"]}}
    return named(name, uid=uid, spec=spec, status={"phase": phase})


@asynccontextmanager
async def serving_kind(*objects: Object) -> AsyncIterator[tuple[ChangingKind, Client]]:
    kind = ChangingKind([*objects])
    async with serving(kind) as server, Pool(Access(server=server.url)) as pool:
        yield kind, Client(pool)


@pytest.mark.parametrize(("resource", "decode", "spec"), KINDS)
async def test_a_deletion_that_the_watch_has_missed_is_reported(
    resource: Resource, decode: Callable[[Any], Any], spec: Object
) -> None:
    stored = named("a", spec=spec)
    async with (
        asyncio.timeout(20),
        serving_kind(stored) as (kind, client),
        aclosing(object_versions(client, resource, decode(json.dumps(stored)), decode)) as versions,
    ):
        assert (await anext(versions)).metadata.name == "a"
        await kind.become()
        with pytest.raises(NotFoundError, match="'a' was deleted meanwhile"):
            await anext(versions)


@pytest.mark.parametrize("there", [[], [fault("a", uid="of another")]])
async def test_an_object_that_is_gone_before_it_is_looked_for_is_not_waited_for(
    there: list[Object],
) -> None:
    made = decode_fault.decode(json.dumps(fault("a")))
    async with (
        asyncio.timeout(20),
        serving_kind(*there) as (_, client),
        aclosing(object_versions(client, FAULTS, made, decode_fault.decode)) as versions,
    ):
        with pytest.raises(NotFoundError, match="the Fault 'a' was deleted meanwhile"):
            await anext(versions)


@asynccontextmanager
async def changes_of(
    folder: Path, *faults: Object
) -> AsyncIterator[tuple[ChangingKind, AsyncIterator[list[FaultReport]]]]:
    """Serve the Faults of a cluster, and yield them with their changes."""
    kind = ChangingKind([*faults])
    async with (
        asyncio.timeout(20),
        served_home(folder, NAME, kind) as home,
        aclosing(fault_changes(home, NAME)) as changes,
    ):
        yield kind, changes


def words(reports: list[FaultReport]) -> list[str]:
    return [f"{each.name} {each.uid} {each.class_name} {each.phase}" for each in reports]


async def test_of_a_fault_whose_deletion_was_missed_the_last_state_is_reported(
    tmp_path: Path,
) -> None:
    async with changes_of(tmp_path, fault("a", phase="Landed"), fault("b")) as (kind, changes):
        assert len(await anext(changes)) == 2
        await kind.become(fault("b"))
        assert words(await anext(changes)) == ["b uid-b xid-79 Pending"]
        assert words(await anext(changes)) == ["a uid-a xid-79 Deleted"]


async def test_a_fault_that_takes_the_place_of_another_does_not_hide_its_end(
    tmp_path: Path,
) -> None:
    async with changes_of(tmp_path, fault("a", uid="1")) as (kind, changes):
        await anext(changes)
        await kind.become(fault("a", uid="2"))
        assert words(await anext(changes)) == ["a 1 xid-79 Deleted", "a 2 xid-79 Pending"]
