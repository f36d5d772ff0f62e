"""Chooses the units that a fault hits: all that its target allows, or as many of them as it wants. Pure."""

from collections.abc import Sequence

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.faults.classes.catalogue import FaultClass
from kwokctl.faults.classes.class_parameters import GPU_PARAMETER, parameters_of
from kwokctl.faults.objects.fault_schema import FaultSpec
from kwokctl.faults.objects.unit_rows import FaultUnit
from kwokctl.faults.targets.candidates import CandidateNode
from kwokctl.faults.targets.node_expressions import compile_where
from kwokctl.faults.targets.target_draws import target_stream
from kwokctl.faults.targets.target_filters import NoMatchError, in_same_units, kept, matching_nodes
from kwokctl.faults.targets.unit_choices import choose_gpus, choose_nodes, choose_pods, choose_units

API = "api"
"""The scope of faults that hit the API."""
API_UNIT = FaultUnit(node="kube-apiserver", node_uid="")
"""The unit of such a fault, which is no node."""


class Selected(msgspec.Struct, frozen=True, kw_only=True):
    """The units that a fault hits, or the reason why it hits nothing."""

    units: tuple[FaultUnit, ...] = ()
    """In the order of their names or, if some were drawn, in that in which they were."""
    foreign: tuple[str, ...] = ()
    """The names of nodes that match and are left out, because no controller of kwokctl plays them."""
    is_reproducible: bool = True
    """False if it depends on what pods did at that moment."""
    problem: str = ""
    """The reason why there is no unit; empty if there are some."""
    hint: str = ""
    """A remedy for the problem; empty if none is known."""


def select(found: FaultClass, spec: FaultSpec, candidates: Sequence[CandidateNode]) -> Selected:
    """Return what a fault of a class hits.

    `spec` has passed `check_fault`, and `candidates` are all nodes. Those that no controller of kwokctl plays are left out,
    unless the target allows them. Fewer units than `count` are a problem, unless later nodes follow.
    """
    if found.spec.scope == API:
        return Selected(units=(API_UNIT,))
    units: Sequence[FaultUnit] = ()
    foreign: Sequence[str] = ()
    problem = hint = ""
    try:
        nodes = matching_nodes(spec.target, candidates, found.spec.unit)
        if found.spec.unit is not None:  # it fails as a whole, also where few of its nodes match
            nodes = in_same_units(nodes, candidates, found.spec.unit)
        if not spec.target.foreign:
            foreign = [node.name for node in nodes if not node.is_ours]
            nodes = _ours(nodes)
        units = _chosen(found, spec, nodes)
    except NoMatchError as e:
        problem, hint = str(e), e.hint
    return Selected(
        units=tuple(units),
        foreign=tuple(foreign),
        is_reproducible=not _depends_on_pods(found, spec),
        problem=problem,
        hint=hint,
    )


def _ours(nodes: Sequence[CandidateNode]) -> Sequence[CandidateNode]:
    problem = f"no controller of kwokctl plays any of the {len(nodes)} nodes that match"
    return kept(nodes, lambda node: node.is_ours, problem, "'foreign: true' allows them, too")


def _chosen(
    found: FaultClass, spec: FaultSpec, nodes: Sequence[CandidateNode]
) -> Sequence[FaultUnit]:
    stream = target_stream(spec.seed, found.name)
    if found.spec.unit is not None:
        return choose_units(found.spec.unit, spec, nodes, stream)
    if found.spec.scope == "pod":
        return choose_pods(spec, nodes, stream)
    if GPU_PARAMETER in parameters_of(found.spec):
        return choose_gpus(spec, nodes, stream)
    return choose_nodes(spec, nodes, stream)


def _depends_on_pods(found: FaultClass, spec: FaultSpec) -> bool:
    if found.spec.scope == "pod" or spec.target.usage != "any":
        return True
    try:
        return bool(spec.target.where) and compile_where(spec.target.where).depends_on_pods
    except ExpressionError:  # nothing was selected by it
        return False
