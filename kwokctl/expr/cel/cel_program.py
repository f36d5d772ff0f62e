"""An expression, ready to be evaluated."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from kwokctl.errors import ExpressionError
from kwokctl.expr.budget import BudgetError, metered
from kwokctl.expr.cel.cel_errors import CelSourceError, CelValueError
from kwokctl.expr.cel.cel_types import CelType
from kwokctl.expr.cel.checker import Checked, Checker, by_name
from kwokctl.expr.cel.functions.overload import Overload
from kwokctl.expr.cel.loops import may_take_long
from kwokctl.expr.cel.syntax.cel_nodes import CelCall, CelNode, CelSelect
from kwokctl.expr.cel.syntax.cel_parser import parse
from kwokctl.expr.cel.writing.calls import dispatchers
from kwokctl.expr.cel.writing.cel_writer import CelWriter, place_of
from kwokctl.expr.line_column import line_and_column
from kwokctl.json_value import Json

_FAULTS = (
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
    ArithmeticError,
    RecursionError,
    CelValueError,
)
"""The errors in which the fast way may end."""
_TOO_DEEP = (RecursionError, MemoryError, SyntaxError)
"""Python's message for code that is nested too deeply."""
_FILE = "<CEL>"


class CelEnvironment:
    """The variables and functions that expressions may use."""

    def __init__(self, variables: Mapping[str, CelType], functions: Sequence[Overload]) -> None:
        """Know the names; the order of the variables is that of the values for an evaluation."""
        self.variables = variables
        self.functions = functions

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[Overload]]:
        """The functions and operators by their names."""
        return by_name(self.functions)

    @cached_property
    def dispatchers(self) -> Mapping[str, Callable[..., object]]:
        """The functions by name, for values whose types only the evaluation shows."""
        return dispatchers(self.functions)


class _Written(NamedTuple):
    """An expression as a function, and the Python that it was made from."""

    function: Callable[..., object]
    text: str


class CelProgram:
    """An expression; evaluate it on a value for each variable of its environment."""

    def __init__(self, source: str, environment: CelEnvironment) -> None:
        """Compile the expression; raise ExpressionError, with the place, if it is invalid."""
        self.source = source
        self._environment = environment
        try:
            self.tree, self._checked = _checked(source, environment)
            self._is_metered = may_take_long(self.tree)
            self._fast = self._written(is_fast=True).function
        except CelSourceError as e:
            place = line_and_column(source, e.at)
            raise ExpressionError(
                f"'{source}' is not a CEL expression: {e.problem}, at {place}"
            ) from e
        except _TOO_DEEP as e:
            raise ExpressionError(f"'{source}' is nested too deeply") from e

    def __repr__(self) -> str:
        return f"CelProgram({self.source!r})"

    @property
    def type(self) -> CelType:
        """The type of what it evaluates to."""
        return self._checked.types[self.tree]

    @property
    def variables(self) -> Collection[str]:
        """The names of what it is evaluated on."""
        return self._environment.variables

    def is_steady(self, call: CelCall) -> bool:
        """Return whether its calls are pure: the same values always give the same result."""
        return all(function.is_steady for function in self._checked.calls.get(call, ()))

    def constant(self, node: CelNode) -> object:
        """Return the value of a part that depends on no variable; None if its evaluation fails."""
        writer = self._writer(is_fast=False)
        try:
            return metered(
                eval, f"({writer.boxed(node)})", writer.names
            )  # made from a tree, texts by repr
        except (*_TOO_DEEP, *_FAULTS, BudgetError):
            return None

    @property
    def is_repeatable(self) -> bool:
        """Whether the same values always give the same: neither time nor chance is requested."""
        return all(
            self.is_steady(call) for call in self._checked.types if isinstance(call, CelCall)
        )

    def fields(self) -> Iterator[tuple[str, str]]:
        """Yield the fields of structs that it reads: the name of the struct, and that of the field."""
        types = self._checked.types
        for node in types:
            if isinstance(node, CelSelect) and types[node.operand].kind == "struct":
                yield types[node.operand].name, node.field

    def evaluate(self, *values: Json) -> object:
        """Return the value of the expression; raise ExpressionError if the evaluation fails."""
        if self._is_metered:
            return self._evaluate_metered(values)
        try:
            return self._fast(*values)
        except _FAULTS:
            return self._evaluate_carefully(values)

    def _evaluate_metered(self, values: tuple[Json, ...]) -> object:
        try:
            try:
                return metered(self._fast, *values)
            except _FAULTS:
                return metered(self._evaluate_carefully, values)
        except BudgetError as e:
            raise BudgetError(f"CEL '{self.source}'") from e

    def _evaluate_carefully(self, values: tuple[Json, ...]) -> object:
        try:
            return self._careful.function(*values)
        except _TOO_DEEP as e:
            raise ExpressionError(f"CEL '{self.source}': it is nested too deeply") from e
        except _FAULTS as e:
            at = place_of(self._careful.text, _FILE, e.__traceback__)
            place = "" if at is None else f", at {line_and_column(self.source, at)}"
            raise ExpressionError(f"CEL '{self.source}': {e}{place}") from e

    @cached_property
    def _careful(self) -> _Written:
        return self._written(is_fast=False)

    def _writer(self, *, is_fast: bool) -> CelWriter:
        return CelWriter(
            self._checked,
            self._environment.dispatchers,
            is_fast=is_fast,
            is_metered=self._is_metered,
        )

    def _written(self, *, is_fast: bool) -> _Written:
        environment = self._environment
        writer = self._writer(is_fast=is_fast)
        parameters = ", ".join(f"v_{name}" for name in environment.variables)
        written = f"lambda {parameters}: ({writer.boxed(self.tree)})"
        code = compile(written, _FILE, "eval")
        function: Callable[..., object] = eval(code, writer.names)  # noqa: S307 - made from a tree, texts by repr
        return _Written(function, written)


def _checked(source: str, environment: CelEnvironment) -> tuple[CelNode, Checked]:
    tree = parse(source)
    return tree, Checker(environment.variables, environment.by_name).check(tree)
