"""The parts of an expression. Two are never equal, so that each can have a type of its own."""

import msgspec

from kwokctl.json_value import Json


class CelLiteral(msgspec.Struct, frozen=True, eq=False):
    """A value that is written out; `type` is the name of its type."""

    at: int
    type: str
    value: Json


class CelName(msgspec.Struct, frozen=True, eq=False):
    """A variable or a type."""

    at: int
    name: str


class CelSelect(msgspec.Struct, frozen=True, eq=False):
    """A field; with `is_test`, whether it is set."""

    at: int
    operand: "CelNode"
    field: str
    is_test: bool = False


class CelCall(msgspec.Struct, frozen=True, eq=False):
    """A function, a method of `target`, or an operator, whose name is its sign."""

    at: int
    name: str
    args: tuple["CelNode", ...]
    target: "CelNode | None" = None

    @property
    def operands(self) -> tuple["CelNode", ...]:
        """All values that it is called with."""
        return self.args if self.target is None else (self.target, *self.args)


class CelListing(msgspec.Struct, frozen=True, eq=False):
    """A list that is written out."""

    at: int
    items: tuple["CelNode", ...]


class CelMapping(msgspec.Struct, frozen=True, eq=False):
    """A map that is written out."""

    at: int
    keys: tuple["CelNode", ...]
    values: tuple["CelNode", ...]


class CelMacro(msgspec.Struct, frozen=True, eq=False):
    """A loop over a list or the keys of a map, such as `all`; `map` may have a condition."""

    at: int
    name: str
    whole: "CelNode"
    variable: str
    result: "CelNode"
    condition: "CelNode | None" = None


CelNode = CelLiteral | CelName | CelSelect | CelCall | CelListing | CelMapping | CelMacro


def qualified(node: CelNode) -> str:
    """Return a row of names with dots, nothing for anything else."""
    if isinstance(node, CelName):
        return node.name
    if isinstance(node, CelSelect) and not node.is_test:
        before = qualified(node.operand)
        return f"{before}.{node.field}" if before else ""
    return ""
