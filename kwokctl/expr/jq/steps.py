"""The part of jq that selectors, weights and delays are written in, as a flat list of steps.

A filter is the steps that its input takes one after the other: `.a | .b` and `.a.b` are the same.
"""

import msgspec

Literal = str | int | float | bool | None


class Field(msgspec.Struct, frozen=True):
    """`.name`, `."name"` or `["name"]`; a null has null in every field."""

    name: str
    optional: bool = False


class Item(msgspec.Struct, frozen=True):
    """`[3]` or `[-1]`; beyond the ends there is null."""

    index: int
    optional: bool = False


class Each(msgspec.Struct, frozen=True):
    """`[]`: every item of an array, every value of an object."""

    optional: bool = False


class Constant(msgspec.Struct, frozen=True):
    """A literal, whatever the input is."""

    value: Literal


class Select(msgspec.Struct, frozen=True):
    """`select(path)`, or with `==` or `!=` and a literal; once for each result of the path."""

    path: "Steps"
    operator: str | None = None
    literal: Literal = None


class Either(msgspec.Struct, frozen=True):
    """`one, other`: the results of each branch in turn."""

    branches: tuple["Steps", ...]


Step = Field | Item | Each | Constant | Select | Either
Steps = tuple[Step, ...]
