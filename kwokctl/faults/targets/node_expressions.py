"""Expressions of CEL over a node and its place in the fleet, with which a fault chooses nodes. Pure."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ExpressionError
from kwokctl.expr.cel import CelEnvironment, CelProgram
from kwokctl.expr.cel.cel_types import BOOL, INT, STRING, CelType, map_of
from kwokctl.expr.cel.functions.operators import OPERATORS
from kwokctl.expr.cel.functions.standard import STANDARD
from kwokctl.expr.cel.loops import below
from kwokctl.expr.cel.syntax.cel_nodes import CelMacro, CelName, CelNode
from kwokctl.faults.targets.candidates import CandidateNode
from kwokctl.json_value import Json

PLACES = ("rack", "leaf", "spine", "zone", "core", "feed", "domain")
"""The variables with the units in which a node is; each is empty for a node that is in none of its level."""
_TEXTS = map_of(STRING, STRING)
_VARIABLES: Mapping[str, CelType] = {
    "name": STRING,
    "labels": _TEXTS,
    "annotations": _TEXTS,
    **dict.fromkeys(PLACES, STRING),
    "shape": STRING,
    "gpus": INT,
    "busy": INT,
    "ready": BOOL,
    "cordoned": BOOL,
    "pods": INT,
}
VARIABLES = tuple(_VARIABLES)
"""The names that an expression may use; `busy` is the number of GPUs that pods use, `pods` that of pods."""
_OF_PODS = frozenset({"busy", "pods"})
_UNKNOWN = "there is no variable '"
_EXAMPLE = """for example: rack == "dgx-rack-0003" && gpus > 0"""
_environment = CelEnvironment(_VARIABLES, (*OPERATORS, *STANDARD))


class NodeExpression:
    """A condition that a node meets or not."""

    def __init__(self, source: str) -> None:
        """Compile a condition.

        Raises ExpressionError, with line and column, for a text that is not an expression, that names an unknown variable, or
        whose value is not true or false.
        """
        try:
            self._program = CelProgram(source, _environment)
        except ExpressionError as e:
            raise ExpressionError(str(e), hint=_hint(str(e))) from e
        if self._program.type.kind not in ("bool", "dyn"):
            problem = f"'{source}' gives a value of type {self._program.type}, not true or false"
            raise ExpressionError(problem, hint=_EXAMPLE)

    def holds(self, node: CandidateNode) -> bool:
        """Return whether a node meets it; ExpressionError, with the node's name, if that cannot be said."""
        try:
            value = self._program.evaluate(*_values(node))
        except ExpressionError as e:
            raise ExpressionError(f"{e}, for the node '{node.name}'", hint=_runtime_hint(e)) from e
        if not isinstance(value, bool):
            problem = f"CEL '{self._program.source}' gives {value!r}, not true or false, for the node '{node.name}'"
            raise ExpressionError(problem, hint=_EXAMPLE)
        return value

    @property
    def depends_on_pods(self) -> bool:
        """Whether it asks what pods do on the node at that moment."""
        return any(name in _OF_PODS for name in _free_names(self._program.tree, frozenset()))


@lru_cache(maxsize=64)
def compile_where(source: str) -> NodeExpression:
    """Return the condition of a text, the same one each time; errors as `NodeExpression`."""
    return NodeExpression(source)


def _values(node: CandidateNode) -> Iterator[Json]:
    """Yield the values of the variables in their order."""
    yield from (node.name, node.labels, node.annotations)
    yield from (node.place.get(level, "") for level in PLACES)
    yield from (node.shape, node.gpus, len(node.in_use))
    yield from (node.is_ready, node.is_cordoned, len(node.pods))


def _free_names(tree: CelNode, bound: frozenset[str]) -> Iterator[str]:
    """Yield the variables that an expression reads, without those of its own loops."""
    if isinstance(tree, CelName):
        if tree.name not in bound:
            yield tree.name
        return
    inner = bound | {tree.variable} if isinstance(tree, CelMacro) else bound
    for part in below(tree):
        outside = isinstance(tree, CelMacro) and part is tree.whole
        yield from _free_names(part, bound if outside else inner)


def _hint(problem: str) -> str:
    """Return what to write in place of what cannot be compiled."""
    if _UNKNOWN not in problem:
        return _EXAMPLE
    name = problem.rpartition(_UNKNOWN)[2].partition("'")[0]
    known = f"there are: {', '.join(VARIABLES)}"
    near = did_you_mean(name, VARIABLES)
    return f"{near} {known}" if near else known


def _runtime_hint(error: ExpressionError) -> str:
    return (
        error.hint
        or """ask first whether a key is there: "team" in labels && labels["team"] == "a\""""
    )
