"""Phases of incidents that a user names: each is over once an expression of CEL says so of the node, or of an object about it."""

import re
from functools import lru_cache

import msgspec

from kwokctl.errors import ExpressionError, UsageError
from kwokctl.expr.cel import CelEnvironment, CelProgram
from kwokctl.expr.cel.cel_types import DYN
from kwokctl.expr.cel.functions.operators import OPERATORS
from kwokctl.expr.cel.functions.standard import STANDARD
from kwokctl.json_value import Json
from kwokctl.kube.collections.known_objects import Identified, metadata_of
from kwokctl.measure.record.incident_lines import PhaseReached
from kwokctl.measure.watching.numbered_texts import Emit

NODES = "nodes"
_EXAMPLE = (
    "write NAME=CEL over a node, for example: returned=!('example.com/state' in self.metadata.labels), or "
    "NAME=KIND,CEL with the name of the node that an object is about: asked=rebootnodes,self.spec.nodeName"
)
_OF_KIND = re.compile(r"([a-z][a-z0-9.-]*),\s*(.+)", re.DOTALL)
_environment = CelEnvironment({"self": DYN}, (*OPERATORS, *STANDARD))


class IncidentPhase(msgspec.Struct, frozen=True, kw_only=True):
    """A phase: its time goes from the beginning of an incident until the expression holds for the node."""

    name: str
    kind: str
    """A word for the kind of the objects, as kubectl takes it."""
    expression: str

    @classmethod
    def read(cls, text: str) -> "IncidentPhase":
        """Read `NAME=CEL` or `NAME=KIND,CEL`; UsageError, with the part that is wrong."""
        name, has_rest, rest = text.partition("=")
        if not has_rest or not name.isidentifier() or not rest.strip():
            raise UsageError(f"'--phase' is '{text}', not a phase", hint=_EXAMPLE)
        match = _OF_KIND.fullmatch(rest.strip())
        kind, expression = match.groups() if match else (NODES, rest.strip())
        try:
            _program(expression)
        except ExpressionError as e:
            raise UsageError(f"'--phase' is '{text}': {e}", hint=_EXAMPLE) from e
        return cls(name=name, kind=kind, expression=expression)

    @property
    def is_of_nodes(self) -> bool:
        """Whether the expression is about nodes themselves."""
        return self.kind == NODES

    def __str__(self) -> str:
        """Write it as it is read."""
        kind = "" if self.is_of_nodes else f"{self.kind},"
        return f"{self.name}={kind}{self.expression}"

    def node_of(self, value: dict[str, Json]) -> str:
        """Return the name of the node for which it holds by an object; empty if it holds for none.

        An expression that cannot be evaluated, such as of a label that is not there, does not hold.
        """
        try:
            found = _program(self.expression).evaluate(value)
        except ExpressionError:
            return ""
        if self.is_of_nodes:
            name: str = value["metadata"]["name"]
            return name if found is True else ""
        return found if isinstance(found, str) else ""


class PhaseTracker:
    """Writes a line when a phase is over for a node, and when that holds no longer."""

    def __init__(self, emit: Emit, phase: IncidentPhase, number: int) -> None:
        """Name the phase by its `number` in the header."""
        self.plural = f"phase.{phase.name}"
        self.decode = metadata_of
        self._emit = emit
        self._phase = phase
        self._number = number
        self._nodes: dict[str, str] = {}
        """By the uid of an object, the node for which it holds."""

    def begin(self) -> None:
        """Need nothing: what holds before holds when an incident begins."""

    def see(self, seen: Identified, raw: bytes, time: int, *, listed: bool) -> None:
        """Note what an object is like."""
        node = self._phase.node_of(msgspec.json.decode(raw))
        self._change(seen.metadata.uid, node, time)

    def gone(self, uid: str, time: int) -> None:
        """Note that an object exists no longer: of a node that it was about the phase stays over."""
        if self._phase.is_of_nodes:
            self._change(uid, "", time)
        else:
            self._nodes.pop(uid, None)

    def _change(self, uid: str, node: str, time: int) -> None:
        before = self._nodes.get(uid, "")
        if before == node:
            return
        self._nodes[uid] = node
        if before:
            self._emit(PhaseReached(time, self._number, before, False))
        if node:
            self._emit(PhaseReached(time, self._number, node, True))


@lru_cache(maxsize=64)
def _program(expression: str) -> CelProgram:
    return CelProgram(expression, _environment)
