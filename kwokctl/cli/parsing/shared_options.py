"""Defines the options that several commands share, and makes those of clusters."""

import inspect
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, get_origin

import typer
from typer.models import OptionInfo

from kwokctl.cli.parsing.option_values import (
    checked,
    duration,
    namespace_name,
    number,
    one_of,
    waiting,
    whole_number,
)
from kwokctl.components.catalog import usual_options
from kwokctl.config.checks import file
from kwokctl.config.declaring import OptionValue, Spelling
from kwokctl.config.options import spellings
from kwokctl.config.original.not_served import NOT_SERVED, NotServed
from kwokctl.host.paths import WorkDir, default_workdir
from kwokctl.waits import USUAL

Kubeconfig = Annotated[
    str | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="Kubeconfig that holds the context; empty for none "
        "[default: $KUBECONFIG or ~/.kube/config]",
    ),
]
Wait = Annotated[
    float | None,
    typer.Option(
        "--wait",
        metavar="DURATION",
        help="Wait until everything is ready. A value such as 90s or 15m is the limit for the components, "
        "and again for each set of objects. Without a value the wait ends when nothing more has become "
        f"ready for {USUAL / 60:g} minutes [default: 0s, do not wait]",
        parser=waiting("--wait"),
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        help="Limit for fetching programs and starting components, and again for creating each set "
        "of objects; --wait counts separately [default: 0s, no limit]",
        parser=duration("--timeout"),
    ),
]

Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FORMAT",
        help="Print the result as json or yaml; progress goes to standard error",
        parser=one_of("--output", "", "json", "yaml"),
    ),
]


DataOutput = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FORMAT",
        help="Print json or yaml instead",
        parser=one_of("--output", "", "json", "yaml"),
    ),
]
"""The same of a command that only looks."""


def wait_option(state: str, ends: str) -> Any:
    """Return the option `--wait` of a command that can wait for a state.

    `ends` says when the wait ends without a value; `{}` in it stands for the time in which nothing has happened.
    """
    return typer.Option(
        "--wait",
        metavar="DURATION",
        help=f"Wait until {state}, at most for this time. Without a value the wait ends "
        f"{ends.format(f'{USUAL / 60:g} minutes')} [default: 0s, do not wait]",
        parser=waiting("--wait"),
    )


def kubeconfig_path(given: str | None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the kubeconfig to change; None if the user wants none changed, or has no home folder.

    Of several files in `$KUBECONFIG` it is the first that exists, else the last, as for kubectl.
    A cluster's own one, which `kwokctl env` puts there, is not for the contexts of others.
    """
    from kwokctl.host.paths import expanded, home_folder

    if given is not None:
        return expanded(given) if given else None
    named = _named_by(environ)
    clusters = WorkDir(default_workdir()).clusters
    files = [file for file in named if not file.is_relative_to(clusters)]
    if not files:
        # Without a home folder kubectl would look at no file, either.
        return home / ".kube" / "config" if (home := home_folder()) else None
    return next((f for f in files if f.exists()), files[-1])


def is_read_by_kubectl(kubeconfig: Path, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether kubectl reads a kubeconfig without being told."""
    usual = kubeconfig_path(None, environ)
    files = [*_named_by(environ), *([usual] if usual else [])]
    return kubeconfig.absolute() in [file.absolute() for file in files]


def reached_by(kubeconfig: Path, context: str) -> str:
    """Return the arguments with which kubectl finds a context that is the current one of a kubeconfig."""
    if is_read_by_kubectl(kubeconfig):
        return f"--context {context}"
    return f"--kubeconfig {shlex.quote(str(kubeconfig))}"


def _named_by(environ: Mapping[str, str]) -> list[Path]:
    from kwokctl.host.paths import expanded

    return [expanded(f) for f in environ.get("KUBECONFIG", "").split(os.pathsep) if f]


def cluster_parameters() -> tuple[inspect.Parameter, ...]:
    """Describe each option of a cluster that has a flag, and the refused ones."""
    served = (_served(spelling) for spelling in spellings(usual_options()) if spelling.flag)
    return (*served, *(_refused(option) for option in NOT_SERVED if option.flag))


def chosen_options(words: Mapping[str, object]) -> dict[str, OptionValue]:
    """Return, by field name, the cluster options among the words that were given.

    Those that are not served are among them: they are refused where all places are looked through.
    """
    return dict(_chosen(words))


def _chosen(words: Mapping[str, Any]) -> Iterator[tuple[str, OptionValue]]:
    for spelling in spellings(usual_options()):
        value = words.get(spelling.field)
        if value is None:
            continue
        if get_origin(spelling.type) is tuple:
            yield spelling.field, tuple(_items(value, is_parted=_is_parted(spelling)))
        else:
            yield spelling.field, value
    for option in NOT_SERVED:
        if option.flag and words.get(option.field) is not None:
            yield option.field, words[option.field]


def _items(words: list[str], *, is_parted: bool) -> Iterator[str]:
    for word in words:
        parts = word.split(",") if is_parted else [word]
        yield from (part.strip() for part in parts if part.strip())


def _is_parted(spelling: Spelling) -> bool:
    """Return whether commas part the items of a list; arguments for components may hold commas."""
    return "," in spelling.metavar


def _served(spelling: Spelling) -> inspect.Parameter:
    is_switch = spelling.type is bool
    is_list = get_origin(spelling.type) is tuple
    flag = spelling.flag
    option = typer.Option(
        f"{flag}/--no-{flag.removeprefix('--')}" if is_switch else flag,
        metavar=None if is_switch else spelling.metavar or "VALUE",
        help=spelling.help + _default(spelling.default),
        rich_help_panel=spelling.group,
    )
    kind: object = bool | None if is_switch else list[str] | None if is_list else str | None
    return _parameter(spelling.field, Annotated[kind, option])


def _default(value: object) -> str:
    if isinstance(value, bool):
        return " [default: on]" if value else ""
    if isinstance(value, tuple):
        return f" [default: {','.join(value)}]" if value else ""
    return f" [default: {value}]" if value else ""


def _refused(option: NotServed) -> inspect.Parameter:
    flag, is_switch = option.flag, option.type is bool
    spelled = f"{flag}/--no-{flag.removeprefix('--')}" if is_switch else flag
    kind: object = bool | None if is_switch else str | None
    return _parameter(option.field, Annotated[kind, typer.Option(spelled, hidden=True)])


def _parameter(name: str, annotation: object) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=None, annotation=annotation)


def count_option(flag: str, text: str, *, metavar: str = "N", is_shown: bool = True) -> OptionInfo:
    """Make an option that is a whole number from 0 on; the help shows its default if `is_shown`."""
    option: OptionInfo = typer.Option(
        flag,
        metavar=metavar,
        help=text,
        parser=whole_number(flag, least=0),
        show_default=is_shown,
    )
    return option


LoadSeed = Annotated[
    int, count_option("--seed", "Seed of all random values of loads: equal seeds give equal values")
]
AllowHooks = Annotated[
    bool,
    typer.Option(
        "--allow-hooks",
        help="Run the commands in 'hooks' of loads on this machine without asking; required without a terminal",
    ),
]
LoadSpeed = Annotated[
    float,
    typer.Option(
        "--speed",
        metavar="N",
        help="Speed of the arrivals of loads, from 0.01 to 1000 times that of the file [default: 1]",
        parser=number("--speed", least=0.01, most=1000.0),
    ),
]


def namespace_option(text: str) -> OptionInfo:
    """Make the option `--namespace`."""
    parser = checked("--namespace", namespace_name)
    option: OptionInfo = typer.Option("--namespace", "-n", metavar="NAME", help=text, parser=parser)
    return option


def runtime_option(text: str) -> OptionInfo:
    """Make the option `--runtime` of commands that are not about one cluster's."""
    option: OptionInfo = typer.Option("--runtime", metavar="NAME", help=text)
    return option


def file_option(flag: str, text: str) -> OptionInfo:
    """Make an option that is the path of a file to read."""
    option: OptionInfo = typer.Option(flag, metavar="FILE", help=text, parser=checked(flag, file))
    return option


def format_option(*formats: str, usual: str) -> OptionInfo:
    """Make the option `--output` of a command with formats of its own."""
    option: OptionInfo = typer.Option(
        "--output",
        "-o",
        metavar="FORMAT",
        help=f"Format: {', '.join(formats)} [default: {usual}]",
        parser=one_of("--output", "", *formats),
    )
    return option
