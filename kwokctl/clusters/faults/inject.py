"""Injects a fault: makes the object, and waits until it shows."""

from collections.abc import Sequence
from contextlib import aclosing

import msgspec

from kwokctl.clusters.faults.inject_request import (
    InjectRequest,
    checked_spec,
    used_documents,
)
from kwokctl.clusters.faults.object_versions import object_versions
from kwokctl.clusters.faults.reaching import (
    FaultCluster,
    demand_api_proxy,
    demand_player,
    fault_cluster,
)
from kwokctl.clusters.faults.stored_faults import decode_fault
from kwokctl.clusters.launching.custom_resources import fault_definitions, install
from kwokctl.clusters.objects.apply import apply_all
from kwokctl.clusters.state.home import Home
from kwokctl.config.config_documents import Document
from kwokctl.config.nearest import did_you_mean
from kwokctl.controller.faults.fault_objects import FaultObjects
from kwokctl.errors import (
    ApiError,
    ConfigError,
    ConflictError,
    KwokctlError,
    NotFoundError,
    TimedOutError,
)
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.fault_checks import notices
from kwokctl.faults.objects.fault_bodies import fault_body
from kwokctl.faults.objects.fault_schema import FaultSpec, StoredFault
from kwokctl.json_value import Json
from kwokctl.kube.collections.paging import METADATA, ListQuery, list_from_cache
from kwokctl.kube.resource import FAULTS, NODES, Resource
from kwokctl.model import ClusterName
from kwokctl.waits import after, bounded

_NOT_THERE, _EXISTS = 404, 409
_FEW = 20
"""The most names of nodes that are looked up before the Fault is made."""
_SETTLED = frozenset({"Landed", "Refused", "Cleared"})


class Injected(msgspec.Struct, frozen=True, kw_only=True):
    """A Fault that was made, as it is by now."""

    name: str
    uid: str
    class_name: str
    seed: int
    phase: str
    units: int
    landed: int
    failed: int
    foreign: int


async def inject(
    home: Home, name: ClusterName, request: InjectRequest, documents: Sequence[Document]
) -> Injected:
    """Make a Fault, and wait for it if that is wanted.

    Raises UsageError and ConfigError for one that makes no sense, also if only the controller sees that, ConflictError if its name is
    taken, NotFoundError if it hits nothing, and TimedOutError if it does not show on all units in time. In the last two cases the Fault stays.
    """
    async with fault_cluster(home, name) as cluster:
        demand_player(cluster)
        catalogue = await catalogue_of(cluster, documents)
        spec = checked_spec(request, catalogue)
        if spec.target.api:
            demand_api_proxy(cluster)
        for notice in notices(spec, catalogue):
            home.progress.warn(notice)
        await _demand_nodes(cluster, spec)
        await serve(cluster, FAULTS)
        used = used_documents(spec, catalogue, documents)
        await apply_all(cluster.client, [each.body for each in used])
        made = await _create(cluster, fault_body(spec, request.name))
        if request.wait is not None:
            made = await _landed(cluster, made, request.wait)
    return _injected(made)


async def catalogue_of(cluster: FaultCluster, documents: Sequence[Document]) -> FaultCatalogue:
    """Return the classes and dialects: the user's, those of the cluster, then the built-in ones."""
    # Of one name the last counts.
    return FaultCatalogue([*await FaultObjects(cluster.client).documents(), *documents])


async def serve(cluster: FaultCluster, resource: Resource) -> None:
    """Let the cluster serve a kind about faults, if it does not yet, and with it all of these kinds."""
    try:
        await cluster.client.call("GET", f"{resource.path()}?limit=1")
    except ApiError as e:
        if e.status != _NOT_THERE:
            raise
        await install(fault_definitions(), cluster.client, cluster.home.progress)


async def _demand_nodes(cluster: FaultCluster, spec: FaultSpec) -> None:
    """Raise NotFoundError, with the nearest name, for a node that does not exist, before anything is made.

    If there are many names, only the controller checks them.
    """
    if spec.target.follow:  # it may come later
        return
    for name in spec.target.nodes[:_FEW]:
        if await cluster.client.find(NODES, None, name) is None:
            pages = list_from_cache(cluster.client.pool, ListQuery(resource=NODES), accept=METADATA)
            known = [_named(raw).metadata.name async for page in pages for raw in page.objects]
            near = did_you_mean(name, known)
            raise NotFoundError(
                f"there is no node '{name}'", hint=near or "list the nodes: kubectl get nodes"
            )


class _Metadata(msgspec.Struct):
    name: str


class _Named(msgspec.Struct):
    metadata: _Metadata


_named = msgspec.json.Decoder(_Named).decode


async def _create(cluster: FaultCluster, body: dict[str, Json]) -> StoredFault:
    try:
        stored = await cluster.client.create(FAULTS, None, msgspec.json.encode(body))
    except ApiError as e:
        name = body["metadata"].get("name")
        if e.status != _EXISTS or name is None:
            raise
        raise ConflictError(
            f"there is a Fault '{name}' already",
            hint=f"choose another --id, or clear it: kwokctl --name {cluster.saved.name} fault clear {name}",
        ) from e
    return decode_fault.decode(stored)


async def _landed(cluster: FaultCluster, made: StoredFault, seconds: float) -> StoredFault:
    """Return the Fault once it has settled; errors as `inject`."""
    seen = [made]
    name = made.metadata.name
    following = object_versions(cluster.client, FAULTS, made, decode_fault.decode)
    title = f"Waiting until the fault '{name}' shows"
    try:
        with cluster.home.progress.step(title, unit="units") as step:
            async with bounded(seconds) as moved, aclosing(following) as versions:
                async for fault in versions:
                    more = fault.status.landed - seen[-1].status.landed
                    if more > 0:
                        moved()
                    step.expect(fault.status.units or None)
                    step.advance(more)
                    seen.append(fault)
                    if fault.status.phase in _SETTLED:
                        break
    except TimeoutError:
        raise TimedOutError(f"{after(seconds)} {_lack(seen[-1])}", hint=_look(cluster)) from None
    _demand_injected(seen[-1], cluster)
    return seen[-1]


def _demand_injected(fault: StoredFault, cluster: FaultCluster) -> None:
    """Raise NotFoundError for a fault that hits nothing, and ConfigError for one that is refused for another reason."""
    if fault.status.phase != "Refused":
        return
    reasons = [each for each in fault.status.conditions if each.type == "Selected"]
    message = reasons[0].message if reasons else "the controller does not say why"
    is_empty = any(each.reason == "NoMatch" for each in reasons)
    error: type[KwokctlError] = NotFoundError if is_empty else ConfigError
    clear = f"remove it: kwokctl --name {cluster.saved.name} fault clear {fault.metadata.name}"
    raise error(f"the fault '{fault.metadata.name}' hits nothing: {message}", hint=clear)


def _lack(fault: StoredFault) -> str:
    status, name = fault.status, fault.metadata.name
    if status.phase == "Pending":
        return f"no controller has injected the fault '{name}', which is due {fault.spec.at} after it was made"
    return f"{status.landed} of {status.units} units show the fault '{name}'"


def _look(cluster: FaultCluster) -> str:
    return f"it stays; look at it with: kwokctl --name {cluster.saved.name} fault status -o wide"


def _injected(fault: StoredFault) -> Injected:
    status = fault.status
    return Injected(
        name=fault.metadata.name,
        uid=fault.metadata.uid,
        class_name=fault.spec.class_name,
        seed=fault.spec.seed,
        phase=status.phase,
        units=status.units,
        landed=status.landed,
        failed=status.failed,
        foreign=status.foreign,
    )
