"""The places of nodes: in racks, below leaf and spine switches, on power feeds and in zones.

All of it is counted from the number of a node in its set, by the parameters of its shape: 4 nodes a rack make
the nodes 0 to 3 the first rack. So the place of a node is the same after a restart, in a snapshot and in a
fork. Units have the name of the set before their number, since racks of another set are other racks.

The labels that say it are those of a vocabulary: of topograph
(https://github.com/NVIDIA/topograph), of the nodes of GKE, EKS and OKE, of the examples of Kueue and KAI, and those from
which Volcano's discovery makes HyperNodes.
A rack is never a `topology.kubernetes.io/zone`: the node lifecycle controller stops evictions in a zone of up
to 50 nodes when 55 % or more of them are silent. Power feeds have no label in any vocabulary.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Annotated

import msgspec
import orjson

from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json
from kwokctl.kube.names import LABEL_LENGTH, is_label_value

_Count = Annotated[int, msgspec.Meta(ge=1)]


class Topology(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """The parameters of which places are computed."""

    vocabularies: tuple[str, ...] = ()
    name: str = ""
    """The name before those of all units, in place of the set's: sets with the same one share their units."""
    first: Annotated[int, msgspec.Meta(ge=0)] = 0
    """The place of the set's first node: where another set with the same `name` ends."""
    nodes_per_rack: _Count = 4
    racks_per_leaf: _Count = 8
    leaves_per_spine: _Count = 4
    spines_per_zone: _Count = 4
    zones: tuple[str, ...] = ()
    """The names of zones, taken in turn; without any, nodes are in no zone."""
    feeds: _Count = 2
    """Power feeds; the racks are on them in turn."""
    rack_is_domain: bool = False
    """Whether NVLink connects the nodes of a rack."""


_LEVELS: Mapping[str, Callable[[Topology, int], int]] = {
    "node": lambda _, position: position,
    "rack": lambda by, position: position // by.nodes_per_rack,
    "leaf": lambda by, position: _number(by, "rack", position) // by.racks_per_leaf,
    "spine": lambda by, position: _number(by, "leaf", position) // by.leaves_per_spine,
    "core": lambda by, position: _number(by, "spine", position) // by.spines_per_zone,
    "feed": lambda by, position: _number(by, "rack", position) % by.feeds,
}
_DOMAIN = "domain"
"""Stands for the rack, where NVLink connects its nodes."""
_ZONE = "zone"
VOCABULARIES: Mapping[str, Mapping[str, str]] = {
    "topograph": {
        "accelerator.topograph.run/domain": _DOMAIN,
        "fabric.topograph.run/tier-0": "leaf",
        "fabric.topograph.run/tier-1": "spine",
        "fabric.topograph.run/tier-2": "core",
    },
    "gke": {
        "cloud.google.com/gce-topology-block": "spine",
        "cloud.google.com/gce-topology-subblock": "rack",
        "cloud.google.com/gce-topology-host": "node",
    },
    "aws": {
        "topology.k8s.aws/network-node-layer-1": "core",
        "topology.k8s.aws/network-node-layer-2": "spine",
        "topology.k8s.aws/network-node-layer-3": "leaf",
        "topology.k8s.aws/ultraserver-id": _DOMAIN,
    },
    "oci": {
        "oci.oraclecloud.com/host.network_block_id": "spine",
        "oci.oraclecloud.com/host.rack_id": "rack",
    },
    "kueue": {
        "cloud.provider.com/topology-block": "spine",
        "cloud.provider.com/topology-rack": "rack",
    },
    "kai": {
        "cloud.provider.com/topology-block": "spine",
        "cloud.provider.com/topology-rack": "rack",
    },
    "volcano": {
        "volcano.sh/hypernode": "leaf",
        "volcano.sh/hypercluster": "spine",
    },
    "none": {},
}
"""By the name of a vocabulary: its labels, and the level of which each gives the unit."""
_UNKNOWN = re.compile("unknown field `(.+)`")
_EXPECTED = re.compile(r"Expected `(\w+)`(?: >= (\d+))?")
_FORMS = {
    "int": "a whole number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a mapping",
}
_VALUE = f"use at most {LABEL_LENGTH} letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
_IN_EVERY = {"topology.kubernetes.io/zone": _ZONE}


def topology_labels(parameters: Json) -> dict[str, str]:
    """Return the labels of nodes, each with the level of which it gives the unit.

    Raises ExpressionError, with the place, for parameters that make no topology.
    """
    by = _read(parameters)
    labels: dict[str, str] = {}
    for name in by.vocabularies:
        if name not in VOCABULARIES:
            known = f"choose from: {', '.join(VOCABULARIES)}"
            hint = f"{did_you_mean(name, VOCABULARIES) or ''} {known}".strip()
            raise ExpressionError(f"topology.vocabularies: there is no '{name}'", hint=hint)
        labels |= VOCABULARIES[name]
    if by.zones:
        labels |= _IN_EVERY
    return {
        label: level for label, level in labels.items() if level != _DOMAIN or by.rack_is_domain
    }


def topology_unit(parameters: Json, set_name: str, level: str, index: int) -> str:
    """Return the unit of a level in which a node of a set is, such as `dgx-rack-0003`."""
    by = _read(parameters)
    position = by.first + index
    if level == _ZONE:
        return by.zones[_number(by, "core", position) % len(by.zones)]
    level = "rack" if level == _DOMAIN else level
    return _as_label(f"{by.name or set_name}-{level}-{_number(by, level, position):04}")


def topology_units(
    parameters: Json, set_name: str, level: str, below: str, size: int
) -> dict[str, list[str]]:
    """Return the units of a level that the nodes of a set are in, each with its units of a level below."""
    found: dict[str, dict[str, None]] = {}
    for index in range(size):
        unit = topology_unit(parameters, set_name, level, index)
        found.setdefault(unit, {})[topology_unit(parameters, set_name, below, index)] = None
    return {unit: list(within) for unit, within in found.items()}


def topology_place(parameters: Json, set_name: str, index: int) -> str:
    """Return the whole place of a node: `rack=dgx-rack-0003,leaf=dgx-leaf-0000,…`."""
    by = _read(parameters)
    levels = ["rack", "leaf", "spine", "core", "feed"]
    levels += [_ZONE] if by.zones else []
    levels += [_DOMAIN] if by.rack_is_domain else []
    return ",".join(
        f"{level}={topology_unit(parameters, set_name, level, index)}" for level in levels
    )


def _as_label(text: str) -> str:
    """Return what fits into a label: of a longer text an `x` and its hash, as topograph writes it."""
    return text if len(text) <= LABEL_LENGTH else f"x{_fnv64a(text.encode()):016x}"


def _fnv64a(text: bytes) -> int:
    """Return the hash FNV-1a of 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/."""
    found = 0xCBF29CE484222325
    for byte in text:
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return found


def _number(by: Topology, level: str, position: int) -> int:
    return _LEVELS[level](by, position)


def _read(parameters: Json) -> Topology:
    return _parsed(orjson.dumps(parameters or {}))


@lru_cache(maxsize=64)
def _parsed(parameters: bytes) -> Topology:
    """Return the parameters as they are meant: those of a set are the same for all of its nodes.

    A template has the numbers of its parameters as texts.
    """
    try:
        by = msgspec.json.decode(parameters, type=Topology, strict=False)
    except msgspec.ValidationError as e:
        raise _refused(str(e)) from e
    _check_names(by)
    return by


def _refused(problem: str) -> ExpressionError:
    """Return the error for parameters of another form, with their place, from what msgspec says."""
    what, _, place = problem.partition(" - at `$")
    if unknown := _UNKNOWN.search(what):
        known = [field.encode_name for field in msgspec.structs.fields(Topology)]
        hint = did_you_mean(unknown[1], known) or f"choose from: {', '.join(known)}"
        return ExpressionError(f"topology: there is no parameter '{unknown[1]}'", hint=hint)
    expected = _EXPECTED.search(what)
    least = f" of at least {expected[2]}" if expected and expected[2] else ""
    form = _FORMS.get(expected[1], expected[1]) if expected else what
    return ExpressionError(f"topology{place.rstrip('`')}: must be {form}{least}")


def _check_names(by: Topology) -> None:
    """Raise ExpressionError for names that cannot be in labels, or that are there twice."""
    if by.name and not is_label_value(by.name):
        raise ExpressionError(f"topology.name: '{by.name}' cannot be in a label", hint=_VALUE)
    for number, zone in enumerate(by.zones):
        if not zone or not is_label_value(zone):
            problem = f"topology.zones[{number}]: '{zone}' cannot be the value of a label"
            raise ExpressionError(problem, hint=_VALUE)
        if zone in by.zones[:number]:
            raise ExpressionError(f"topology.zones[{number}]: '{zone}' is there twice")
