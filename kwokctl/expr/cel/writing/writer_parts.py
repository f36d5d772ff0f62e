"""The common base of the writers of expressions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence

from kwokctl.expr.budget import charged
from kwokctl.expr.cel.cel_types import CelType
from kwokctl.expr.cel.checker import Checked
from kwokctl.expr.cel.functions.overload import Overload
from kwokctl.expr.cel.syntax.cel_nodes import CelNode
from kwokctl.json_value import Json


class Parts(ABC):
    """The types of the parts of an expression, and what the Python for them calls."""

    def __init__(
        self,
        checked: Checked,
        dispatchers: Mapping[str, Callable[..., object]],
        names: Mapping[str, object],
        *,
        is_fast: bool,
        is_metered: bool,
    ) -> None:
        """Write in the fast way or in the careful one; `names` holds the functions to call.

        If it is metered, functions take steps for what they look at, and loops for their rounds.
        """
        self.is_fast = is_fast
        self.is_metered = is_metered
        self.names = dict(names)
        self._checked = checked
        self._dispatchers = dispatchers

    @abstractmethod
    def write(self, node: CelNode) -> str:
        """Return the Python for a part."""

    def type(self, node: CelNode) -> CelType:
        """Return the type of a part."""
        return self._checked.types[node]

    def calls(self, node: CelNode) -> Sequence[Overload]:
        """Return the functions that a call may be one of."""
        return self._checked.calls[node]

    def dispatcher(self, name: str) -> str:
        """Return what to call if the types of the values decide in the evaluation."""
        return self.function(self._dispatchers[name])

    def function(self, does: Callable[..., object]) -> str:
        """Return a name for a function."""
        return self.constant(charged(does) if self.is_metered else does)

    def looked(self, written: str) -> str:
        """Return the Python for a part that is looked at as a whole."""
        return f"looked({written})" if self.is_metered else written

    def constant(self, value: Json) -> str:
        """Return a name for a value."""
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def boxed(self, node: CelNode) -> str:
        """Return the Python for a part whose type is not known further on."""
        type_, written = self.type(node), self.write(node)
        return f"box({self.constant(type_)}, {written})" if type_.is_boxed else written

    def fitting(self, node: CelNode, wanted: CelType) -> str:
        """Return the Python for a part of a whole, of whose parts that type is known."""
        return self.write(node) if wanted.is_boxed else self.boxed(node)

    def sequence(self, nodes: Iterable[CelNode], wanted: CelType) -> str:
        """Return the Python for parts in a row."""
        return "".join(f"{self.fitting(node, wanted)}, " for node in nodes)

    def truth(self, node: CelNode) -> str:
        """Return the Python for a part that must be true or false."""
        written = self.write(node)
        return f"truth({written})" if self.type(node).is_open else written
