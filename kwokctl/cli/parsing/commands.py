"""Makes functions into commands; the common flags are accepted before and after every word."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing.grammar import CliCommand, CliGroup, RawCommand, long_command
from kwokctl.cli.version import version_line
from kwokctl.replacing import replace

CLUSTERS = "Cluster commands"
TOOLS = "Tools"
EVERYWHERE = "Everywhere"
"""The help section of the flags that every command takes."""

_EVERYWHERE: Mapping[str, object] = {
    "name": Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="The cluster [default: kwok]",
            rich_help_panel=EVERYWHERE,
        ),
    ],
    "config": Annotated[
        list[str] | None,
        typer.Option(
            "--config",
            "-c",
            metavar="FILE",
            help="Configuration file, '-' for standard input; repeatable",
            rich_help_panel=EVERYWHERE,
        ),
    ],
    "dry_run": Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the steps, for sh if possible, and change nothing",
            rich_help_panel=EVERYWHERE,
        ),
    ],
    "level": Annotated[
        str | None,
        typer.Option(
            "--v",
            "-v",
            metavar="LEVEL",
            help="Log level: DEBUG, WARN, ERROR, INFO+2, 4 [default: INFO]",
            rich_help_panel=EVERYWHERE,
        ),
    ],
}
_UNGIVEN: Mapping[str, object] = {"name": None, "config": None, "dry_run": False, "level": None}


def command(
    app: typer.Typer,
    name: str,
    *,
    panel: str | None = None,
    adds: tuple[inspect.Parameter, ...] = (),
    examples: tuple[str, ...] = (),
    common: tuple[str, ...] = (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command of `app`: it gets the Invocation first, then its own words.

    Its own parameter replaces a common one of the same name.
    Parameters that `adds` describes are given to its `**` parameter; `examples` end its help, which shows
    the `common` options only, where these are named and `--help all` is not what was asked for.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        def enter(ctx: typer.Context, **words: object) -> None:
            shared = {key: words.pop(key) for key in _EVERYWHERE if key not in names}
            call = ctx.obj.overlaid(**{**_UNGIVEN, **shared})
            function(replace(call, command=ctx.command_path.partition(" ")[2]), **words)

        own = tuple(inspect.signature(function).parameters.values())[1:]
        named = tuple(p for p in own if p.kind is not inspect.Parameter.VAR_KEYWORD)
        names = {p.name for p in named}
        _describe(enter, function, (*named, *adds))
        epilog = "\n".join(examples)
        cls = long_command(common) if common else CliCommand
        app.command(name, cls=cls, rich_help_panel=panel, epilog=epilog)(enter)
        return function

    return register


def raw_command(
    app: typer.Typer, name: str, *, panel: str | None = None, hidden: bool = False
) -> Callable[[Callable[[Invocation, list[str]], None]], Callable[[Invocation, list[str]], None]]:
    """Make a function a command that is given all words after its name untouched."""

    def register(
        function: Callable[[Invocation, list[str]], None],
    ) -> Callable[[Invocation, list[str]], None]:
        def enter(ctx: typer.Context) -> None:
            function(ctx.obj, ctx.args)

        enter.__doc__ = function.__doc__
        app.command(name, cls=RawCommand, rich_help_panel=panel, hidden=hidden)(enter)
        return function

    return register


def group(
    app: typer.Typer,
    name: str,
    text: str,
    *,
    panel: str | None = None,
    hidden: bool = False,
    cls: type[CliGroup] = CliGroup,
) -> typer.Typer:
    """Make a group of commands below `app`; alone it prints its help."""
    below = typer.Typer(
        cls=cls,
        help=text,
        rich_markup_mode=None,
        add_completion=False,
        subcommand_metavar="COMMAND ...",
    )
    below.callback(invoke_without_command=True)(_entrance(text))
    app.add_typer(below, name=name, rich_help_panel=panel, hidden=hidden)
    return below


def root(text: str) -> typer.Typer:
    """Make the app."""
    app = typer.Typer(
        cls=CliGroup,
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        subcommand_metavar="COMMAND ...",
        context_settings={
            "help_option_names": ["--help", "-h"],
            "max_content_width": 100,
        },
    )

    def enter(ctx: typer.Context, *, version: bool, **words: object) -> None:
        if version:
            results.emit(version_line())
            raise typer.Exit
        _enter_group(ctx, words)

    option = typer.Option(
        "--version", help="Print the version, without a command", rich_help_panel=EVERYWHERE
    )
    version = _parameter("version", Annotated[bool, option], default=False)
    enter.__doc__ = text
    _sign(enter, (version,))
    app.callback(invoke_without_command=True)(enter)
    return app


def _entrance(text: str) -> Callable[..., None]:
    def enter(ctx: typer.Context, **words: object) -> None:
        _enter_group(ctx, words)

    enter.__doc__ = text
    _sign(enter, ())
    return enter


def _enter_group(ctx: typer.Context, words: Mapping[str, object]) -> None:
    ctx.obj = ctx.obj.overlaid(**words)
    if ctx.invoked_subcommand is None:
        results.emit(ctx.get_help())


def _describe(
    enter: Callable[..., None],
    function: Callable[..., None],
    parameters: tuple[inspect.Parameter, ...],
) -> None:
    enter.__doc__ = function.__doc__
    enter.__name__ = function.__name__
    _sign(enter, parameters)


def _sign(enter: Callable[..., None], parameters: tuple[inspect.Parameter, ...]) -> None:
    """Give a function the signature that Typer reads its options from."""
    own = {p.name for p in parameters}
    shared = {key: kind for key, kind in _EVERYWHERE.items() if key not in own}
    every = (
        _parameter("ctx", typer.Context),
        *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters),
        *(_parameter(key, kind, default=_UNGIVEN[key]) for key, kind in shared.items()),
    )
    enter.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]  # as inspect documents
    enter.__annotations__ = {p.name: p.annotation for p in every}


def _parameter(
    name: str, annotation: object, *, default: object = inspect.Parameter.empty
) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )
