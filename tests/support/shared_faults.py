"""Fake nodes that several controllers share while faults come and go: how they are made, and what is seen of them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from kwokctl import assets
from kwokctl.errors import ApiError
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.resource import (
    CUSTOM_RESOURCE_DEFINITIONS,
    FAULT_CLASSES,
    FAULT_PAGES,
    FAULT_SCHEDULES,
    FAULTS,
    NODES,
    Resource,
)
from tests.support.controllers import Controllers, shared_node
from tests.support.direct import encoded
from tests.support.fault_classes import shown_at_once
from tests.support.installed import Installed, pause

LEASE = 8
COUNT = 16
PREFIX = "broken"
NAMES = [f"{PREFIX}-{number:05}" for number in range(COUNT)]
TAINT = {"key": "broken", "effect": "NoSchedule"}
CLASS = shown_at_once(
    "all-surfaces",
    conditions=[{"type": "Ready", "status": "False", "reason": "Broken"}],
    labels={"broken": "yes"},
    annotations={"broken": "yes"},
    taints=[TAINT],
)


def controllers_of(storage: Installed, folder: Path) -> Controllers:
    """Return controllers of the cluster, none of which runs yet; their logs go to the folder."""
    kubeconfig = storage.workdir / "clusters" / storage.name / "kubeconfig.yaml"
    return Controllers(kubeconfig, folder, lease_seconds=LEASE)


@asynccontextmanager
async def fleet(client: Client, *kinds: str) -> AsyncIterator[None]:
    """Have nodes, and the kinds of faults and of other files of definitions; nothing is left of them afterwards."""
    files = [yaml.load_all(assets.text(f"crds/{each}.yaml")) for each in ("fault", *kinds)]
    definitions = [each for (file,) in files for each in file["items"]]
    for each in definitions:
        await client.call("POST", CUSTOM_RESOURCE_DEFINITIONS.path(), encoded(each))
    for number in range(COUNT):
        await client.call("POST", NODES.path(), encoded(shared_node(number, PREFIX)))
    await eventually(lambda: served(client))
    await client.call("POST", FAULT_CLASSES.path(), encoded(CLASS))
    try:
        yield
    finally:
        for name in NAMES:
            await client.call("DELETE", NODES.path(None, name))
        for each in definitions:
            name = each["metadata"]["name"]
            await client.call("DELETE", CUSTOM_RESOURCE_DEFINITIONS.path(None, name))
        await eventually(lambda: are_gone(client, definitions))


async def are_gone(client: Client, definitions: Sequence[Json]) -> bool:
    return all([await is_gone(client, each["metadata"]["name"]) for each in definitions])


async def is_gone(client: Client, name: str) -> bool:
    return await client.find(CUSTOM_RESOURCE_DEFINITIONS, None, name) is None


async def served(client: Client, *more: Resource) -> bool:
    try:
        for resource in (FAULTS, FAULT_PAGES, FAULT_SCHEDULES, FAULT_CLASSES, *more):
            await client.call("GET", resource.path())
    except ApiError:
        return False
    return True


async def eventually(holds: Callable[[], object]) -> None:
    """Wait until something holds, and ask less often the longer that takes, as `until` does."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with asyncio.timeout(120):
        while True:
            asked = loop.time()
            found = holds()
            if await found if asyncio.iscoroutine(found) else found:
                return
            await asyncio.sleep(pause(began, asked, loop.time()))


async def inject(
    client: Client,
    name: str,
    found: str,
    nodes: Sequence[str],
    parameters: Mapping[str, Json] | None = None,
    **target: bool,
) -> None:
    fault = {
        "apiVersion": FAULTS.api_version,
        "kind": FAULTS.kind,
        "metadata": {"name": name},
        "spec": {
            "class": found,
            "target": {"nodes": [*nodes], **target},
            "parameters": parameters or {},
            "seed": 7,
        },
    }
    await client.call("POST", FAULTS.path(), encoded(fault))


async def has_landed(client: Client, name: str, units: int) -> bool:
    status = (await client.get(FAULTS, None, name)).get("status") or {}
    return status.get("phase") == "Landed" and status.get("landed") == units


async def nodes_of(client: Client) -> dict[str, Json]:
    """Return what nodes show, without what changes by itself; a node that is gone is left out."""
    found = await listed(client, NODES)
    return {name: shown(found[name]) for name in NAMES if name in found}


def shown(node: Mapping[str, Json]) -> Json:
    conditions = node.get("status", {}).get("conditions", ())
    return {
        "labels": node["metadata"]["labels"],
        "annotations": node["metadata"].get("annotations", {}),
        "taints": [
            {key: value for key, value in each.items() if key != "timeAdded"}
            for each in node["spec"].get("taints", ())
        ],
        "conditions": {each["type"]: (each["status"], each["reason"]) for each in conditions},
    }


async def are_ready(client: Client) -> bool:
    found = await nodes_of(client)
    ready = [each["conditions"].get("Ready", ("",))[0] == "True" for each in found.values()]
    return len(ready) == COUNT and all(ready)


async def are_as(client: Client, wanted: Mapping[str, Json]) -> None:
    """Wait until nodes are as they were."""
    found: Mapping[str, Json] = {}

    async def is_as_wanted() -> bool:
        nonlocal found
        found = await nodes_of(client)
        return found == wanted

    try:
        await eventually(is_as_wanted)
    except TimeoutError:
        for name in NAMES:
            assert found.get(name) == wanted[name], (
                f"{name} is {found.get(name)}, and was {wanted[name]}"
            )


async def listed(client: Client, resource: Resource) -> dict[str, Json]:
    found = msgspec.json.decode(await client.call("GET", resource.path()))["items"]
    return {each["metadata"]["name"]: each for each in found}
