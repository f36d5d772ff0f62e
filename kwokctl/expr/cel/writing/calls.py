"""Writes calls, operators among them.

Where the types of the values are known, a call is written as the Python for it, or calls the function for them. Else
it calls one that looks at the types in the evaluation.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kwokctl.expr.cel.cel_errors import CelValueError, no_overload
from kwokctl.expr.cel.cel_types import QUANTITY, RESOURCES, CelType
from kwokctl.expr.cel.functions.operators import QUANTITY_ACTIONS
from kwokctl.expr.cel.functions.overload import Overload
from kwokctl.expr.cel.syntax.cel_nodes import CelCall, CelListing, CelLiteral, CelNode
from kwokctl.expr.cel.values.arithmetic import Uint
from kwokctl.expr.cel.values.cel_times import CelDuration, CelTime
from kwokctl.expr.cel.values.open_values import ORDERS
from kwokctl.expr.cel.values.quantities import CelQuantity
from kwokctl.expr.cel.values.structs import ResourceList
from kwokctl.expr.cel.writing.writer_parts import Parts


class TypeName(NamedTuple):
    """A type as a value: what `type(1)` and `int` give."""

    name: str


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

_CLASSES: Mapping[str, type] = {
    "bool": bool, "bytes": bytes, "double": float, "duration": CelDuration, "int": int,
    "list": list, "map": dict, "null": type(None), "quantity": CelQuantity, "string": str,
    "time": CelTime, "type": TypeName, "uint": Uint,
}  # fmt: skip
_NAMES = {found: kind for kind, found in _CLASSES.items()} | {
    CelDuration: "google.protobuf.Duration",
    CelTime: "google.protobuf.Timestamp",
    CelQuantity: "kubernetes.Quantity",
    ResourceList: "kubernetes.ResourceList",
    type(None): "null_type",
}


def dispatchers(functions: Iterable[Overload]) -> dict[str, Callable[..., object]]:
    """Return a function for each name, which looks at the types of its values."""
    tables: dict[str, dict[tuple[type, ...], Callable[..., object]]] = {}
    for function in functions:
        table = tables.setdefault(function.name, {})
        if function.does is not None and all(one.kind in _CLASSES for one in function.takes):
            table[tuple(_CLASSES[one.kind] for one in function.takes)] = function.does
    for name, left, right, does in QUANTITY_ACTIONS:
        tables[name][left, right] = does
    tables["size"][(ResourceList,)] = lambda value: len(value.amounts)
    return {name: _dispatcher(name, table) for name, table in tables.items()} | ORDERS


def _dispatcher(
    name: str, table: Mapping[tuple[type, ...], Callable[..., object]]
) -> Callable[..., object]:
    def function(*values: object) -> object:
        found = table.get(tuple(map(type, values)))
        if found is None:
            raise no_overload(name.rstrip("_"))
        return found(*values)

    return function


def type_of(value: object) -> TypeName:
    """Return the type of a value, as a value."""
    name = _NAMES.get(type(value))
    if name is None:
        raise no_overload("type")
    return TypeName(name)
