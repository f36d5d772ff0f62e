"""Holds the value of an option as it was given, and where, and checks it."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import get_origin

import msgspec

from kwokctl.artifacts.versions import kube_version
from kwokctl.config.checks import is_file
from kwokctl.config.declaring import OptionValue, Spelling
from kwokctl.config.flag_words import read_number, read_switch, read_whole
from kwokctl.errors import ConfigError, KwokctlError, UsageError
from kwokctl.host.paths import expanded

_FILES = {"ARCHIVE", "FILE", "PROGRAM", "IMAGE-OR-FILE"}
_ON_OFF = {True: "on", False: "off"}
_READERS: Mapping[object, tuple[Callable[[str], OptionValue], str]] = {
    bool: (read_switch, "not true or false"),
    int: (read_whole, "not a whole number"),
    float: (read_number, "not a number"),
}
"""The readers of options that are not strings, and the words for errors about them."""


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """One value."""

    value: OptionValue
    """Of the type of its option, or the text in which a flag or a variable gives it."""
    place: str
    """As a message names it: `'--etcd-port'`, `KWOK_ETCD_PORT`, `kwok.yaml: options.etcdPort`."""
    is_flag: bool = False

    def __str__(self) -> str:
        """Write it as a message says it: `KWOK_ETCD_PORT is '99999'`."""
        value = ",".join(self.value) if isinstance(self.value, tuple) else self.value
        return f"{self.place} is '{value}'"

    def checked(self, spelling: Spelling) -> OptionValue:
        """Return the value as clusters keep it; raise UsageError or ConfigError for a wrong one."""
        value = self._read(self.value, spelling.type) if isinstance(self.value, str) else self.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            self._check_range(value, *spelling.within)
        elif isinstance(value, tuple):
            for item in value:
                self._check_text(item, spelling)
        elif isinstance(value, str):
            return self._checked_text(value, spelling)
        return value

    def _read(self, text: str, kind: object) -> OptionValue:
        """Return a text as the type of its option."""
        if get_origin(kind) is tuple:
            return tuple(word.strip() for word in text.split(",") if word.strip())
        if kind not in _READERS:
            return text
        read, problem = _READERS[kind]
        try:
            return read(text)
        except ValueError as e:
            raise self._wrong(text, problem) from e

    def _checked_text(self, text: str, spelling: Spelling) -> str:
        if spelling.choices:
            return self._choice(text, spelling)
        self._check_text(text, spelling)
        if spelling.metavar in _FILES:
            return whole_path(text)
        return kube_version(text) if spelling.field == "kube_version" else text

    def _check_text(self, text: str, spelling: Spelling) -> None:
        if fault := spelling.check(text):
            raise self._wrong(text, fault.problem, fault.hint)

    def _check_range(self, number: float, least: int, most: int) -> None:
        span = f"it must be from {least} to {most}"
        if number < least:
            raise self._wrong(number, f"less than {least}", span)
        if number > most:
            raise self._wrong(number, f"more than {most}", span)

    def _choice(self, text: str, spelling: Spelling) -> str:
        """Check a word that must be one of a few; a switch may be written as other switches are."""
        word = text.lower()
        if "off" in spelling.choices:
            with suppress(ValueError):
                word = _ON_OFF[read_switch(word)]
        if word not in spelling.choices:
            hint = f"choose from: {', '.join(spelling.choices)}"
            raise self._wrong(text, "not one of its values", hint)
        return word

    def _wrong(self, value: OptionValue, problem: str, hint: str | None = None) -> KwokctlError:
        made = UsageError if self.is_flag else ConfigError
        return made(f"{self.place} is '{value}', {problem}", hint=hint)


def whole_path(text: str) -> str:
    """Make the path of an existing file absolute: later commands may run elsewhere."""
    file, sign, member = text.partition("#")
    if not is_file(file):
        return text
    return f"{expanded(file).absolute()}{sign}{member}"
