"""Writes the calls of functions, and of operators that take values of certain types."""

from kwokctl.expr.cel.fault import CelValueError
from kwokctl.expr.cel.functions.overload import Overload
from kwokctl.expr.cel.kinds.cel_type import QUANTITY, RESOURCES, CelType
from kwokctl.expr.cel.syntax.nodes import CelCall, CelLiteral, CelNode
from kwokctl.expr.cel.writing.parts import Parts

_ORDERS = frozenset({"<", "<=", ">", ">="})


def call(parts: Parts, node: CelCall) -> str:
    """Return the Python for a call."""
    if node.name in _ORDERS and all(_is_quantity(parts, operand) for operand in node.operands):
        one, other = map(parts.write, node.operands)
        return f"({one} {node.name} {other})"
    function = _known(parts, node)
    if function is None:
        return f"{parts.dispatcher(node.name)}({', '.join(map(parts.boxed, node.operands))})"
    folded = _folded(parts, node, function)
    if folded:
        return folded
    written = [parts.write(operand) for operand in node.operands]
    if function.inline and not (parts.is_metered and function.does):
        return function.inline.format(*written)
    assert function.does is not None
    return f"{parts.function(function.does)}({', '.join(written)})"


def _is_quantity(parts: Parts, node: CelNode) -> bool:
    type_ = parts.type(node)
    is_resource = (
        isinstance(node, CelCall) and node.name == "[]" and (parts.type(node.args[0]) == RESOURCES)
    )
    return is_resource or (type_ == QUANTITY and not type_.nullable)


def _known(parts: Parts, node: CelCall) -> Overload | None:
    """Return the function that is called, None if that is known only in the evaluation."""
    functions = parts.calls(node)
    if len(functions) > 1 or any(_is_open(parts.type(operand)) for operand in node.operands):
        return None
    [function] = functions
    return function if function.does or function.inline else None


def _is_open(type_: CelType) -> bool:
    return type_.is_open and type_.kind != "struct"


def _folded(parts: Parts, node: CelCall, function: Overload) -> str:
    """Call a function of literals once, at compile time; return an empty text if that is not possible."""
    values = [operand.value for operand in node.operands if isinstance(operand, CelLiteral)]
    if not function.is_steady or function.does is None or len(values) < len(node.operands):
        return ""
    try:
        return parts.constant(function.does(*values))
    except CelValueError:  # an error only if it is evaluated
        return ""
