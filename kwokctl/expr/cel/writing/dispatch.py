"""Chooses the function for values whose types are known only at evaluation."""

from collections.abc import Callable, Iterable, Mapping

from kwokctl.expr.cel.fault import no_overload
from kwokctl.expr.cel.functions.operators import QUANTITY_ACTIONS
from kwokctl.expr.cel.functions.overload import Overload
from kwokctl.expr.cel.values.comparing import ORDERS
from kwokctl.expr.cel.values.quantities import CelQuantity
from kwokctl.expr.cel.values.scalars import CelDuration, CelTime, TypeName, Uint
from kwokctl.expr.cel.values.structs import ResourceList

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
