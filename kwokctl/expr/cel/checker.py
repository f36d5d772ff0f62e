"""Gives each part of an expression its type, and finds errors that do not depend on the object."""

from collections.abc import Iterable, Mapping, Sequence

from kwokctl.expr.cel.cel_errors import CelSourceError
from kwokctl.expr.cel.cel_types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    RESOURCES,
    STRING,
    TYPE,
    UINT,
    A,
    B,
    Bindings,
    CelType,
    fields,
    list_of,
    loosened,
    map_of,
)
from kwokctl.expr.cel.functions.overload import Overload
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

TYPE_NAMES = {
    name: name
    for name in (
        "bool", "bytes", "double", "google.protobuf.Duration", "google.protobuf.Timestamp", "int",
        "list", "map", "null_type", "string", "type", "uint",
    )
}  # fmt: skip
"""The types that can be named in an expression."""
_LITERALS = {
    "bool": BOOL, "bytes": BYTES, "double": DOUBLE, "int": INT, "null": NULL, "string": STRING,
    "uint": UINT,
}  # fmt: skip


def _any(name: str, gives: CelType, *takes: CelType) -> Overload:
    return Overload(name=name, takes=takes, gives=gives)


_GENERIC = (
    _any("==", BOOL, A, A),
    _any("!=", BOOL, A, A),
    _any("in", BOOL, A, list_of(A)),
    _any("in", BOOL, A, map_of(A, B)),
    _any("in", BOOL, DYN, RESOURCES),
    _any("[]", A, list_of(A), INT),
    _any("[]", B, map_of(A, B), A),
    _any("[]", DYN, RESOURCES, DYN),
    _any("?:", A, BOOL, A, A),
    _any("dyn", DYN, A),
    _any("type", TYPE, A),
)


def by_name(functions: Iterable[Overload]) -> Mapping[str, Sequence[Overload]]:
    """Group functions, and the operators that take any values, by their names."""
    groups: dict[str, list[Overload]] = {}
    for function in (*_GENERIC, *functions):
        groups.setdefault(function.name, []).append(function)
    return groups


class Checked:
    """The types of the parts of an expression."""

    def __init__(
        self, types: Mapping[CelNode, CelType], calls: Mapping[CelNode, Sequence[Overload]]
    ) -> None:
        self.types = types
        self.calls = calls


class Checker:
    """Walks over a tree once; continues after a mistake, to report the first in the text."""

    def __init__(
        self, variables: Mapping[str, CelType], functions: Mapping[str, Sequence[Overload]]
    ) -> None:
        self._scope = dict(variables)
        self._functions = functions
        self._bindings = Bindings()
        self._types: dict[CelNode, CelType] = {}
        self._calls: dict[CelNode, Sequence[Overload]] = {}
        self._mistakes: list[CelSourceError] = []

    def check(self, tree: CelNode) -> Checked:
        """Return the types of all parts; raise CelSourceError for the first error in the text."""
        self._visit(tree)
        if self._mistakes:
            raise min(self._mistakes, key=lambda mistake: mistake.at)
        types = {n: self._bindings.resolve(t, final=True) for n, t in self._types.items()}
        return Checked(types, self._calls)

    def _visit(self, node: CelNode) -> CelType:
        self._types[node] = found = self._bindings.resolve(self._type(node))
        return found

    def _type(self, node: CelNode) -> CelType:
        match node:
            case CelName():
                return self._name(node)
            case CelSelect():
                return self._select(node)
            case CelCall():
                return self._call(node)
            case CelMacro():
                return self._loop(node)
            case _:
                return self._written_out(node)

    def _written_out(self, node: CelLiteral | CelListing | CelMapping) -> CelType:
        if isinstance(node, CelListing):
            return list_of(self._joined(node.items))
        if isinstance(node, CelMapping):
            return map_of(self._joined(node.keys), self._joined(node.values))
        return _LITERALS[node.type]

    def _wrong(self, at: int, problem: str) -> CelType:
        self._mistakes.append(CelSourceError(at, problem))
        return ERROR

    def _name(self, node: CelName) -> CelType:
        if node.name in self._scope:
            return self._scope[node.name]
        if node.name in TYPE_NAMES:
            return TYPE
        return self._wrong(node.at, f"there is no variable '{node.name}'")

    def _select(self, node: CelSelect) -> CelType:
        if not node.is_test and qualified(node) in TYPE_NAMES:
            return TYPE
        found = self._field(node, self._visit(node.operand))
        return BOOL if node.is_test else found

    def _field(self, node: CelSelect, operand: CelType) -> CelType:
        if operand.kind == "map":
            return operand.params[1]
        if operand == RESOURCES:
            return self._wrong(node.at, f"a resource is found by its name: ['{node.field}']")
        if operand.kind == "struct":
            found = fields(operand.name).get(node.field)
            return found or self._wrong(node.at, f"a {operand.name} has no field '{node.field}'")
        if operand.kind == "param":
            self._bindings.assign([DYN], [operand])
        elif operand.kind not in {"dyn", "error"}:
            self._wrong(node.at, f"a value of the type {operand} has no field '{node.field}'")
        return DYN

    def _call(self, node: CelCall) -> CelType:
        types = [self._visit(operand) for operand in node.operands]
        if node.name in {"&&", "||"}:
            return self._logic(node.args, types)
        functions = self._functions.get(node.name)
        if functions is None:
            return self._wrong(node.at, f"there is no function '{node.name}'")
        return self._chosen(node, functions, types)

    def _logic(self, args: Sequence[CelNode], types: Sequence[CelType]) -> CelType:
        for arg, given in zip(args, types, strict=True):
            self._must_be_bool(arg, given)
        return BOOL

    def _must_be_bool(self, node: CelNode, given: CelType) -> None:
        if not self._bindings.assign([given], [BOOL]):
            self._wrong(node.at, f"this must be true or false, and is of the type {given}")

    def _chosen(
        self, node: CelCall, functions: Sequence[Overload], types: Sequence[CelType]
    ) -> CelType:
        gives: CelType | None = None
        calls: list[Overload] = []
        is_uncertain = any(type_.is_uncertain for type_ in types)
        for function in functions:
            if function.is_method != (node.target is not None) or len(function.takes) != len(types):
                continue
            *takes, result = self._bindings.instance((*function.takes, function.gives))
            if self._bindings.assign(types, takes):
                calls.append(function)
                result = self._bindings.resolve(result)
                if is_uncertain and _is_generic(function.gives):
                    result = loosened(result)
                gives = result if gives is None or gives == result else DYN
        if gives is None:
            shown = ", ".join(str(self._bindings.resolve(t, final=True)) for t in types)
            return self._wrong(node.at, f"'{node.name}' does not take ({shown})")
        self._calls[node] = calls
        self._check_last(node.operands, calls)
        return gives

    def _check_last(self, operands: Sequence[CelNode], calls: Sequence[Overload]) -> None:
        last = operands[-1] if operands else None
        if not isinstance(last, CelLiteral):
            return
        for call in calls:
            if call.check_last is not None and (problem := call.check_last(last.value)):
                self._wrong(last.at, problem)

    def _joined(self, nodes: Sequence[CelNode]) -> CelType:
        joined: CelType | None = None
        for node in nodes:
            joined = self._bindings.join(joined, self._visit(node))
        return self._bindings.fresh() if joined is None else joined

    def _loop(self, node: CelMacro) -> CelType:
        item = self._item(node, self._visit(node.whole))
        before, self._scope = self._scope, {**self._scope, node.variable: item}
        if node.condition is not None:
            self._filter(node, node.condition)
        result = self._visit(node.result)
        self._scope = before
        if node.name == "map":
            return list_of(result)
        if node.name in {"filter", "exists_one"}:
            if not self._bindings.assign([result], [BOOL]):
                self._wrong(node.at, f"'{node.name}' needs a condition, not a {result}")
            return list_of(item) if node.name == "filter" else BOOL
        self._must_be_bool(node.result, result)
        return BOOL

    def _filter(self, node: CelMacro, condition: CelNode) -> None:
        given = self._visit(condition)
        if not self._bindings.assign([given], [BOOL]):
            self._wrong(node.at, f"'map' needs a condition before the result, not a {given}")

    def _item(self, node: CelMacro, whole: CelType) -> CelType:
        if whole.kind in {"list", "map"}:
            return whole.params[0]
        if whole.kind in {"dyn", "error", "param"}:
            self._bindings.assign([DYN], [whole])
            return DYN
        self._wrong(node.whole.at, f"a value of the type {whole} cannot be iterated over")
        return ERROR


def _is_generic(one: CelType) -> bool:
    return one.kind == "param" or any(map(_is_generic, one.params))
