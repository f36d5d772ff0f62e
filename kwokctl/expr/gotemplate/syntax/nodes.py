"""What a Go template says, as a tree. `at` is the offset in the source."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A constant; None is `nil`."""

    at: int
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """`.`, the value at hand."""

    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """`$name`; `$` alone is the value the template was given."""

    at: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """The name of a function; alone, a call without arguments."""

    at: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """`.a.b` of an operand."""

    at: int
    operand: "Operand"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineCommand:
    """An operand with its arguments."""

    at: int
    operand: "Operand"
    arguments: tuple["Operand", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Commands, each but the first given the result of the one before as last argument.

    The result goes into `variables`, if there are any; `declares` tells `:=` from `=`.
    """

    at: int
    commands: tuple[PipelineCommand, ...]
    variables: tuple[str, ...] = ()
    declares: bool = False


Operand = Literal | Dot | Variable | Function | Fields | Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """What is written as it stands."""

    at: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A pipeline whose result is written, unless it sets a variable."""

    at: int
    pipeline: Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class If:
    """`if`, or `with` if it sets the dot."""

    at: int
    pipeline: Pipeline
    body: "Body"
    otherwise: "Body"
    sets_dot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """`range`; `otherwise` is for when there is nothing to go through."""

    at: int
    pipeline: Pipeline
    body: "Body"
    otherwise: "Body"


@dataclass(frozen=True, slots=True, kw_only=True)
class Jump:
    """`break` or `continue`."""

    at: int
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateCall:
    """`template "name" pipeline`."""

    at: int
    name: str
    pipeline: Pipeline | None


Node = Text | Action | If | Range | Jump | TemplateCall
Body = tuple[Node, ...]
