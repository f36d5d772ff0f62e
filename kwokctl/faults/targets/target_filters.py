"""The filters of a target, one after the other: names, unit of the fleet, expression. Pure.

If one leaves nothing, it says so: the author of the target sees which part of it is too narrow.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ExpressionError
from kwokctl.faults.objects.fault_schema import FaultTarget
from kwokctl.faults.targets.candidates import CandidateNode
from kwokctl.faults.targets.node_expressions import compile_where

_T = TypeVar("_T")
_NAMED = 3
"""The most names that a message lists."""
_PLACES = "only nodes with the annotation kwokctl.dev/place are in units, such as those of: kwokctl scale dgx-h100"


class NoMatchError(Exception):
    """A target that allows nothing: why, and what to do about it."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.hint = hint


def matching_nodes(
    target: FaultTarget, candidates: Iterable[CandidateNode], level: str | None
) -> Sequence[CandidateNode]:
    """Return the nodes that `nodes`, `unit` and `where` of a target allow, sorted by their names.

    `level` is that of the units which faults of the class hit; then `unit` must be of that level. Raises NoMatchError if
    nothing is left, if a node or a unit does not exist, and if the expression has no value for a node.
    """
    found: Sequence[CandidateNode] = sorted(candidates, key=lambda node: node.name)
    if not found:
        raise NoMatchError("there are no nodes", "make some: kwokctl scale node --replicas 8")
    if target.unit:
        _check_unit(target.unit, found, level)
    if target.nodes:
        found = _named(target.nodes, found)
    if target.unit:
        found = kept(
            found,
            lambda node: target.unit in units_of(node, level),
            f"none of the given nodes is in '{target.unit}'",
            "give nodes or a unit, not both",
        )
    return _meeting(target.where, found) if target.where else found


def kept(
    items: Iterable[_T], keep: Callable[[_T], bool], problem: str, hint: str = ""
) -> Sequence[_T]:
    """Return the items that are kept; NoMatchError with this problem if none is."""
    found = [each for each in items if keep(each)]
    if not found:
        raise NoMatchError(problem, hint)
    return found


def units_of(node: CandidateNode, level: str | None) -> Collection[str]:
    """Return the unit in which a node is: of one level, or of all if it is None."""
    if level is None:
        return node.place.values()
    return [node.place[level]] if level in node.place else ()


def in_same_units(
    nodes: Iterable[CandidateNode], candidates: Iterable[CandidateNode], level: str
) -> Sequence[CandidateNode]:
    """Return all nodes of the units of a level in which some nodes are, sorted by their names.

    Raises NoMatchError if they are in none.
    """
    units = {unit for node in nodes for unit in units_of(node, level)}
    if not units:
        raise NoMatchError(f"no node that matches is in a {level}", _PLACES)
    found = [node for node in candidates if not units.isdisjoint(units_of(node, level))]
    return sorted(found, key=lambda node: node.name)


def _named(names: Sequence[str], nodes: Sequence[CandidateNode]) -> Sequence[CandidateNode]:
    known = {node.name for node in nodes}
    missing = [name for name in dict.fromkeys(names) if name not in known]
    if missing:
        near = did_you_mean(missing[0], known) or "list the nodes: kubectl get nodes"
        what = "there is no node" if len(missing) == 1 else "there are no nodes"
        raise NoMatchError(f"{what} {_listed(missing)}", near)
    wanted = frozenset(names)
    return [node for node in nodes if node.name in wanted]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_NAMED])
    rest = len(names) - _NAMED
    return f"{shown} and {rest} more" if rest > 0 else shown


def _check_unit(unit: str, nodes: Sequence[CandidateNode], level: str | None) -> None:
    """Raise NoMatchError for a unit that no node is in, or that is of another level."""
    if any(unit in units_of(node, level) for node in nodes):
        return
    levels = {name for node in nodes for name, each in node.place.items() if each == unit}
    if level is not None and levels:
        inside = {
            node.place[level]
            for node in nodes
            if unit in node.place.values() and level in node.place
        }
        hint = f"it shares nodes with {_listed(sorted(inside))}" if inside else _PLACES
        raise NoMatchError(f"'{unit}' is a {min(levels)}, not a {level}", hint)
    known = {name for node in nodes for name in units_of(node, level)}
    what = level or "unit of the fleet"
    raise NoMatchError(f"there is no {what} '{unit}'", _near_unit(unit, known))


def _near_unit(unit: str, known: Collection[str]) -> str:
    if not known:
        return _PLACES
    return did_you_mean(unit, known) or f"there are: {_listed(sorted(known))}"


def _meeting(where: str, nodes: Sequence[CandidateNode]) -> Sequence[CandidateNode]:
    try:
        expression = compile_where(where)
        return kept(nodes, expression.holds, f"no node of {len(nodes)} meets '{where}'")
    except ExpressionError as e:
        raise NoMatchError(str(e), e.hint or "") from e
