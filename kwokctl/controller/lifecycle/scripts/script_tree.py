"""The tree of a script of sh: commands, their words, and the pieces of these."""

from enum import Enum
from typing import TypeAlias

import msgspec


class UnreadableError(Exception):
    """The effect of a script does not follow from its text."""


class Use(Enum):
    """The ways in which a shell uses a piece of a word."""

    TEXT = "text"
    VARIABLE = "variable"
    """Its name, and what stands for it where it is not set, with `:-` between them."""
    ARITHMETIC = "arithmetic"
    OUTPUT = "output"
    """That of the script which it is."""


class Piece(msgspec.Struct, frozen=True):
    """A part of a word."""

    use: Use
    text: str
    is_quoted: bool


Word: TypeAlias = tuple[Piece, ...]


class Simple(msgspec.Struct, frozen=True):
    """A command with its arguments, and the files that its output goes to."""

    words: tuple[Word, ...]
    writes: tuple[Word, ...] = ()


class Both(msgspec.Struct, frozen=True):
    """Two commands; `between` is `;`, `&&`, `||`, or `&` if the first one runs in the background."""

    first: "Tree"
    between: str
    second: "Tree"


class Not(msgspec.Struct, frozen=True):
    """A command that succeeds where another fails."""

    body: "Tree"


class Inner(msgspec.Struct, frozen=True):
    """Commands that a shell of their own runs."""

    body: "Tree"


class IfElse(msgspec.Struct, frozen=True):
    """Commands by a condition."""

    condition: "Tree"
    then: "Tree"
    otherwise: "Tree"


class While(msgspec.Struct, frozen=True):
    """Commands again and again, as long as another command succeeds, or until it does."""

    condition: "Tree"
    body: "Tree"


class For(msgspec.Struct, frozen=True):
    """Commands for each of some words."""

    name: str
    words: tuple[Word, ...]
    body: "Tree"


class Define(msgspec.Struct, frozen=True):
    """A function."""

    name: str
    body: "Tree"


Tree: TypeAlias = Simple | Both | Not | Inner | IfElse | While | For | Define


NOTHING = Simple(())
