"""Writes the operators that take values of any type: logic, equality, membership, items."""

from collections.abc import Callable, Mapping

from kwokctl.expr.cel.kinds.cel_type import RESOURCES
from kwokctl.expr.cel.syntax.nodes import CelCall, CelListing, CelLiteral, CelNode
from kwokctl.expr.cel.writing.parts import Parts

_NATIVE = frozenset(
    {"bool", "bytes", "duration", "int", "quantity", "string", "time", "type", "uint"}
)
"""The types whose values Python compares as CEL does, if both sides have the same."""


def _and(parts: Parts, node: CelCall) -> str:
    return _logic(parts, node, " and ", "both")


def _or(parts: Parts, node: CelCall) -> str:
    return _logic(parts, node, " or ", "either")


def _logic(parts: Parts, node: CelCall, operator: str, careful: str) -> str:
    written = [parts.truth(arg) for arg in node.args]
    if parts.is_fast:
        return f"({operator.join(written)})"
    return f"{careful}({', '.join(f'lambda: {part}' for part in written)})"


def _choice(parts: Parts, node: CelCall) -> str:
    condition, then, otherwise = node.args
    wanted = parts.type(node)
    return (
        f"({parts.fitting(then, wanted)} if {parts.truth(condition)} "
        f"else {parts.fitting(otherwise, wanted)})"
    )


def _equal(parts: Parts, node: CelCall) -> str:
    one, other = node.args
    if _is_null(one) or _is_null(other):
        return f"({parts.write(other if _is_null(one) else one)} is None)"
    if _is_text(parts, one) or _is_text(parts, other) or _is_native(parts, one, other):
        return f"({parts.write(one)} == {parts.write(other)})"
    return f"equal({parts.boxed(one)}, {parts.boxed(other)})"


def _is_text(parts: Parts, node: CelNode) -> bool:
    """Return whether a part is certainly a text, which Python compares as CEL does."""
    type_ = parts.type(node)
    return type_.kind == "string" and not type_.is_open


def _is_native(parts: Parts, one: CelNode, other: CelNode) -> bool:
    types = parts.type(one), parts.type(other)
    return types[0].kind == types[1].kind in _NATIVE and not (types[0].loose or types[1].loose)


def _unequal(parts: Parts, node: CelCall) -> str:
    return f"(not {_equal(parts, node)})"


def _is_null(node: CelNode) -> bool:
    return isinstance(node, CelLiteral) and node.type == "null"


def _contained(parts: Parts, node: CelCall) -> str:
    item, whole = node.args
    type_, is_text = parts.type(whole), parts.type(item).kind == "string"
    inner = type_.params[0].kind if type_.params else ""
    if inner == "string" and (type_.kind == "list" or is_text):
        items = _constants(parts, whole) or parts.looked(parts.write(whole))
        return f"({parts.write(item)} in {items})"
    if type_ == RESOURCES and is_text:
        return f"({parts.write(item)} in {parts.write(whole)})"
    return f"contained({parts.boxed(item)}, {parts.boxed(whole)})"


def _constants(parts: Parts, node: CelNode) -> str:
    """Return a list of literals as a tuple, which Python makes only once."""
    if isinstance(node, CelListing) and all(isinstance(i, CelLiteral) for i in node.items):
        return f"({parts.sequence(node.items, parts.type(node).params[0])})"
    return ""


def _item(parts: Parts, node: CelCall) -> str:
    whole, key = node.args
    type_, index = parts.type(whole), parts.type(key)
    if type_ == RESOURCES:
        return f"amount({parts.write(whole)}, {parts.boxed(key)})"
    is_place = isinstance(key, CelLiteral) and key.type == "int" and key.value >= 0
    is_key = type_.kind == "map" and index.kind == "string" and not index.is_open
    if parts.is_fast and not type_.loose and (is_key or (type_.kind == "list" and is_place)):
        return f"{parts.write(whole)}[{parts.write(key)}]"
    return f"lookup({parts.write(whole)}, {parts.boxed(key)})"


OPERATORS: Mapping[str, Callable[[Parts, CelCall], str]] = {
    "&&": _and,
    "||": _or,
    "?:": _choice,
    "==": _equal,
    "!=": _unequal,
    "in": _contained,
    "[]": _item,
    "!_": lambda parts, node: f"(not {parts.truth(node.args[0])})",
    "dyn": lambda parts, node: parts.boxed(node.args[0]),
    "type": lambda parts, node: f"type_of({parts.boxed(node.args[0])})",
}
