"""Shows that a controller of another make plays nodes: one of its own becomes Ready, and is deleted."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress

import orjson

from kwokctl.clusters.launching.readiness import log_tail, wait_ready
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.kept_documents import controller_options
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.components.stage_sets import shipped_sets
from kwokctl.config.document_kinds import STAGE
from kwokctl.embedded.selection import select
from kwokctl.errors import ApiError, ComponentError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import NODES
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KWOK_CONTROLLER
from kwokctl.replacing import replace
from kwokctl.retry import retried
from kwokctl.runtime import Runtime
from kwokctl.waits import after, bounded

_NAME = "kwokctl-probe"
_ANNOTATIONS = {"kwok.x-k8s.io/node": "fake"}
_NODE = {
    "apiVersion": NODES.api_version,
    "kind": NODES.kind,
    "metadata": {"name": _NAME, "annotations": _ANNOTATIONS},
    "spec": {
        "unschedulable": True,
        "taints": [{"key": "kwokctl.dev/probe", "effect": "NoSchedule"}],
    },
}
_POLL, _POLL_SHARE = 0.05, 0.05
"""Seconds between two looks at least, and as a share of the time that was waited."""


async def demand_ready_node(home: Home, runtime: Runtime, saved: Saved, wait: float | None) -> None:
    """Wait until a controller given by the user has made a node Ready; 0 waits as long as it takes.

    It may answer its probe and still play nothing. Nothing is done without a wait, for the
    embedded controller, and where no node is sure to become Ready. Raises ComponentError with the
    end of the controller's log.
    """
    if probe_node(saved, wait) is None:
        return
    with home.progress.step(f"Waiting until {KWOK_CONTROLLER} makes a node Ready"):
        async with Pool(load_access(home.paths(saved.name).own_kubeconfig)) as pool:
            client = Client(pool)
            try:
                async with bounded(wait):
                    await _create(client)
                    await _ready(home, runtime, saved, client)
            except TimeoutError as e:
                raise ComponentError(
                    f"'{KWOK_CONTROLLER}' runs, but has not made a node Ready {after(wait or 0.0)}",
                    hint=f"its whole log: kwokctl --name {saved.name} logs {KWOK_CONTROLLER}",
                    detail=await log_tail(runtime, saved.name, KWOK_CONTROLLER) or None,
                ) from e
            finally:
                await _delete(client)


def probe_node(saved: Saved, wait: float | None) -> Mapping[str, Json] | None:
    """Return the node that is made for that; None if nothing is done."""
    return None if wait is None or not _is_sure(saved) else _NODE


def _is_sure(saved: Saved) -> bool:
    """Return whether the controller is the user's, selects the node, and has default Stages for it."""
    own = saved.options.of(KwokControllerOptions)
    if KWOK_CONTROLLER not in saved.names or not own.binary or STAGE in own.enable_crds:
        return False
    shipped = {stage for each in shipped_sets().values() for stage in each.stages}
    return _selects(controller_options(saved.kept)) and all(
        _is_shipped(stage, shipped) for stage in saved.stages if _is_for_nodes(stage)
    )


def _selects(given: Mapping[str, Json]) -> bool:
    single = given.get("manageSingleNode") or ""
    annotations = given.get("manageNodesWithAnnotationSelector") or ""
    labels = given.get("manageNodesWithLabelSelector") or ""
    if not (single or annotations or labels):
        return True
    selection = select(single_node=single, annotation_selector=annotations, label_selector=labels)
    return selection.selects(_NAME, _ANNOTATIONS, {})


def _is_for_nodes(stage: Mapping[str, Json]) -> bool:
    return bool(((stage.get("spec") or {}).get("resourceRef") or {}).get("kind") == NODES.kind)


def _is_shipped(stage: Mapping[str, Json], shipped: set[str]) -> bool:
    return stage["metadata"]["name"] in shipped


async def _create(client: Client) -> None:
    async def once() -> None:
        try:
            await client.create(NODES, None, orjson.dumps(_NODE))
        except ApiError as e:
            if e.reason != "AlreadyExists":  # left by a command that was killed
                raise

    await retried(once)


async def _ready(home: Home, runtime: Runtime, saved: Saved, client: Client) -> None:
    """Return when the node is Ready; raise ComponentError as soon as the controller has died."""
    plan = saved.plan(runtime, home.paths(saved.name))
    alive = replace(plan.components[KWOK_CONTROLLER], ready=())
    began = time.monotonic()
    while not _is_ready(await client.get(NODES, None, _NAME)):
        await wait_ready(runtime, saved.name, [alive])
        await asyncio.sleep(max(_POLL, _POLL_SHARE * (time.monotonic() - began)))


def _is_ready(node: Json) -> bool:
    conditions = node.get("status", {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


async def _delete(client: Client) -> None:
    with suppress(ApiError):
        await client.call("DELETE", NODES.path(None, _NAME))
