"""Foresees a fault in a cluster: whom it hits, what is written there, and which pods are evicted then."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kwokctl.clusters.faults.inject import catalogue_of
from kwokctl.clusters.faults.inject_request import InjectRequest, checked_spec
from kwokctl.clusters.faults.ours import ours
from kwokctl.clusters.faults.reaching import (
    FaultCluster,
    demand_api_proxy,
    demand_player,
    fault_cluster,
)
from kwokctl.clusters.state.home import Home
from kwokctl.components.heartbeat import heartbeat
from kwokctl.config.config_documents import Document
from kwokctl.errors import NotFoundError
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.classes.class_parameters import usual_values
from kwokctl.faults.evictions.eviction_flags import EvictionFlags, eviction_flags
from kwokctl.faults.evictions.eviction_forecast import EvictionForecast, forecast
from kwokctl.faults.evictions.eviction_zones import outlooks
from kwokctl.faults.explaining.api_words import api_words, chosen_words
from kwokctl.faults.fault_checks import notices
from kwokctl.faults.objects.fault_schema import FaultSpec
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.overlays.definitions import definition_of, read_definition
from kwokctl.faults.overlays.fault_course import ClassDefinition, injected_fault
from kwokctl.faults.overlays.open_entries import SILENT
from kwokctl.faults.targets.candidates import CandidateNode, candidate
from kwokctl.faults.targets.target_selection import Selected, select
from kwokctl.faults.truth.foreseen_writes import ForeseenWrite, foreseen_writes
from kwokctl.json_value import Json
from kwokctl.kube.collections.paging import ListQuery, list_from_cache
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.model import KUBE_CONTROLLER_MANAGER, ClusterName

_RENEWALS = 4
"""The number of times that a kubelet renews its Lease within the duration of the Lease."""
_decode = msgspec.json.Decoder(dict[str, Json]).decode
_PodsOfNodes = Mapping[str, Sequence[Mapping[str, Json]]]


class ForeseenNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node that would be hit."""

    units: tuple[FaultUnit, ...]
    writes: tuple[ForeseenWrite, ...]


class ForeseenFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault before it is injected."""

    spec: FaultSpec
    selected: Selected
    nodes: tuple[ForeseenNode, ...]
    """In the order of the selection."""
    candidates: int
    """The number of nodes of the cluster."""
    notices: tuple[str, ...]
    evictions: EvictionForecast | None
    """The forecast for the controller-manager; None if no kubelet falls silent, or the cluster has none."""
    requests: tuple[str, ...] = ()
    """Of a fault of the API: which requests it is about, then what happens to them."""


async def foresee(
    home: Home,
    name: ClusterName,
    request: InjectRequest,
    documents: Sequence[Document],
    *,
    now: float,
) -> ForeseenFault:
    """Return what a fault would do to a cluster that runs; `now` is a POSIX time stamp.

    Raises what `inject` does, and NotFoundError, with the reason, for one that hits nothing.
    """
    async with fault_cluster(home, name) as cluster:
        demand_player(cluster)
        catalogue = await catalogue_of(cluster, documents)
        spec = checked_spec(request, catalogue)
        if spec.target.api:
            demand_api_proxy(cluster)
        nodes = {each["metadata"]["name"]: each for each in await listed(cluster, NODES)}
        pods = await _pods(cluster)
        is_ours = await ours(cluster)
    candidates = [
        candidate(node, pods.get(each, ()), is_ours=is_ours(node)) for each, node in nodes.items()
    ]
    selected = select(catalogue.find(spec.class_name), spec, candidates)
    if not selected.units and not spec.target.follow:
        raise NotFoundError(selected.problem, hint=selected.hint or None)
    definition = read_definition(definition_of(catalogue, spec.class_name, spec.dialects))
    return ForeseenFault(
        spec=spec,
        selected=selected,
        nodes=tuple(_nodes(spec, definition, selected, nodes, now)),
        candidates=len(nodes),
        notices=tuple(notices(spec, catalogue)),
        evictions=_evictions(cluster, spec, catalogue, selected, candidates),
        requests=tuple(_requests(spec, catalogue)),
    )


def _requests(spec: FaultSpec, catalogue: FaultCatalogue) -> Iterator[str]:
    found = catalogue.find(spec.class_name).spec
    if found.effects.api is not None:
        values = {**usual_values(found), **spec.parameters}
        yield chosen_words(values)
        yield from api_words(found.effects.api, values)


async def listed(
    cluster: FaultCluster, resource: Resource, field_selector: str = ""
) -> list[Mapping[str, Json]]:
    """Return all objects of a kind, or those that a selector of fields selects."""
    query = ListQuery(resource=resource, field_selector=field_selector)
    pages = list_from_cache(cluster.client.pool, query)
    return [_decode(raw) async for page in pages for raw in page.objects]


async def _pods(cluster: FaultCluster) -> _PodsOfNodes:
    """Return the pods that are on nodes, by the nodes' names."""
    found: dict[str, list[Mapping[str, Json]]] = {}
    for pod in await listed(cluster, PODS, "spec.nodeName!="):
        found.setdefault(pod["spec"]["nodeName"], []).append(pod)
    return found


def _nodes(
    spec: FaultSpec,
    definition: ClassDefinition,
    selected: Selected,
    nodes: Mapping[str, Mapping[str, Json]],
    now: float,
) -> list[ForeseenNode]:
    fault = injected_fault(spec, name=spec.class_name, uid="", since=now)
    by_node: dict[str, list[FaultUnit]] = {}
    for unit in () if spec.target.api else selected.units:
        by_node.setdefault(unit.node, []).append(unit)
    return [
        ForeseenNode(
            units=tuple(units),
            writes=tuple(foreseen_writes(nodes[node], definition, fault, units)),
        )
        for node, units in by_node.items()
    ]


def _evictions(
    cluster: FaultCluster,
    spec: FaultSpec,
    catalogue: FaultCatalogue,
    selected: Selected,
    candidates: Sequence[CandidateNode],
) -> EvictionForecast | None:
    found = catalogue.find(spec.class_name)
    classes = (found, *catalogue.followers(found))
    is_silent = any(each.spec.effects.kubelet in SILENT for each in classes)
    if not is_silent or KUBE_CONTROLLER_MANAGER not in cluster.saved.names:
        return None
    zones = outlooks(candidates, {each.node for each in selected.units})
    return forecast(zones, _flags(cluster))


def _flags(cluster: FaultCluster) -> EvictionFlags:
    saved, home = cluster.saved, cluster.home
    plan = saved.plan(home.runtime(saved.options.runtime), home.paths(saved.name))
    arguments = plan.components[KUBE_CONTROLLER_MANAGER].args
    lease = heartbeat(saved.options).lease_seconds
    return (
        eviction_flags(arguments, renewal=lease / _RENEWALS) if lease else eviction_flags(arguments)
    )
