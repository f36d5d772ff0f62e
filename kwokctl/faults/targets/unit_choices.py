"""The units that a fault hits on nodes that match: the nodes, one GPU of each, whole units of the fleet, or pods. Pure.

Each function takes nodes sorted by their names, and the stream of `target_stream`. Each raises NoMatchError if nothing is left.
"""

from collections.abc import Mapping, Sequence

from kwokctl.draws.streams import DrawStream
from kwokctl.embedded.selection import requirements
from kwokctl.faults.classes.class_parameters import GPU_PARAMETER
from kwokctl.faults.objects.fault_schema import FaultSpec, PodTarget
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.targets.candidates import CandidateNode, CandidatePod
from kwokctl.faults.targets.target_draws import drawn
from kwokctl.faults.targets.target_filters import NoMatchError, kept
from kwokctl.json_value import Json

_ANY = "'usage: any' allows all"
_USED: Mapping[str, str] = {"busy": "in use by a pod", "idle": "idle"}
_PLURALS: Mapping[str, str] = {"leaf": "leaves"}
_NODES = "nodes"
_MAKE_SOME = "none of them has any; 'kwokctl scale dgx-h100 --replicas 4' makes nodes that do"


def choose_nodes(
    spec: FaultSpec, nodes: Sequence[CandidateNode], stream: DrawStream
) -> Sequence[FaultUnit]:
    """Return the rows of as many nodes as are wanted."""
    if (usage := spec.target.usage) != "any":
        problem = f"no node of {len(nodes)} is {_USED[usage]}"
        nodes = kept(nodes, lambda node: node.is_busy is (usage == "busy"), problem, _ANY)
    return [_row(node) for node in drawn(nodes, _name, spec.target, stream, _NODES)]


def choose_gpus(
    spec: FaultSpec, nodes: Sequence[CandidateNode], stream: DrawStream
) -> Sequence[FaultUnit]:
    """Return the rows of one GPU of each of as many nodes as are wanted.

    It is the given one or, of those with the wanted usage, the one with the smallest number of its own.
    """
    given, usage = spec.parameters.get(GPU_PARAMETER), spec.target.usage
    having = _having(nodes, given)
    allowed = {node.name: _allowed(node, given, usage) for node in having}
    which = "GPU" if given is None else f"GPU {given}"
    problem = f"no {which} of {len(having)} nodes is {_USED.get(usage, '')}"
    usable = kept(having, lambda node: bool(allowed[node.name]), problem, _ANY)
    return [
        _row(node, gpu=_drawn_gpu(node.name, allowed[node.name], stream))
        for node in drawn(usable, _name, spec.target, stream, _NODES)
    ]


def _having(nodes: Sequence[CandidateNode], gpu: Json) -> Sequence[CandidateNode]:
    """Return the nodes that have a GPU, or any if it is None."""
    if gpu is None:
        problem = f"no node of {len(nodes)} has a GPU"
        return kept(nodes, lambda node: node.gpus > 0, problem, _MAKE_SOME)
    most = max(node.gpus for node in nodes)
    hint = f"give an index from 0 to {most - 1}" if most else _MAKE_SOME
    problem = f"no node of {len(nodes)} has a GPU {gpu}"
    return kept(nodes, lambda node: node.gpus > gpu, problem, hint)


def _allowed(node: CandidateNode, given: Json, usage: str) -> Sequence[int]:
    gpus = range(node.gpus) if given is None else (given,)
    in_use = node.in_use
    return [gpu for gpu in gpus if usage == "any" or (gpu in in_use) is (usage == "busy")]


def _drawn_gpu(node: str, allowed: Sequence[int], stream: DrawStream) -> int:
    if len(allowed) == 1:
        return allowed[0]
    return min(allowed, key=lambda gpu: stream.below(f"{node}/gpu-{gpu}").at(0))


def choose_units(
    level: str, spec: FaultSpec, nodes: Sequence[CandidateNode], stream: DrawStream
) -> Sequence[FaultUnit]:
    """Return the rows of the nodes of as many units of a level as are wanted, unit after unit.

    `nodes` are all nodes of these units. A unit is in use if one of its nodes is.
    """
    members: dict[str, list[CandidateNode]] = {}
    for node in nodes:
        members.setdefault(node.place[level], []).append(node)
    names: Sequence[str] = sorted(members)
    if (usage := spec.target.usage) != "any":
        names = kept(
            names,
            lambda name: any(node.is_busy for node in members[name]) is (usage == "busy"),
            f"no {level} of {len(names)} is {_USED[usage]}",
            _ANY,
        )
    what = _PLURALS.get(level, f"{level}s")
    hit = drawn(names, lambda name: name, spec.target, stream, what)
    return [_row(node) for name in hit for node in members[name]]


def choose_pods(
    spec: FaultSpec, nodes: Sequence[CandidateNode], stream: DrawStream
) -> Sequence[FaultUnit]:
    """Return the rows of as many pods on the nodes as are wanted, sorted by node and name if all are.

    What is drawn does not depend on the nodes on which they are.
    """
    target = spec.target.pods or PodTarget()
    rules = requirements(target.selector)
    found: Sequence[tuple[CandidateNode, CandidatePod]] = [
        (node, pod) for node in nodes for pod in sorted(node.pods, key=lambda pod: pod.key)
    ]
    if not found:
        raise NoMatchError(f"no pod is on the {len(nodes)} nodes that match")
    if target.namespace:
        begin = f"{target.namespace}/"
        problem = f"no pod of {len(found)} is in the namespace '{target.namespace}'"
        found = kept(found, lambda pair: pair[1].key.startswith(begin), problem)
    if rules:
        problem = f"no pod of {len(found)} has the labels '{target.selector}'"
        found = kept(found, lambda pair: all(rule(pair[1].labels) for rule in rules), problem)
    hit = drawn(found, lambda pair: pair[1].key, spec.target, stream, "pods")
    return [
        FaultUnit(node=node.name, node_uid=node.uid, pod=pod.key, pod_uid=pod.uid)
        for node, pod in hit
    ]


def _name(node: CandidateNode) -> str:
    return node.name


def _row(node: CandidateNode, gpu: int | None = None) -> FaultUnit:
    return FaultUnit(node=node.name, node_uid=node.uid, gpu=gpu)
