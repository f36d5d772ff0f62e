"""Writes a checked tree as Python.

There are two ways to write a tree. The fast one reaches into values as Python does, and leaves the
rest of a condition out once it is decided. It is right whenever it ends without an error.
Otherwise the careful one is evaluated: it reports the error, or finds that the error does not
matter, because the other side of `||` or `&&` decides.
"""

from collections.abc import Callable, Mapping
from traceback import walk_tb
from types import TracebackType

from kwokctl.expr.budget import charged, looked, looped
from kwokctl.expr.cel.cel_types import RESOURCES, CelType, fields
from kwokctl.expr.cel.checker import TYPE_NAMES, Checked
from kwokctl.expr.cel.loops import nodes
from kwokctl.expr.cel.syntax.cel_nodes import (
    CelCall,
    CelListing,
    CelLiteral,
    CelMacro,
    CelMapping,
    CelName,
    CelNode,
    CelSelect,
    qualified,
)
from kwokctl.expr.cel.values import open_values, structs
from kwokctl.expr.cel.values.structs import ResourceList, StructValue
from kwokctl.expr.cel.writing.calls import OPERATORS, TypeName, call, type_of
from kwokctl.expr.cel.writing.writer_parts import Parts
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


def _field_read(operand: str, struct: CelType, name: str) -> str:
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


def _field_test(operand: str, struct: CelType, name: str) -> str:
    """Return the Python that tests whether a field is anything but what Go has if it is absent."""
    type_ = fields(struct.name)[name]
    found = f"{operand}.get({name!r})"
    if type_.nullable or type_.kind in {"list", "map", "time", "duration", "quantity"}:
        return f"({found} is not None)"
    if type_.kind == "struct":
        return f"({found} is not None)" if type_.name == "ResourceList" else f"is_set({found})"
    return f"(not not {found})"


def mark(at: int) -> str:
    """Return what comes before the Python for a part that is at an offset.

    A line of the Python begins with each part; a comment at the end of the line before holds its offset.
    """
    return f"#{at}\n"


def place_of(written: str, file: str, traceback: TracebackType | None) -> int | None:
    """Return the offset of the part whose Python, compiled with a name of its file, failed."""
    lines = [line for frame, line in walk_tb(traceback) if frame.f_code.co_filename == file]
    if not lines or lines[-1] < 2:
        return None
    return int(written.splitlines()[lines[-1] - 2].rpartition("#")[2])


_PARTS = 8
"""Parts of an expression that are evaluated in a step."""
_LOOKING: Mapping[str, Callable[..., object]] = {
    "box": box,
    "contained": open_values.contained,
    "equal": open_values.equal,
}
"""Those that may look at all that is in a value."""
_NAMES: Mapping[str, object] = {
    **_LOOKING,
    "amount": structs.amount,
    "both": open_values.both,
    "bytes_of": structs.bytes_of,
    "duration_of": structs.duration_of,
    "either": open_values.either,
    "exists": open_values.exists,
    "has": open_values.has,
    "holds": open_values.holds,
    "is_set": structs.is_set,
    "items": open_values.items,
    "known": open_values.known,
    "lookup": open_values.lookup,
    "missing": object(),
    "quantity_if_any": structs.quantity_if_any,
    "quantity_of": structs.quantity,
    "select": open_values.select,
    "time_of": structs.time_of,
    "truth": open_values.truth,
    "type_of": type_of,
}
_METERED: Mapping[str, object] = {
    **_NAMES,
    **{name: charged(function) for name, function in _LOOKING.items()},
    "looked": looked,
    "looped": looped,
}


class CelWriter(Parts):
    """Writes one expression in one of the two ways."""

    def __init__(
        self,
        checked: Checked,
        dispatchers: Mapping[str, Callable[..., object]],
        *,
        is_fast: bool,
        is_metered: bool,
    ) -> None:
        names = _METERED if is_metered else _NAMES
        super().__init__(checked, dispatchers, names, is_fast=is_fast, is_metered=is_metered)

    def write(self, node: CelNode) -> str:
        """Return the Python for a part; in the careful way its line is preceded by where the part is."""
        return self._of(node) if self.is_fast else f"{mark(node.at)}{self._of(node)}"

    def _of(self, node: CelNode) -> str:
        match node:
            case CelSelect():
                return self._select(node)
            case CelCall():
                return OPERATORS.get(node.name, call)(self, node)
            case CelMacro():
                return self._loop(node)
            case CelName():
                return self._name(node.name)
            case _:
                return self._written_out(node)

    def _written_out(self, node: CelLiteral | CelListing | CelMapping) -> str:
        if isinstance(node, CelMapping):
            return self._mapping(node)
        if isinstance(node, CelListing):
            return f"[{self.sequence(node.items, self.type(node).params[0])}]"
        if node.type in {"uint", "double"}:
            return self.constant(node.value)
        return f"({node.value!r})" if node.type == "int" else repr(node.value)

    def _name(self, name: str) -> str:
        return self.constant(TypeName(name)) if name in TYPE_NAMES else f"v_{name}"

    def _mapping(self, node: CelMapping) -> str:
        wanted = self.type(node).params[1]
        pairs = zip(node.keys, node.values, strict=True)
        inner = (f"{self.boxed(key)}: {self.fitting(value, wanted)}" for key, value in pairs)
        return f"{{{', '.join(inner)}}}"

    def _select(self, node: CelSelect) -> str:
        if (name := qualified(node)) in TYPE_NAMES:
            return self.constant(TypeName(name))
        type_, operand = self.type(node.operand), self.write(node.operand)
        if type_.kind == "struct":
            if type_.is_open and not self.is_fast:
                operand = f"known({operand}, {node.field!r})"
            return (_field_test if node.is_test else _field_read)(operand, type_, node.field)
        return (self._test if node.is_test else self._read)(operand, repr(node.field))

    def _test(self, operand: str, field: str) -> str:
        if self.is_fast:
            return f"({operand}.get({field}, missing) is not missing)"
        return f"has({operand}, {field})"

    def _read(self, operand: str, field: str) -> str:
        return f"{operand}[{field}]" if self.is_fast else f"select({operand}, {field})"

    def _loop(self, node: CelMacro) -> str:
        whole, variable = self.write(node.whole), f"v_{node.variable}"
        if self.type(node.whole).is_open:
            whole = f"items({whole})"
        if self.is_metered:
            whole = f"looped({whole}, {self._weight(node)})"
        over = f"for {variable} in {whole}"
        match node.name:
            case "map":
                condition = f" if {self.truth(node.condition)}" if node.condition else ""
                result = self.fitting(node.result, self.type(node).params[0])
                return f"[{result} {over}{condition}]"
            case "filter":
                return f"[{variable} {over} if {self.truth(node.result)}]"
            case "exists_one":
                return f"([{self.truth(node.result)} {over}].count(True) == 1)"
            case _:
                return self._quantified(node, whole, variable)

    @staticmethod
    def _weight(node: CelMacro) -> int:
        parts = (node.result, node.condition) if node.condition else (node.result,)
        return 1 + sum(1 for part in parts for _ in nodes(part)) // _PARTS

    def _quantified(self, node: CelMacro, whole: str, variable: str) -> str:
        """Write `all` or `exists`; the fast way looks at all items, which are few."""
        test, is_all = self.truth(node.result), node.name == "all"
        if self.is_fast:
            decided = "False not in" if is_all else "True in"
            return f"({decided} [{test} for {variable} in {whole}])"
        return f"{'holds' if is_all else 'exists'}({whole}, lambda {variable}: {test})"
