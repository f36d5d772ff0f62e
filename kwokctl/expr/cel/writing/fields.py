"""Writes how a field of a struct is read from what the API has, where absent fields are left out."""

from kwokctl.expr.cel.kinds.cel_type import CelType
from kwokctl.expr.cel.kinds.structs import fields

_ZERO = {
    "bool": "False", "bytes": 'b""', "int": "0", "list": "[]", "map": "{}", "string": '""',
    "struct": "{}",
}  # fmt: skip
_READ = {
    "bytes": "bytes_of",
    "duration": "duration_of",
    "quantity": "quantity_of",
    "time": "time_of",
}


def read(operand: str, struct: CelType, name: str) -> str:
    """Return the Python for a field: of a pointer that leads nowhere it is None, else a zero."""
    type_ = fields(struct.name)[name]
    found = f"{operand}.get({name!r})"
    if type_.kind == "quantity" and type_.nullable:
        return f"quantity_if_any({found})"
    if type_.kind in _READ:
        return f"{_READ[type_.kind]}({found})"
    if type_.nullable or type_.kind == "dyn":
        return found
    return f"({found} or {_ZERO[type_.kind]})"


def test(operand: str, struct: CelType, name: str) -> str:
    """Return the Python that tests whether a field is anything but what Go has if it is absent."""
    type_ = fields(struct.name)[name]
    found = f"{operand}.get({name!r})"
    if type_.nullable or type_.kind in {"list", "map", "time", "duration", "quantity"}:
        return f"({found} is not None)"
    if type_.kind == "struct":
        return f"({found} is not None)" if type_.name == "ResourceList" else f"is_set({found})"
    return f"(not not {found})"
