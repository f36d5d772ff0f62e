""""""

import inspect
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command

from kwokctl.cli.parsing import command_words
from kwokctl.errors import UsageError


def params(**annotations: Any) -> list[Any]:
    """Make the parameters of a command with these options and arguments."""

    def command(**_: Any) -> None: ...

    described = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in annotations.items()
    ]
    command.__signature__ = inspect.Signature(described)  # type: ignore[attr-defined]  # as inspect documents
    command.__annotations__ = {p.name: p.annotation for p in described}
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return list(get_command(app).params)


PARAMS = params(
    kind=(Annotated[str, typer.Argument(metavar="KIND")], ...),
    set_name=(Annotated[str | None, typer.Argument(metavar="NAME")], None),
    wait=(Annotated[str | None, typer.Option("--wait", metavar="DURATION")], None),
    output=(Annotated[str, typer.Option("--output", "-o", metavar="FORMAT")], ""),
    force=(Annotated[bool, typer.Option("--force", "-f")], False),
    tls=(Annotated[bool | None, typer.Option("--tls/--no-tls")], None),
)


def rewritten(text: str) -> list[str]:
    return command_words.rewrite(text.split(), PARAMS, "kwokctl test")


@pytest.mark.parametrize(
    ("given", "as_typer_has_it"),
    [
        ("node", "node"),
        ("node --tls", "node --tls"),
        ("node --tls=true", "node --tls"),
        ("node --tls=false", "node --no-tls"),
        ("node --no-tls=false", "node --tls"),
        ("node --force=false", "node"),
        ("node -f=1", "node -f"),
        ("node -o=json", "node -o json"),
        ("node -ojson", "node -o json"),
        ("node -fojson", "node -f -o json"),
        ("node --output=json", "node --output json"),
        ("--output --tls=false node", "--output --tls=false node"),
        ("node --wait=15m", "node --wait 15m"),
        ("node --wait 15m", "node --wait 15m"),
        ("node --wait", "node --wait as-it-moves"),
        ("node --wait --force", "node --wait as-it-moves --force"),
        ("node -- --tls=false", "node -- --tls=false"),
    ],
)
def test_the_forms_of_the_original_become_those_of_typer(given: str, as_typer_has_it: str) -> None:
    assert rewritten(given) == as_typer_has_it.split()


def test_an_empty_value_stays_a_value() -> None:
    assert rewritten("node --output=") == ["node", "--output", ""]


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ("node --forse", "has no option '--forse'", "did you mean '--force'?"),
        ("node --zzz=3", "has no option '--zzz'", "see 'kwokctl test --help'"),
        ("node -x", "has no option '-x'", "see 'kwokctl test --help'"),
        ("node --output", "'--output' needs a value", "see 'kwokctl test --help'"),
        ("node --tls=maybe", "'--tls' is a switch", None),
        ("--force", "'kwokctl test' needs KIND", "see 'kwokctl test --help'"),
        ("node gpu more", "takes no argument 'more'", "see 'kwokctl test --help'"),
    ],
)
def test_a_wrong_word_is_a_usage_error_with_a_hint(
    given: str, message: str, hint: str | None
) -> None:
    with pytest.raises(UsageError) as caught:
        rewritten(given)
    assert message in str(caught.value)
    assert caught.value.hint == hint


def test_a_word_where_none_is_taken_gets_a_hint_about_name() -> None:
    with pytest.raises(UsageError) as caught:
        command_words.rewrite(["mine"], PARAMS[2:], "kwokctl create cluster")
    assert caught.value.hint == "name a cluster with '--name mine'"


def test_an_option_that_must_be_given_is_missed_by_name() -> None:
    needed = params(path=(Annotated[str, typer.Option("--path", metavar="FILE")], ...))
    with pytest.raises(UsageError, match="'kwokctl snapshot save' needs '--path FILE'"):
        command_words.rewrite([], needed, "kwokctl snapshot save")


def test_only_the_options_before_the_first_plain_word_belong_to_a_group() -> None:
    leading = command_words.rewrite_leading(
        ["--force=false", "-o=x", "get", "-f=0"], PARAMS, "kwokctl"
    )
    assert leading == (["-o", "x"], ["get", "-f=0"])
