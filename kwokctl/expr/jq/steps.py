"""The part of jq that selectors, weights and delays are written in, as a flat list of steps.

A filter is the steps that its input takes one after the other: `.a | .b` and `.a.b` are the same.
"""

from dataclasses import dataclass

Literal = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Field:
    """`.name`, `."name"` or `["name"]`; a null has null in every field."""

    name: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """`[3]` or `[-1]`; beyond the ends there is null."""

    index: int
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Each:
    """`[]`: every item of an array, every value of an object."""

    optional: bool = False


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal, whatever the input is."""

    value: Literal


@dataclass(frozen=True, slots=True)
class Select:
    """`select(path)`, or with `==` or `!=` and a literal; once for each result of the path."""

    path: "Steps"
    operator: str | None = None
    literal: Literal = None


@dataclass(frozen=True, slots=True)
class Either:
    """`one, other`: the results of each branch in turn."""

    branches: tuple["Steps", ...]


Step = Field | Item | Each | Constant | Select | Either
Steps = tuple[Step, ...]
