"""Answers a shell that completes the words of a command line: commands, options, values, files, words of other tools.

The first line of the answer says what may come here. After `words` there is a line for each: the word,
a tab, its meaning; with `nospace` behind it a word is not yet whole. `files` may be followed by the
endings that they must have; `folders` are only those.

Every program made with Cobra, such as kubectl, answers `__complete` with a line for each word, and then `:` and a sum
of directives (https://github.com/spf13/cobra/blob/main/site/content/completions/_index.md).
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from typer.core import TyperArgument, TyperGroup, TyperOption

from kwokctl.cli.invocation import DEFAULT_NAME
from kwokctl.cli.output import results
from kwokctl.cli.parsing import complete
from kwokctl.cli.parsing.command_words import MAY_STAND_ALONE
from kwokctl.cli.parsing.commands import EVERYWHERE
from kwokctl.cli.parsing.grammar import RawCommand, UsualGroup, panel_of, summary
from kwokctl.cli.parsing.parameters import Parameter, arguments_of, by_spelling
from kwokctl.cli.parsing.typer_parts import AnyCommand
from kwokctl.cli.verbs.completion import VARIABLE
from kwokctl.cli.verbs.help_command import NAME as HELP
from kwokctl.errors import KwokctlError
from kwokctl.host.paths import cache_dir

_ERROR, _NO_SPACE, _NO_FILES, _EXTENSIONS, _FOLDERS = 1, 2, 4, 8, 16
_PATIENCE = 10.0
"""Seconds; kubectl itself asks the API server for names."""


class Tool(msgspec.Struct, frozen=True):
    """The other program that takes these words: it completes them itself."""

    name: str
    cluster: str
    words: tuple[str, ...]

    def answer(self) -> str:
        """Return the answer to the shell; empty if there is none."""
        import asyncio  # slow to load, and other words need no event loop

        program = shutil.which(self.name) or _stored(self.name)
        return translated(asyncio.run(self._said(program))) if program else ""

    async def _said(self, program: str) -> str:
        import asyncio

        from kwokctl.host import process

        os.environ.pop(VARIABLE, None)
        env = {"KUBECONFIG": complete.kubeconfig(self.cluster)}
        try:
            async with asyncio.timeout(_PATIENCE):
                return await process.run(program, "__complete", *self.words, env=env)
        except (KwokctlError, OSError):
            return ""


def translated(said: str) -> str:
    """Return what a tool has answered as kwokctl answers shells."""
    *lines, last = said.splitlines() or [""]
    if not (last.startswith(":") and last[1:].isdigit()) or int(last[1:]) & _ERROR:
        return ""
    directives = int(last[1:])
    if directives & _EXTENSIONS:
        return " ".join(("files", *_extensions(lines)))
    if directives & _FOLDERS:
        return "folders"
    if not lines and not directives & _NO_FILES:
        return "files"
    kind = "words nospace" if directives & _NO_SPACE else "words"
    return "\n".join((kind, *lines))


def _extensions(lines: Sequence[str]) -> list[str]:
    """Return the endings of files that a tool takes, without what shells could take for a pattern."""
    words = (line.strip().lstrip("*.") for line in lines)
    return [word for word in words if word.isalnum()]


def _stored(name: str) -> str | None:
    """Return the program that kwokctl has installed last."""
    found = list((cache_dir() / "store").glob(f"*/{name}/*/{name}"))
    return str(max(found, key=_installed)) if found else None


def _installed(program: Path) -> float:
    return program.stat().st_mtime


_EMPTY = '""'
"""The form of an empty last word in PowerShell: an empty word before 7.3, these two characters since
then
(https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_preference_variables#psnativecommandargumentpassing)."""
_ANY = -1
"""Stands for any number of words of an argument."""
Offer = tuple[str, str]
"""A word, and what it means, empty if that is not known."""
Offers = Tool | tuple[Offer, ...] | Literal["files", "folders"]
"""The last two mean that the word is a path."""


class _Place(msgspec.Struct):
    """A place in the command line, reached word by word."""

    command: AnyCommand
    pending: TyperOption | None = None
    """The option whose value comes next."""
    plain: int = 0
    """The number of arguments of the command that have been given."""
    only_plain: bool = False
    given: dict[str | None, str] = msgspec.field(default_factory=dict)
    """The options so far, by name, with the value of those that have one."""

    def pass_over(self, word: str) -> None:
        """Advance by one word; LookupError if there is no command of that name."""
        if self.pending and not (word.startswith("-") and self.pending_may_stand_alone):
            self.given[self.pending.name] = word
            self.pending = None
        elif word == "--" and not self.only_plain:
            self.only_plain = True
            if isinstance(self.command, UsualGroup):
                self.command = self.command.commands[self.command.of_options]
        elif word.startswith("-") and len(word) > 1 and not self.only_plain:
            self._option(word)
        elif isinstance(self.command, UsualGroup) and word not in self.command.commands:
            self.command = self.command.commands[self.command.of_words]
            self.plain += 1
        elif isinstance(self.command, TyperGroup):
            self.command = self.command.commands[word]
        else:
            self.plain += 1

    @property
    def pending_may_stand_alone(self) -> bool:
        return self.pending is not None and self.pending.opts[0] in MAY_STAND_ALONE

    @property
    def options(self) -> Mapping[str, TyperOption]:
        """The options that may be given here, by each of their spellings."""
        own = by_spelling(self.command.params)
        if isinstance(self.command, UsualGroup):
            return by_spelling(self.command.commands[self.command.of_options].params) | own
        return own

    @property
    def argument(self) -> TyperArgument | None:
        """The argument that comes next; None at the end."""
        arguments = arguments_of(self.command.params)
        if arguments[self.plain :]:
            return arguments[self.plain]
        return arguments[-1] if arguments and arguments[-1].nargs == _ANY else None

    @property
    def cluster(self) -> str:
        """The name of the cluster that the command is for."""
        return str(self.given.get("name") or DEFAULT_NAME)

    def _option(self, word: str) -> None:
        name, has_value, value = word.partition("=")
        option = self.options.get(name)
        self.pending = None
        if option is not None:
            if isinstance(self.command, UsualGroup) and option not in self.command.params:
                self.command = self.command.commands[self.command.of_options]
            self.given[option.name] = value
            if not (option.is_flag or has_value):
                self.pending = option


def offers(tree: AnyCommand, words: Sequence[str]) -> Offers:
    """Return the completions of the last word, which may be empty."""
    *before, begun = words or [""]
    place = _Place(tree)
    for number, word in enumerate(before):
        try:
            place.pass_over(word)
        except LookupError:
            return ()
        if isinstance(place.command, RawCommand) and place.command.name == HELP:
            return offers(tree, words[number + 1 :])
        if isinstance(place.command, RawCommand):
            return Tool(str(place.command.name), place.cluster, tuple(words[number + 1 :]))
    return _at(place, begun)


def _at(place: _Place, begun: str) -> Offers:
    is_option = begun.startswith("-") and not place.only_plain
    if place.pending and not (is_option and place.pending_may_stand_alone):
        return _values(place, place.pending, begun)
    if is_option and "=" in begun:
        name = begun.partition("=")[0]
        option = place.options.get(name)
        return _values(place, option, begun, prefix=f"{name}=") if option else ()
    if is_option:
        return tuple(_options(place, begun))
    if isinstance(place.command, TyperGroup):
        return tuple(_commands(place.command, begun))
    if place.argument is not None:
        return _values(place, place.argument, begun)
    return tuple(_options(place, begun))


def _values(place: _Place, param: Parameter, begun: str, *, prefix: str = "") -> Offers:
    """Offer the values of a parameter; in a list, those that the last comma is before."""
    if complete.is_list(param):
        before, comma, _ = begun.removeprefix(prefix).rpartition(",")
        prefix += before + comma
    words = [prefix + word for word in complete.values(param, place.cluster)]
    offered = tuple((word, "") for word in words if word.startswith(begun))
    return offered or complete.paths(param) or ()


def _options(place: _Place, begun: str) -> Iterator[Offer]:
    """Offer the options that can still be given; a command's own before those of every command."""
    shown = [param for param in dict.fromkeys(place.options.values()) if not param.hidden]
    shown.sort(key=lambda param: panel_of(param) == EVERYWHERE)
    for param in shown:
        if param.name in place.given and not param.multiple:
            continue
        for spelling in (*param.opts, *param.secondary_opts):
            if spelling.startswith("--") and spelling.startswith(begun):
                yield spelling, param.help or ""


def _commands(group: TyperGroup, begun: str) -> Iterator[Offer]:
    for name, command in group.commands.items():
        if name.startswith(begun) and not command.hidden:
            yield name, summary(command)


def answer(tree: AnyCommand, words: Sequence[str]) -> None:
    """Print the completions of the last word."""
    if words and words[-1] == _EMPTY:
        words = [*words[:-1], ""]
    found = offers(tree, words)
    if isinstance(found, str):
        results.emit(found)
    elif isinstance(found, Tool):
        results.emit(found.answer())
    else:
        lines = (f"{word}\t{text}".rstrip() for word, text in found)
        results.emit("\n".join(["words", *lines]))
