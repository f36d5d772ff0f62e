"""The faults of the nodes as their pods suffer them: which pods are hit, and whose pods have to be looked at."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson

from kwokctl.controller.lifecycle.admission.device_table import Devices
from kwokctl.controller.lifecycle.containers.find_program import ProgramRules
from kwokctl.controller.lifecycle.pod_faults.gang_strikes import (
    GANG_FAULTS,
    live_strikes,
    strikes_in,
)
from kwokctl.controller.lifecycle.pod_faults.hits import (
    NO_HITS,
    PodHits,
    WorkloadHit,
    entry_key,
    hits_of,
    hits_of_programs,
)
from kwokctl.controller.lifecycle.pod_faults.pod_runs import has_progress
from kwokctl.controller.nodes.facts import NO_FACTS, NodeFacts
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.faults.overlays.open_entries import read_entries
from kwokctl.fleet.allocations import allocations_of, claimed_in
from kwokctl.fleet.claimed_devices import gpu_index
from kwokctl.fleet.device_health import all_devices, read_inventory
from kwokctl.fleet.devices import gpu_of
from kwokctl.json_value import Json
from kwokctl.kube.pod_requests import amounts
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.replacing import replace

_PRODUCT = "nvidia.com/gpu.product"
_Meaning = tuple[Any, ...]
"""That part of the open faults of a node that its pods suffer."""


class NodeFaults:
    """The faults of the managed nodes, also of those that other controllers hold."""

    def __init__(self, nodes: NodeRegistry, programs: ProgramRules = ()) -> None:
        """Follow `nodes`; `programs` are those that documents of the cluster describe."""
        self._nodes = nodes
        self._programs = programs
        self.faulty: dict[str, _Meaning] = {}
        """By the names of the nodes with a fault that a pod may suffer."""
        self._gangs: defaultdict[str, set[str]] = defaultdict(set)
        """By the name of a node that of the nodes with pods of gangs that were hit there."""

    def hits(self, pod: ObjectInJson, node: str, devices: Devices) -> PodHits:
        """Return the faults that hit a pod of a node, which has these devices."""
        meta, facts = pod["metadata"], self._facts(node)
        is_struck = GANG_FAULTS in (meta.get("annotations") or ())
        if not (facts.open_faults or is_struck):
            return NO_HITS
        gpus = _gpus_of(node, facts, devices)
        strikes = self._strikes(meta, node) if is_struck else ()
        hits = hits_of(pod, facts.faults, gpus, strikes)
        if not hits.containers:
            return hits
        useless = tuple(self._without_progress(pod, hits.containers))
        return replace(hits, ignored=(*hits.ignored, *useless)) if useless else hits

    def checked(self, node: str, devices: Devices, containers: Sequence[str]) -> list[WorkloadHit]:
        """Return the faults that a check of a node finds, made by a pod with these devices and containers."""
        facts = self._facts(node)
        if not facts.open_faults:
            return []
        gpus = _gpus_of(node, facts, devices)
        found = hits_of_programs(facts.faults, containers, gpus)
        return [*{hit.key: hit for _, hit in found}.values()]

    def attend(self, node: str, other: str) -> None:
        """Look at the pods of a node again when what its pods suffer of another node changes."""
        self._gangs[other].add(node)

    def product(self, node: str) -> str:
        """Return the name of the GPUs of a node, by its labels; empty if they do not say it."""
        labels: Mapping[str, str] = orjson.loads(self._facts(node).labels)
        return labels.get(_PRODUCT, "")

    def mean(self, pod: ObjectInJson, node: str) -> bool:
        """Return whether a fault means a pod, if it says itself which devices it has."""
        found = self.hits(pod, node, (*allocations_of(pod), *claimed_in(pod)))
        return bool(found.containers or found.pull or found.holds or found.refusal)

    def is_open(self, node: str, key: str) -> bool:
        """Return whether a fault of a node is open."""
        return any(entry_key(each) == key for each in self._facts(node).faults)

    def note(self, node: ManagedNode) -> Collection[str]:
        """Note what is said of a node; return the nodes whose pods suffer something else now."""
        text = node.facts.open_faults
        if not text and node.name not in self.faulty:
            return ()
        before, now = self.faulty.pop(node.name, ()), _meaning(text)
        if now:
            self.faulty[node.name] = now
        if now == before:
            return ()
        return {node.name, *self._gangs.get(node.name, ())}

    def forget(self, name: str) -> Collection[str]:
        """Forget a node; return the nodes with pods of gangs that were hit there."""
        self.faulty.pop(name, None)
        return self._gangs.pop(name, ())

    def _strikes(self, meta: Mapping[str, Json], node: str) -> Sequence[WorkloadHit]:
        """Return what the other pods of its gang make of a pod, and look at it again when one of their nodes changes."""
        for each in strikes_in(meta):
            if each.node != node:
                self._gangs[each.node].add(node)
        return [each.hit for each in live_strikes(meta, self.is_open)]

    def _facts(self, node: str) -> NodeFacts:
        known = self._nodes.get(node)
        return NO_FACTS if known is None else known.facts

    def _without_progress(
        self, pod: ObjectInJson, hits: Mapping[str, Sequence[WorkloadHit]]
    ) -> Iterator[str]:
        """Yield why faults have no effect on programs of which nothing is known."""
        for container in pod["spec"]["containers"]:
            name = container["name"]
            useless = [each for each in hits.get(name, ()) if each.effect.effect != "fail"]
            if useless and not has_progress(container, pod["metadata"], self._programs):
                for hit in useless:
                    yield (
                        f"Fault '{hit.fault}' ({hit.effect.effect}) has no effect on container '{name}': nothing "
                        "says what its program does, for example the annotation 'kwokctl.dev/program: run=1h'"
                    )


@lru_cache(maxsize=4096)
def _meaning(text: str) -> _Meaning:
    """Return what pods suffer of the open faults of a node; empty if that is nothing.

    Which signals are shown changes often, and makes no difference to them.
    """
    return tuple(
        (each.key, each.since, each.workload, each.pod, each.kubelet == "rebooting")
        for each in read_entries(text)
        if each.workload is not None or each.pod is not None
    )


def _gpus_of(node: str, facts: NodeFacts, devices: Devices) -> dict[str, frozenset[int]]:
    """Return the indices of the GPUs that containers have, or have a part of; those without any are left out."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    index_of = _index_of(node, facts)
    for each in devices:
        if (index := index_of(each.device_id)) is not None:
            found[each.container].add(index)
    return {container: frozenset(indices) for container, indices in found.items()}


def _index_of(node: str, facts: NodeFacts) -> Callable[[str], int | None]:
    labels: Mapping[str, str] = orjson.loads(facts.labels)
    capacity = amounts(orjson.loads(facts.capacity or facts.allocatable) or {})
    resources = all_devices(capacity, read_inventory(facts.device_inventory))

    def index_of(device_id: str) -> int | None:
        claimed = gpu_index(device_id, node)
        return gpu_of(node, labels, resources, device_id) if claimed is None else claimed

    return index_of
