"""Asks for the repair of a node, and waits until it is over."""

from contextlib import aclosing

import msgspec

from kwokctl.clusters.faults.object_versions import object_versions
from kwokctl.clusters.faults.reaching import FaultCluster, demand_player, fault_cluster
from kwokctl.clusters.launching.custom_resources import install, repair_definitions
from kwokctl.clusters.objects.apply import apply_one
from kwokctl.clusters.repairs.stored_repairs import (
    RepairReport,
    decode_repair,
    repair_report,
    stored_policy_names,
)
from kwokctl.clusters.state.home import Home
from kwokctl.config.config_documents import Document
from kwokctl.config.nearest import did_you_mean
from kwokctl.controller.repairs.repair_objects import given_fields, label_of
from kwokctl.errors import ApiError, ConfigError, NotFoundError, TimedOutError
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.repairs.policy_reader import read_policy
from kwokctl.faults.repairs.repair_actions import Action
from kwokctl.faults.repairs.repair_schema import NODE_LABEL, RepairCause, RepairSpec, StoredRepair
from kwokctl.kube.collections.paging import METADATA, ListQuery, list_from_cache
from kwokctl.kube.resource import NODES, REPAIRS
from kwokctl.model import ClusterName
from kwokctl.waits import after, bounded

_NOT_THERE = 404
_BY = "kwokctl"


class RepairRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The repair that a user asks for."""

    node: str
    action: Action
    policy: str = ""
    takes: str = ""
    wait: float | None = None
    """Seconds until it must be over; None to return at once."""


async def repair(home: Home, name: ClusterName, request: RepairRequest) -> RepairReport:
    """Make a Repair, and wait for its end if that is wanted.

    Raises NotFoundError, with the nearest name, for a node or a policy that does not exist, ConfigError if the controller refuses it, and
    TimedOutError if it is not over in time; then the Repair stays.
    """
    async with fault_cluster(home, name) as cluster:
        demand_player(cluster)
        await _demand_node(cluster, request.node)
        await serve(cluster)
        if request.policy:
            _demand(request.policy, await stored_policy_names(cluster.client), "RepairPolicy")
        made = await _create(cluster, request)
        if request.wait is not None:
            made = await _ended(cluster, made, request.wait)
    return repair_report(made)


async def apply_policy(home: Home, name: ClusterName, document: Document) -> str:
    """Give a cluster a RepairPolicy, in place of the one that has its name; return the name.

    Raises ConfigError, with the field, for one that makes no sense.
    """
    async with fault_cluster(home, name) as cluster:
        demand_player(cluster)
        found = read_policy(document, FaultCatalogue().names)
        await serve(cluster)
        await apply_one(cluster.client, document.body)
    return found.name


async def serve(cluster: FaultCluster) -> None:
    """Let the cluster serve Repairs, if it does not yet."""
    try:
        await cluster.client.call("GET", f"{REPAIRS.path()}?limit=1")
    except ApiError as e:
        if e.status != _NOT_THERE:
            raise
        await install(repair_definitions(), cluster.client, cluster.home.progress)


class _Metadata(msgspec.Struct):
    name: str


class _Named(msgspec.Struct):
    metadata: _Metadata


_named = msgspec.json.Decoder(_Named).decode


async def _demand_node(cluster: FaultCluster, node: str) -> None:
    if await cluster.client.find(NODES, None, node) is not None:
        return
    pages = list_from_cache(cluster.client.pool, ListQuery(resource=NODES), accept=METADATA)
    known = [_named(raw).metadata.name async for page in pages for raw in page.objects]
    _demand(node, known, "node")


def _demand(name: str, known: list[str], what: str) -> None:
    """Raise NotFoundError, with the nearest name, for a name that is not known."""
    if name in known:
        return
    some = f"there are: {', '.join(known[:5])}" if known else "there are none"
    raise NotFoundError(f"there is no {what} '{name}'", hint=did_you_mean(name, known) or some)


async def _create(cluster: FaultCluster, request: RepairRequest) -> StoredRepair:
    spec = RepairSpec(
        node=request.node,
        action=request.action,
        policy=request.policy,
        takes=request.takes,
        cause=RepairCause(trigger="by-hand", by=_BY),
    )
    body = {
        "apiVersion": REPAIRS.api_version,
        "kind": REPAIRS.kind,
        "metadata": {
            "generateName": f"{request.node[:200]}-",
            "labels": {NODE_LABEL: label_of(request.node)},
        },
        "spec": given_fields(spec),
    }
    stored = await cluster.client.create(REPAIRS, None, msgspec.json.encode(body))
    return decode_repair.decode(stored)


async def _ended(cluster: FaultCluster, made: StoredRepair, seconds: float) -> StoredRepair:
    """Return the Repair once it is over; errors as `repair`."""
    seen, name = [made], made.name
    following = object_versions(cluster.client, REPAIRS, made, decode_repair.decode)
    try:
        with cluster.home.progress.step(f"Waiting until the repair '{name}' is over"):
            async with bounded(seconds) as moved, aclosing(following) as versions:
                async for found in versions:
                    seen.append(found)
                    moved()
                    if found.is_over:
                        break
    except TimeoutError:
        phase = seen[-1].status.phase or "not accepted"
        look = f"it stays; look at it with: kwokctl --name {cluster.saved.name} repair status"
        raise TimedOutError(f"{after(seconds)} the repair '{name}' is {phase}", hint=look) from None
    _demand_done(seen[-1], cluster)
    return seen[-1]


def _demand_done(repair: StoredRepair, cluster: FaultCluster) -> None:
    if repair.status.phase == "Refused":
        look = f"look at it with: kwokctl --name {cluster.saved.name} repair status"
        raise ConfigError(
            f"the repair '{repair.name}' is refused: {repair.status.message}", hint=look
        )
