"""Analyses an expression without any object."""

import json
from collections.abc import Iterator

from kwokctl.expr.cel.cel_program import CelProgram
from kwokctl.expr.cel.loops import below
from kwokctl.expr.cel.syntax.cel_nodes import (
    CelCall,
    CelLiteral,
    CelName,
    CelNode,
    CelSelect,
)


def fixed_truth(program: CelProgram) -> bool | None:
    """Return what a condition is for every object; None if that depends on the object."""
    return _truth(program, program.tree)


def equalities(program: CelProgram) -> Iterator[tuple[str, str]]:
    """Yield fields of `self`, as jq writes them, and the texts that each must equal for a condition to hold."""
    for part in _conjuncts(program.tree):
        if isinstance(part, CelCall) and part.name == "==":
            one, other = part.args
            for field, text in ((one, other), (other, one)):
                path = _path(field)
                if path and isinstance(text, CelLiteral) and isinstance(text.value, str):
                    yield path, text.value


def _truth(program: CelProgram, node: CelNode) -> bool | None:
    if isinstance(node, CelCall) and node.name in {"&&", "||"}:
        decides = node.name == "||"
        sides = [_truth(program, each) for each in node.args]
        if decides in sides:
            return decides
        return None if None in sides else not decides
    if isinstance(node, CelCall) and node.name == "!_":
        inner = _truth(program, node.args[0])
        return None if inner is None else not inner
    found = program.constant(node) if _is_fixed(program, node) else None
    return found if isinstance(found, bool) else None


def _is_fixed(program: CelProgram, node: CelNode) -> bool:
    """Return whether a part has the same value for all objects, and at all times."""
    if isinstance(node, CelName):
        return node.name not in program.variables
    if isinstance(node, CelCall) and not program.is_steady(node):
        return False
    return all(_is_fixed(program, each) for each in below(node))


def _conjuncts(node: CelNode) -> Iterator[CelNode]:
    if isinstance(node, CelCall) and node.name == "&&":
        for each in node.args:
            yield from _conjuncts(each)
    else:
        yield node


def _path(node: CelNode) -> str:
    """Return a row of fields and keys of `self`, empty for anything else."""
    if isinstance(node, CelSelect) and not node.is_test:
        operand, part = node.operand, f".{node.field}"
    elif isinstance(node, CelCall) and node.name == "[]" and isinstance(node.args[1], CelLiteral):
        operand, part = node.args[0], f"[{json.dumps(node.args[1].value)}]"
    else:
        return ""
    if isinstance(operand, CelName):
        return part if operand.name == "self" else ""
    before = _path(operand)
    return f"{before}{part}" if before else ""
