import pytest
import typer
from typer.main import get_command

from kwokctl.cli.parsing.typer_parts import ParserError, parser_error


def command(*, number: int = 0) -> None:
    """Take one option."""


def raised_for(words: list[str]) -> BaseException:
    """Return the error of Typer for wrong words."""
    app = typer.Typer()
    app.command()(command)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the callers check its class
        get_command(app).main(words, standalone_mode=False)
    return caught.value


@pytest.mark.parametrize("words", [["--unknown"], ["--number"], ["--number", "x"], ["surplus"]])
def test_the_error_that_is_caught_is_that_of_typer_s_parser(words: list[str]) -> None:
    error = raised_for(words)

    assert isinstance(error, ParserError), (
        f"Typer {typer.__version__} raises {type(error).__qualname__} of {type(error).__module__} for wrong "
        "words, which kwokctl does not catch: adapt kwokctl/cli/parsing/typer_parts.py"
    )


def test_a_typer_whose_parser_error_has_moved_is_an_error_that_says_so() -> None:
    class ElsewhereError(Exception):
        """An error that derives from no error of the parser."""

    with pytest.raises(ImportError, match=r"^Typer [\d.]+ has moved the error of its parser"):
        parser_error(ElsewhereError)
