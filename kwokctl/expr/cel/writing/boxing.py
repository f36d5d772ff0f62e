"""Converts values whose types were known to a form that holds the types."""

from kwokctl.expr.cel.kinds.cel_type import RESOURCES, CelType
from kwokctl.expr.cel.values.structs import ResourceList, StructValue
from kwokctl.json_value import Json


def box(type_: CelType, value: Json) -> Json:
    """Return a value in which structs are values of their own."""
    if value is None or not type_.is_boxed:
        return value
    if type_ == RESOURCES:
        return ResourceList(value)
    if type_.kind == "struct":
        return StructValue(type_, value)
    if type_.kind == "list":
        return [box(type_.params[0], item) for item in value]
    return {key: box(type_.params[1], item) for key, item in value.items()}
