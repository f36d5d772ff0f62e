"""The parts of Typer that have no public name: the types of its commands, and the error of its parser.

Typer 0.26 and later contain Click, in a private module that has moved between releases. The package `click`
is no substitute: Typer does not raise its errors, so catching those would catch nothing. Types that are only
checked are protocols here, so that a release which moves them changes nothing.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import typer

_PARSER_ERROR = "UsageError"


class AnyCommand(Protocol):
    """A command or a group, as Typer builds it."""

    @property
    def name(self) -> str | None:
        """The word that calls it."""
        ...

    @property
    def params(self) -> Sequence[object]:
        """Its arguments and options."""
        ...

    @property
    def hidden(self) -> bool:
        """Whether help leaves it out."""
        ...

    @property
    def help(self) -> str | None:
        """The text of its help."""
        ...

    @property
    def epilog(self) -> str | None:
        """The text below its help."""
        ...


class Context(Protocol):
    """The words of one command while they are parsed."""

    args: list[str]
    """The words that no parameter takes."""
    terminal_width: int | None
    resilient_parsing: bool
    """Whether mistakes are ignored, as for completion."""

    @property
    def meta(self) -> dict[str, Any]:
        """The values that all contexts of a command line share."""
        ...

    @property
    def command_path(self) -> str:
        """The words that call the command, from `kwokctl` on."""
        ...

    @property
    def command(self) -> AnyCommand:
        """The command whose words they are."""
        ...

    def find_root(self) -> "Context":
        """Return the context of the first word."""
        ...


class HelpFormatter(Protocol):
    """Writes help within a width."""

    width: int

    def write(self, string: str) -> None:
        """Write a text as it is."""
        ...

    def write_paragraph(self) -> None:
        """Begin a paragraph."""
        ...

    def write_text(self, text: str) -> None:
        """Write a text, wrapped."""
        ...

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = ...) -> None:
        """Write rows of names and texts."""
        ...

    def section(self, name: str) -> AbstractContextManager[None]:
        """Write a heading, and indent what follows."""
        ...


def for_typer(context: Context) -> Any:
    """Return a context as Typer's own methods declare it: that class has no public name."""
    return context


def parser_error(bad_parameter: type[Exception]) -> Any:
    """Return the class of all errors of the parser, which Typer's `BadParameter` derives from.

    ImportError on a Typer in which it does not.
    """
    for parent in bad_parameter.__mro__:
        if parent.__name__ == _PARSER_ERROR:
            return parent
    raise ImportError(
        f"Typer {typer.__version__} has moved the error of its parser: 'BadParameter' derives from no "
        f"'{_PARSER_ERROR}', which kwokctl catches to report wrong words; find it again in {__name__}"
    )


ParserError = parser_error(typer.BadParameter)
