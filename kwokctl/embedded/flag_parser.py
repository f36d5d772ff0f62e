"""Parses the flags of an embedded process as the original's controller spells them."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import msgspec

from kwokctl.config import flag_words
from kwokctl.errors import UsageError
from kwokctl.host.ports import ANY


class DescribedFlag(msgspec.Struct, frozen=True, kw_only=True):
    """A flag as a reference shows it."""

    name: str
    names: tuple[str, ...]
    """With its short spelling."""
    metavar: str
    text: str
    key: str
    """Under which its value is kept."""


class RefusedFlag(argparse.Action):
    """A flag that is known, has no effect here, and is refused with a remedy."""

    def __init__(self, *, remedy: str, **words: Any) -> None:
        """Give `remedy` as the hint."""
        super().__init__(**words)
        self._remedy = remedy

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Refuse it by the name that was written."""
        raise UsageError(f"'{option_string}' is not supported", hint=self._remedy)


class FlagParser(argparse.ArgumentParser):
    """A parser for which whatever is wrong is a UsageError."""

    def actions(self) -> Sequence[argparse.Action]:
        """Return all flags, also those that are refused."""
        return tuple(self._actions)

    def described(self) -> Iterator[DescribedFlag]:
        """Yield the flags that help shows."""
        for each in self._actions:
            if each.help and each.help != argparse.SUPPRESS and "--help" not in each.option_strings:
                yield DescribedFlag(
                    name=each.option_strings[-1],
                    names=tuple(each.option_strings),
                    metavar=_metavar(each),
                    text=each.help,
                    key=each.dest,
                )

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong."""
        raise UsageError(message, hint="--help lists all flags")


def _metavar(action: argparse.Action) -> str:
    if action.choices:
        return "|".join(map(str, action.choices))
    takes_none = isinstance(action, RefusedFlag) or action.nargs == 0
    return "" if takes_none else str(action.metavar or "VALUE")


def switch(text: str) -> bool:
    """Read a switch as Go's flags have it."""
    try:
        return flag_words.read_switch(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is neither true nor false") from None


SWITCH: dict[str, Any] = {"type": switch, "nargs": "?", "const": True, "metavar": "BOOL"}
"""A flag that may stand alone, or be given a value."""


def whole(text: str) -> int:
    """Read a whole number."""
    try:
        return flag_words.read_whole(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None


def log_level(text: str) -> int:
    """Read a log level: a number, or a name with or without one."""
    names = {"debug": 4, "info": 0, "warn": -1, "warning": -1, "error": -2}
    head, sign, tail = text.lower().partition("+") if "+" in text else (text.lower(), "", "")
    if head in names:
        return names[head] + (int(tail) if sign and tail.isascii() and tail.isdecimal() else 0)
    try:
        return flag_words.read_whole(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a log level") from None


def parse_address(text: str) -> tuple[str, int]:
    """Split "host:port"; the host may be empty for all addresses, or in brackets."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"'{text}' is not an address to serve", hint="write host:port")
    return host.strip("[]") or ANY, int(port)
