"""Reads the words of one command as the original reads them, and writes them as Typer reads them.

A switch may carry `=true` or `=false`, `-o=json` is the same as `-o json`, and mistakes are
explained in kwokctl's style: an unknown option with a guess of what was meant, a value or an
argument that is missing, a word too many.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from typer.core import TyperOption

from kwokctl.cli.parsing import hints
from kwokctl.cli.parsing.option_values import AS_IT_MOVES, read_switch
from kwokctl.cli.parsing.parameters import arguments_of, by_spelling
from kwokctl.errors import UsageError

Elsewhere = Callable[[str, Sequence[str]], str | None]
MAY_STAND_ALONE = {"--wait": AS_IT_MOVES}
"""Options that may be given without their value, and the one that they then have."""


def _nowhere(_option: str, _words_after: Sequence[str]) -> str | None:
    return None


def rewrite(words: Sequence[str], params: Iterable[object], command: str) -> list[str]:
    """Check and rewrite all words of `command`, whose Typer parameters are `params`."""
    known = list(params)
    reader = _Reader(words, known, command)
    reader.read()
    reader.check()
    return reader.written


def rewrite_leading(
    words: Sequence[str], params: Iterable[object], command: str, elsewhere: Elsewhere = _nowhere
) -> tuple[list[str], list[str]]:
    """Rewrite the options in front of the first plain word; return them and the words from there.

    `elsewhere` returns the command below this one to which an option belongs, given the words after it.
    """
    reader = _Reader(words, list(params), command, elsewhere)
    reader.read(leading=True)
    return reader.written, reader.left


class _Reader:
    """Goes through the words once."""

    def __init__(
        self,
        words: Sequence[str],
        params: Sequence[object],
        command: str,
        elsewhere: Elsewhere = _nowhere,
    ) -> None:
        self._all = tuple(words)
        self.left = list(words)
        self.written: list[str] = []
        self._plain: list[str] = []
        self._given: set[str | None] = set()
        self._command = command
        self._elsewhere = elsewhere
        self._arguments = arguments_of(params)
        self._options = by_spelling(params)

    def read(self, *, leading: bool = False) -> None:
        """Rewrite every word, or with `leading` only the options before the first plain word."""
        while self.left:
            word = self.left[0]
            if word == "--":
                self._plain += self.left[1:]
                self.written += self.left
                self.left = []
            elif len(word) > 1 and word.startswith("-"):
                self._option(self.left.pop(0))
            elif leading:
                return
            else:
                self._plain.append(word)
                self.written.append(self.left.pop(0))

    def check(self) -> None:
        """Raise UsageError if an argument or an option is missing, or if there is one too many."""
        if "help" in self._given:
            return
        needed = [p for p in self._arguments if p.required]
        if len(self._plain) < len(needed):
            missing = needed[len(self._plain)]
            raise self._wrong(
                f"'{self._command}' needs {missing.metavar or str(missing.name).upper()}"
            )
        for option in self._options.values():
            if option.required and option.name not in self._given:
                raise self._wrong(f"'{self._command}' needs '{option.opts[0]} {option.metavar}'")
        takes_all = any(p.nargs == -1 for p in self._arguments)
        if not takes_all and len(self._plain) > len(self._arguments):
            self._too_many()

    def _option(self, word: str) -> None:
        name, value = self._parted(word)
        option = self._options.get(name)
        if option is None:
            hint = hints.for_option(self._command, name, self._options)
            if path := self._elsewhere(name, self.left):
                hint = f"write it after the command: '{self._command} {path} {name}'"
            raise self._wrong(f"'{self._command}' has no option '{name}'", hint)
        self._given.add(option.name)
        if option.is_flag:
            self._switch(name, value, option)
        else:
            self.written += [name, self._next_value(name) if value is None else value]

    def _parted(self, word: str) -> tuple[str, str | None]:
        """Part `--name=value`, `-n=value` and `-nvalue`."""
        if word.startswith("--"):
            name, has_value, value = word.partition("=")
            return name, value if has_value else None
        name, rest = word[:2], word[2:]
        option = self._options.get(name)
        if option is not None and option.is_flag and rest and not rest.startswith("="):
            # Several short switches in one word: what is left is read next.
            self.left.insert(0, f"-{rest}")
            return name, None
        return name, rest.removeprefix("=") if rest else None

    def _switch(self, name: str, value: str | None, option: TyperOption) -> None:
        if value is None or read_switch(name, value):
            self.written.append(name)
        elif option.secondary_opts:
            is_positive = name in option.opts
            self.written.append(option.secondary_opts[0] if is_positive else option.opts[0])

    def _next_value(self, name: str) -> str:
        alone = MAY_STAND_ALONE.get(name)
        if alone and (not self.left or self.left[0].startswith("-")):
            return alone
        if not self.left:
            raise self._wrong(f"'{name}' needs a value")
        return self.left.pop(0)

    def _too_many(self) -> None:
        word = self._plain[len(self._arguments)]
        hint = None if self._arguments else f"name a cluster with '--name {word}'"
        if switch := self._switch_before(word):
            hint = f"a switch takes its value with '=': '{switch}={word}'"
        raise self._wrong(f"'{self._command}' takes no argument '{word}'", hint)

    def _switch_before(self, word: str) -> str | None:
        """Return the switch that a plain `true` or `false` was written behind."""
        try:
            read_switch("", word)
        except UsageError:
            return None
        pairs = pairwise(self._all)
        switches = (name for name, value in pairs if value == word and name in self._options)
        return next((name for name in switches if self._options[name].is_flag), None)

    def _wrong(self, message: str, hint: str | None = None) -> UsageError:
        return UsageError(message, hint=hint or f"see '{self._command} --help'")
