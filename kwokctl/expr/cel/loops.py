"""Whether an expression may take long: then its steps are counted."""

from collections.abc import Iterator

from kwokctl.expr.cel.syntax.cel_nodes import (
    CelCall,
    CelListing,
    CelLiteral,
    CelMacro,
    CelMapping,
    CelNode,
    CelSelect,
)

_CHEAP = frozenset({"!_", "&&", "-_", "<", "<=", ">", ">=", "?:", "[]", "dyn", "size", "type"})
_CHEAP_WITH_LITERAL = frozenset({"!=", "==", "endsWith", "startsWith"})


def may_take_long(tree: CelNode) -> bool:
    """Return whether a loop has something in it that takes longer for larger values, such as a loop.

    All else takes as long as looking at the object once.
    """
    return any(
        isinstance(node, CelMacro)
        and any(map(_grows, (each for part in below(node) for each in nodes(part))))
        for node in nodes(tree)
    )


def _grows(node: CelNode) -> bool:
    if isinstance(node, CelMacro):
        return True
    if not isinstance(node, CelCall) or node.name in _CHEAP:
        return False
    has_literal = any(isinstance(operand, CelLiteral) for operand in node.operands)
    return not (has_literal and node.name in _CHEAP_WITH_LITERAL)


def nodes(tree: CelNode) -> Iterator[CelNode]:
    """Yield all parts of an expression."""
    yield tree
    for each in below(tree):
        yield from nodes(each)


def below(node: CelNode) -> tuple[CelNode, ...]:
    """Return the parts of a part."""
    match node:
        case CelSelect():
            return (node.operand,)
        case CelCall():
            return node.operands
        case CelListing():
            return node.items
        case CelMapping():
            return (*node.keys, *node.values)
        case CelMacro():
            condition = () if node.condition is None else (node.condition,)
            return (node.whole, node.result, *condition)
        case _:
            return ()
