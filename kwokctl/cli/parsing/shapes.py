"""Makes options that commands have in one shape, each with what it means there."""

import typer
from typer.models import OptionInfo

from kwokctl.cli.parsing.values import checked, namespace_name, one_of, whole_number
from kwokctl.config.checks import file


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
