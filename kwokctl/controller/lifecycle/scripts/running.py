"""Goes through a script and finds out how long it runs, and with what it exits.

Commands that are not known take no time and succeed; the result says that there were some. What depends
on their output, or on files that the script itself does not write, is unreadable.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import msgspec

from kwokctl.controller.lifecycle.scripts.expansion import ExpandingShell, whole_number
from kwokctl.controller.lifecycle.scripts.script_tree import (
    Both,
    Define,
    For,
    IfElse,
    Inner,
    Not,
    Piece,
    Simple,
    Tree,
    UnreadableError,
    Use,
    While,
    Word,
)
from kwokctl.controller.lifecycle.scripts.syntax import parsed

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_LENGTH = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([smhd]?)")
_MOST = 5_000
"""Commands of a script that are gone through: one with more is taken to run on."""
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_TERM = frozenset(("TERM", "SIGTERM", "15"))
_FILE_TESTS = frozenset(("-e", "-f", "-r", "-s", "-w", "-x"))
_NUMBER_TESTS: Mapping[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b, "-ne": lambda a, b: a != b, "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b, "-gt": lambda a, b: a > b, "-ge": lambda a, b: a >= b,
}  # fmt: skip
_TEXT_TESTS: Mapping[str, Callable[[str, str], bool]] = {
    "=": lambda a, b: a == b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
_SILENT = frozenset(("echo", "printf", ":", "set", "export", "cd", "umask", "mkdir"))
"""Commands that take no time and succeed, whatever their arguments are."""


def slept(lengths: Sequence[str]) -> float | None:
    """Return the seconds of the arguments of `sleep`, which are added; None if it refuses them."""
    total = 0.0
    for each in lengths:
        if each in {"inf", "infinity"}:
            total = math.inf
            continue
        found = _LENGTH.fullmatch(each)
        if found is None:
            return None
        total += float(found[1]) * _UNITS[found[2]]
    return total if lengths else None


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a script."""

    seconds: float
    """Infinite if it does not end by itself."""
    code: int = 0
    is_certain: bool = True
    """Whether all its commands are known."""
    files: frozenset[str] = frozenset()
    """Those that are there afterwards because of it."""
    stop: float = math.inf
    """The seconds until it ends after SIGTERM; infinite if it does not handle the signal."""
    stop_code: int = 0


class _ExitError(Exception):
    """The script ends."""


class _EndlessError(Exception):
    """It never ends."""


def run_script(
    script: str,
    arguments: Sequence[str] = (),
    *,
    variables: Mapping[str, str] | None = None,
    files: frozenset[str] = frozenset(),
    stops_at_errors: bool = False,
) -> Ran:
    """Go through a script; `files` are there that it has written before.

    Raises UnreadableError, and RecursionError for one that calls itself without end.
    """
    shell = _Shell({**(variables or {}), **_numbered(arguments)}, files)
    shell.stops_at_errors = stops_at_errors
    return shell.script(parsed(script))


def runs_on(words: Sequence[str]) -> bool:
    """Return whether a program is known to run until it is stopped."""
    match words:
        case ["pause", *_]:
            return True
        case ["tail", *options]:
            return any(re.fullmatch(r"-[a-zA-Z0-9]*[fF]|--follow.*", each) for each in options)
        case _:
            return False


def _numbered(arguments: Sequence[str]) -> Mapping[str, str]:
    return {"$": "1", "!": "1", **{str(number): each for number, each in enumerate(arguments)}}


class _Shell(ExpandingShell):
    """The state of a shell while it goes through a script."""

    def __init__(self, variables: dict[str, str], files: frozenset[str]) -> None:
        super().__init__(variables)
        self._files = set(files)
        self._asked: set[str] = set()
        """The files that it has looked for."""
        self._functions: dict[str, Tree] = {}
        self._seconds, self._steps = 0.0, 0
        self._background = 0.0
        """The time at which the last command in the background ends."""
        self._wait = 0.0
        """The duration of the last command: a shell handles a signal only after it."""
        self._is_certain = True
        self._handler: str | None = None
        self.stops_at_errors = False

    def script(self, tree: Tree) -> Ran:
        """Go through a whole script."""
        try:
            self._run(tree)
        except _ExitError:
            pass
        except _EndlessError:
            self._seconds = math.inf
        if self._asked - self._files:
            raise UnreadableError
        stop, stop_code = self._stop()
        return Ran(
            seconds=self._seconds,
            code=self._code,
            is_certain=self._is_certain,
            files=frozenset(self._files),
            stop=stop,
            stop_code=stop_code,
        )

    def _stop(self) -> tuple[float, int]:
        """Return how long it takes to handle SIGTERM, and with what it exits then."""
        if not self._handler:
            return math.inf, 0
        after = _Shell({}, frozenset(self._files))
        after._variables, after._functions = dict(self._variables), self._functions
        after._code = self._code
        ran = after.script(parsed(self._handler))
        return self._wait + ran.seconds, ran.code

    def _run(self, tree: Tree) -> None:
        self._count()
        match tree:
            case Simple():
                self._simple(tree)
            case Both():
                self._both(tree)
            case Not(body):
                self._try(body)
                self._code = int(not self._code)
            case Inner(body):
                with suppress(_ExitError):
                    self._run(body)
            case IfElse(condition, then, otherwise):
                self._try(condition)
                self._run(otherwise if self._code else then)
            case While():
                self._while(tree)
            case For(name, words, body):
                for each in [text for word in words for text in self._expanded(word)]:
                    self._variables[name] = each
                    self._run(body)
            case Define(name, body):
                self._functions[name] = body

    def _count(self) -> None:
        self._steps += 1
        if self._steps > _MOST:
            raise _EndlessError

    def _try(self, condition: Tree) -> None:
        """Run what may fail, whatever `set -e` says."""
        before, self.stops_at_errors = self.stops_at_errors, False
        self._run(condition)
        self.stops_at_errors = before

    def _both(self, tree: Both) -> None:
        match tree.between:
            case "&":
                began = self._seconds
                with_end = self._aside(tree.first)
                self._background = max(self._background, began + with_end)
                self._code = 0
                self._run(tree.second)
            case ";":
                self._run(tree.first)
                self._run(tree.second)
            case _:
                self._try(tree.first)
                if (self._code == 0) is (tree.between == "&&"):
                    self._run(tree.second)

    def _aside(self, tree: Tree) -> float:
        """Return how long a command runs in the background."""
        match tree:
            case Both(first, between, second) if between in (";", "&"):
                self._run(first)
                return self._aside(second)
        began, known = self._seconds, self._is_certain
        try:
            self._run(tree)
            took = self._seconds - began
        except _EndlessError:
            took = math.inf
        except _ExitError:
            took = self._seconds - began
        if self._is_certain is not known:
            took = math.inf  # a server, most likely
        self._seconds = began
        return took

    def _while(self, tree: While) -> None:
        while True:
            before = (dict(self._variables), set(self._files))
            self._try(tree.condition)
            if self._code:
                self._code = 0
                return
            self._run(tree.body)
            if before == (self._variables, self._files):
                raise _EndlessError

    def _simple(self, command: Simple) -> None:
        words = list(command.words)
        assigned = 0
        while words and (found := self._assignment(words[0])):
            name, value = found
            self._variables[name] = value
            assigned += 1
            del words[0]
        for each in command.writes:
            self._write(each)
        self._code = 0
        if words:
            self._command(words)
        if self._code and self.stops_at_errors:
            raise _ExitError

    def _assignment(self, word: Word) -> tuple[str, str | None] | None:
        first = word[0] if word else None
        if first is None or first.is_quoted or first.use is not Use.TEXT:
            return None
        found = _ASSIGNMENT.match(first.text)
        if found is None:
            return None
        rest = Piece(Use.TEXT, first.text[found.end() :], is_quoted=True)
        try:
            value = self._text((rest, *word[1:]))
        except UnreadableError:
            value = None
        return found[1], value

    def _write(self, word: Word) -> None:
        try:
            self._files.add(self._text(word))
        except UnreadableError:
            self._is_certain = False

    def _command(self, words: Sequence[Word]) -> None:
        name = self._text(words[0]).rpartition("/")[2]
        if name in self._functions:
            self._run(self._functions[name])
            return
        if name in _SILENT and name != "set":
            return
        known: dict[str, Callable[[list[str]], None]] = {
            "sleep": self._sleep, "exit": self._exit, "return": self._exit, "true": self._pass,
            "false": self._fail, "test": self._test, "[": self._test_closed,
            "[[": self._test_closed, "trap": self._trap, "touch": self._touch, "rm": self._remove,
            "wait": self._await, "set": self._set, "exec": self._replace,
        }  # fmt: skip
        if (act := known.get(name)) is not None:
            act([text for word in words[1:] for text in self._expanded(word)])
        elif runs_on([name, *self._texts(words[1:])]):
            self._wait = math.inf
            raise _EndlessError
        else:
            self._is_certain = False
            self._code = int(name == "read")  # of an input that is empty

    def _texts(self, words: Sequence[Word]) -> list[str]:
        try:
            return [text for word in words for text in self._expanded(word)]
        except UnreadableError:
            return []

    def _sleep(self, lengths: list[str]) -> None:
        seconds = slept(lengths)
        if seconds is None:
            raise UnreadableError
        self._wait = seconds
        if seconds == math.inf:
            raise _EndlessError
        self._seconds += seconds

    def _exit(self, words: list[str]) -> None:
        if words and not (words[0].isdecimal() and int(words[0]) < 256):
            raise UnreadableError
        self._code = int(words[0]) if words else self._code
        raise _ExitError

    def _pass(self, _: list[str]) -> None:
        """Succeed."""

    def _fail(self, _: list[str]) -> None:
        self._code = 1

    def _set(self, words: list[str]) -> None:
        for each in words:
            if re.fullmatch(r"[-+][a-z]*e[a-z]*", each):
                self.stops_at_errors = each[0] == "-"

    def _trap(self, words: list[str]) -> None:
        if words and _TERM & set(words[1:]):
            self._handler = words[0] if words[0] != "-" else None

    def _touch(self, words: list[str]) -> None:
        self._files.update(words)

    def _remove(self, words: list[str]) -> None:
        self._files.difference_update(words)

    def _await(self, _: list[str]) -> None:
        """Wait for what runs in the background; a signal is handled meanwhile."""
        self._wait = 0.0
        if self._background == math.inf:
            raise _EndlessError
        self._seconds = max(self._seconds, self._background)

    def _replace(self, words: list[str]) -> None:
        """Replace the shell by another program (`exec`)."""
        if not words:
            return
        self._handler = None
        pieces = [(Piece(Use.TEXT, each, is_quoted=True),) for each in words]
        self._command(pieces)
        raise _ExitError

    def _test_closed(self, words: list[str]) -> None:
        if words[-1:] not in (["]"], ["]]"]):
            raise UnreadableError
        self._test(words[:-1])

    def _test(self, words: list[str]) -> None:
        self._code = int(not self._holds(words))

    def _holds(self, words: list[str]) -> bool:
        match words:
            case ["!", *rest]:
                return not self._holds(rest)
            case [first, test, second] if test in _TEXT_TESTS:
                return _TEXT_TESTS[test](first, second)
            case [first, test, second] if test in _NUMBER_TESTS:
                return _NUMBER_TESTS[test](whole_number(first), whole_number(second))
            case [test, path] if test in _FILE_TESTS:
                return self._is_there(path)
            case ["-z", text]:
                return not text
            case [] | [_] | ["-n", _]:
                return bool(words and words[-1])
            case _:
                raise UnreadableError

    def _is_there(self, path: str) -> bool:
        """Return whether the script has written a file; in the end it must have, or nothing is known."""
        self._asked.add(path)
        return path in self._files
