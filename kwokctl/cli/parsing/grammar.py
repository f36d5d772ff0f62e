"""The classes that make Typer's commands read words, and write help, as kwokctl does."""

import os
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from kwokctl.cli.output.characters import encodable
from kwokctl.cli.output.standard_streams import is_screen
from kwokctl.cli.parsing import command_words, hints
from kwokctl.cli.parsing.parameters import (
    Parameter,
    by_spelling,
    options_of,
    parameters_of,
)
from kwokctl.cli.parsing.typer_parts import AnyCommand, Context, HelpFormatter, for_typer
from kwokctl.errors import UsageError

_OPTIONS = "Options"
_WIDEST_NAME = 34
_NARROW = 50
"""Columns without room for names and texts side by side."""
_MARGIN = 2
_HELP = ("--help", "-h")
_ALL = "kwokctl.all_options"
"""The key at which a context says that help is to show all options."""


class CliCommand(TyperCommand):
    """A command whose flags are read as the original reads them."""

    common: Collection[str] = ()
    """The options that help shows unless all are asked for; empty where it shows all."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the words of this command."""
        if self.common:
            args = _without_all(ctx, args)
        if not ctx.resilient_parsing:
            args = command_words.rewrite(args, self.get_params(for_typer(ctx)), ctx.command_path)
        return super().parse_args(for_typer(ctx), args)

    def get_help(self, ctx: Context) -> str:
        """Return the help in characters that standard output has."""
        _fit(ctx)
        return encodable(super().get_help(for_typer(ctx)), sys.stdout.encoding)

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write arguments and options, one section a panel; of many only those that are common."""
        params = self.get_params(for_typer(ctx))
        if self.common and not ctx.meta.get(_ALL):
            params = [each for each in params if self._is_common(each)]
        _write_options(params, formatter)

    def _is_common(self, param: object) -> bool:
        spellings = {*getattr(param, "opts", ()), *getattr(param, "secondary_opts", ())}
        return bool(spellings & {*self.common, "--help"})

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the examples, each on a line of its own."""
        if lines := examples(self):
            with formatter.section(_heading("Examples")):
                for line in lines:
                    formatter.write(f"  {line}\n")
        if self.common and not ctx.meta.get(_ALL):
            number = sum(not each.hidden for each in options_of(self.get_params(for_typer(ctx))))
            formatter.write_paragraph()
            formatter.write_text(f"All {number} options: '{ctx.command_path} --help all'")


def long_command(common: Collection[str]) -> type[CliCommand]:
    """Return the class of a command with many options, whose help begins with the common ones."""
    return type("LongCommand", (CliCommand,), {"common": frozenset(common)})


def show_all(ctx: Context) -> None:
    """Make help show all options."""
    ctx.meta[_ALL] = True


def _without_all(ctx: Context, args: list[str]) -> list[str]:
    """Remove the word that asks for all options: `--help all`."""
    for number, word in enumerate(args[:-1]):
        if word in _HELP and args[number + 1] == "all":
            show_all(ctx)
            return [*args[: number + 1], *args[number + 2 :]]
    return args


class CliGroup(TyperGroup):
    """A command that has commands below it."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the words up to the command below this one."""
        if not ctx.resilient_parsing:
            own, below = command_words.rewrite_leading(
                args, self.get_params(for_typer(ctx)), ctx.command_path, self._place_of
            )
            args = [*own, *below]
        return super().parse_args(for_typer(ctx), args)

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command that the first word names; UsageError if there is none."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            names = [name for name, command in self.commands.items() if not command.hidden]
            elsewhere = [f"kwokctl {path}" for path in _paths_of(ctx.find_root().command, args[0])]
            hint = hints.for_command(
                ctx.command_path,
                args[0],
                names,
                following="".join(args[1:2]),
                elsewhere=elsewhere,
            )
            raise UsageError(f"'{ctx.command_path}' has no command '{args[0]}'", hint=hint)
        return super().resolve_command(for_typer(ctx), args)

    def _place_of(self, option: str, words_after: Sequence[str]) -> str | None:
        """Return the command below this one that has an option, best of all one that is named."""
        paths = list(_paths_with(self, option))
        named = (path for path in paths if set(path.split()) <= set(words_after))
        return next(named, next(iter(paths), None))

    def get_help(self, ctx: Context) -> str:
        """Return the help in characters that standard output has."""
        _fit(ctx)
        return encodable(super().get_help(for_typer(ctx)), sys.stdout.encoding)

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write commands, then options, one section a panel."""
        self.format_commands(ctx, formatter)
        _write_options(self.get_params(for_typer(ctx)), formatter)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands, one section a panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(for_typer(ctx)):
            command = self.commands[name]
            if not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or "Commands"
                panels.setdefault(panel, []).append((name, summary(command)))
        _write_sections(panels, formatter)


class UsualGroup(CliGroup):
    """A group of which one command need not be named: `measure FILE` is `measure report FILE`."""

    of_options: str = ""
    """The command that is meant where an option of its own comes first, or `--`."""
    of_words: str = ""
    """The command that is meant where a word comes first that names no command."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the words up to the command, which is added if it is not named."""
        return super().parse_args(ctx, args if ctx.resilient_parsing else self._named(ctx, args))

    def _named(self, ctx: Context, args: list[str]) -> list[str]:
        own = by_spelling(self.get_params(for_typer(ctx)))
        place = 0
        while place < len(args):
            word = args[place]
            name, has_value, _ = word.partition("=")
            option = own.get(name) or own.get(word[:2] if word[:2] != "--" else "")
            if len(word) < 2 or not word.startswith("-"):
                return args if word in self.commands else _inserted(args, place, self.of_words)
            if option is None:
                return _inserted(args, place, self.of_options)
            is_whole = option.is_flag or has_value or name not in own
            place += 1 if is_whole else 2
        return args


def usual_group(of_options: str, of_words: str) -> type[UsualGroup]:
    """Return the class of a group with commands that need not be named."""
    return type("UsualGroup", (UsualGroup,), {"of_options": of_options, "of_words": of_words})


def _inserted(words: list[str], place: int, word: str) -> list[str]:
    return [*words[:place], word, *words[place:]]


class RawCommand(TyperCommand):
    """A tool that is passed through: every word after its name is the tool's."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Keep the words as they are, `-h` and `--` too."""
        untouched = list(args)
        ctx.args = untouched
        return untouched

    def collect_usage_pieces(self, ctx: object) -> list[str]:
        """Return what may follow the command's name."""
        return ["ARGS..."]

    def format_options(self, ctx: object, formatter: object) -> None:
        """Write none: even `-h` is the tool's."""


def _paths_with(group: TyperGroup, option: str) -> Iterator[str]:
    """Yield the commands below a group that have an option."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from (f"{name} {path}" for path in _paths_with(command, option))
        elif any(
            option in (*p.opts, *p.secondary_opts) and not p.hidden
            for p in options_of(command.params)
        ):
            yield name


def _paths_of(root: AnyCommand, name: str) -> list[str]:
    """Return the commands of a name below a command, those that are the least far below it."""
    groups: list[tuple[str, AnyCommand]] = [("", root)]
    while groups:
        below: list[tuple[str, AnyCommand]] = [
            (f"{path} {each}".lstrip(), command)
            for path, group in groups
            if isinstance(group, TyperGroup)
            for each, command in group.commands.items()
            if not command.hidden
        ]
        if found := [path for path, _ in below if path.rpartition(" ")[2] == name]:
            return found
        groups = below
    return []


def summary(command: AnyCommand) -> str:
    """Return the first line of a command's help."""
    return (command.help or "").partition("\n")[0].rstrip(".")


def examples(command: AnyCommand) -> list[str]:
    """Return the commands with which a command's help ends."""
    return (command.epilog or "").splitlines()


def help_record(param: Parameter) -> tuple[str, str] | None:
    """Return how a parameter is written and what it means; None if it is hidden."""
    if param.hidden:
        return None
    if isinstance(param, TyperArgument):
        name = param.metavar or str(param.name).upper()
        return (name if param.required else f"[{name}]"), param.help or ""
    if param.name == "help":
        return "-h, --help", "Show this help"
    short_first = sorted(param.opts, key=lambda spelling: spelling.startswith("--"))
    names = ", ".join(short_first)
    if param.secondary_opts:
        names = names.replace("--", "--[no-]")
    return names if param.is_flag else f"{names} {param.metavar}", param.help or ""


def panel_of(param: Parameter) -> str:
    """Return the section of the help that lists a parameter."""
    if isinstance(param, TyperArgument):
        return "Arguments"
    return param.rich_help_panel or _OPTIONS


def _write_options(params: Iterable[object], formatter: HelpFormatter) -> None:
    panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], _OPTIONS: []}
    help_option = []
    for param in parameters_of(params):
        record = help_record(param)
        if record and param.name == "help":
            help_option.append(record)
        elif record:
            panels.setdefault(panel_of(param), []).append(record)
    panels[next(reversed(panels))] += help_option
    _write_sections(panels, formatter)


def _write_sections(
    sections: Mapping[str, list[tuple[str, str]]], formatter: HelpFormatter
) -> None:
    for title, rows in sections.items():
        if rows:
            with formatter.section(_heading(title)):
                is_narrow = formatter.width < _NARROW
                formatter.write_dl(rows, col_max=0 if is_narrow else _WIDEST_NAME)


def _fit(ctx: Context) -> None:
    """Fit help to a terminal that is narrower than the parser's minimum."""
    columns = shutil.get_terminal_size().columns
    if columns < _NARROW + _MARGIN:
        ctx.terminal_width = columns - _MARGIN


def _heading(title: str) -> str:
    return typer.style(title, bold=True) if is_screen(sys.stdout, os.environ) else title
