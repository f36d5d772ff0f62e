"""The options and arguments of a command, as Typer makes them."""

from collections.abc import Iterable

from typer.core import TyperArgument, TyperOption

Parameter = TyperArgument | TyperOption


def parameters_of(params: Iterable[object]) -> list[Parameter]:
    """Return the parameters of a command, in their order."""
    return [each for each in params if isinstance(each, Parameter)]


def options_of(params: Iterable[object]) -> list[TyperOption]:
    """Return the options among the parameters of a command."""
    return [each for each in params if isinstance(each, TyperOption)]


def arguments_of(params: Iterable[object]) -> list[TyperArgument]:
    """Return the arguments among the parameters of a command."""
    return [each for each in params if isinstance(each, TyperArgument)]


def by_spelling(params: Iterable[object]) -> dict[str, TyperOption]:
    """Return the options by each of their spellings."""
    return {
        spelling: option
        for option in options_of(params)
        for spelling in (*option.opts, *option.secondary_opts)
    }
