"""The syntax tree of a Go template. `at` is the offset in the source."""

import msgspec


class Literal(msgspec.Struct, frozen=True, kw_only=True):
    """A constant; None is `nil`."""

    at: int
    value: str | int | float | bool | None


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """`.`, the current value."""

    at: int


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    """`$name`; `$` alone is the value the template was given."""

    at: int
    name: str


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """The name of a function; alone, a call without arguments."""

    at: int
    name: str


class Fields(msgspec.Struct, frozen=True, kw_only=True):
    """`.a.b` of an operand."""

    at: int
    operand: "Operand"
    names: tuple[str, ...]


class PipelineCommand(msgspec.Struct, frozen=True, kw_only=True):
    """An operand with its arguments."""

    at: int
    operand: "Operand"
    arguments: tuple["Operand", ...]


class Pipeline(msgspec.Struct, frozen=True, kw_only=True):
    """Commands, each but the first given the result of the one before as last argument.

    The result goes into `variables`, if there are any; `declares` is true for `:=`, false for `=`.
    """

    at: int
    commands: tuple[PipelineCommand, ...]
    variables: tuple[str, ...] = ()
    declares: bool = False


Operand = Literal | Dot | Variable | Function | Fields | Pipeline


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A text that is written unchanged."""

    at: int
    text: str


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """A pipeline whose result is written, unless it sets a variable."""

    at: int
    pipeline: Pipeline


class If(msgspec.Struct, frozen=True, kw_only=True):
    """`if`, or `with` if it sets the dot."""

    at: int
    pipeline: Pipeline
    body: "Body"
    otherwise: "Body"
    sets_dot: bool


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """`range`; `otherwise` is its `else`, for when there are no items."""

    at: int
    pipeline: Pipeline
    body: "Body"
    otherwise: "Body"


class Jump(msgspec.Struct, frozen=True, kw_only=True):
    """`break` or `continue`."""

    at: int
    word: str


class TemplateCall(msgspec.Struct, frozen=True, kw_only=True):
    """`template "name" pipeline`."""

    at: int
    name: str
    pipeline: Pipeline | None


Node = Text | Action | If | Range | Jump | TemplateCall
Body = tuple[Node, ...]
