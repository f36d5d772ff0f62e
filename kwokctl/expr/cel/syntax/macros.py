"""The macros: tests and loops that are written like functions."""

from kwokctl.expr.cel.fault import CelSourceError
from kwokctl.expr.cel.syntax.nodes import CelMacro, CelName, CelNode, CelSelect

_LOOPS = frozenset({"all", "exists", "exists_one", "filter", "map"})


def presence(argument: CelNode) -> CelNode:
    """Return the test whether a field is set; raise CelSourceError if it is no field."""
    if not isinstance(argument, CelSelect) or argument.is_test:
        raise CelSourceError(
            argument.at, "'has' tests whether a field is set, as in has(self.metadata)"
        )
    return CelSelect(argument.at, argument.operand, argument.field, is_test=True)


def expand(at: int, whole: CelNode, name: str, args: tuple[CelNode, ...]) -> CelNode | None:
    """Return the loop that a method expands to, None if it is an ordinary method."""
    has_condition = name == "map" and len(args) == 3
    if name not in _LOOPS or not (len(args) == 2 or has_condition):
        return None
    if not isinstance(args[0], CelName) or args[0].name == "__result__":
        raise CelSourceError(
            args[0].at, f"the first argument of '{name}' names the item, as in {name}(x, …)"
        )
    condition = args[1] if has_condition else None
    return CelMacro(at, name, whole, args[0].name, args[-1], condition)
