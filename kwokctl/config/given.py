"""A value of an option as it was given, where that was, and whether it can be right."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kwokctl.artifacts.versions import kube_version
from kwokctl.config.checks import is_file
from kwokctl.config.declaring import Spelling
from kwokctl.config.readers import read_switch
from kwokctl.errors import ConfigError, KwokctlError, UsageError
from kwokctl.host.paths import expanded

_FILES = {"FILE", "PROGRAM", "IMAGE-OR-FILE"}
_ON_OFF = {True: "on", False: "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One value, of the type of its option."""

    value: Any
    place: str
    """As a message names it: `'--etcd-port'`, `KWOK_ETCD_PORT`, `kwok.yaml: options.etcdPort`."""
    is_flag: bool = False

    def checked(self, spelling: Spelling) -> Any:
        """Return the value as clusters keep it; raise UsageError or ConfigError for a wrong one."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            self._check_range(*spelling.within)
        elif isinstance(self.value, tuple):
            for item in self.value:
                self._check_text(item, spelling)
        elif isinstance(self.value, str):
            return self._checked_text(spelling)
        return self.value

    def _checked_text(self, spelling: Spelling) -> str:
        if spelling.choices:
            return self._choice(spelling)
        self._check_text(self.value, spelling)
        if spelling.metavar in _FILES:
            return _whole_path(self.value)
        return kube_version(self.value) if spelling.field == "kube_version" else str(self.value)

    def _check_text(self, text: str, spelling: Spelling) -> None:
        if fault := spelling.check(text):
            raise self._wrong(text, fault.problem, fault.hint)

    def _check_range(self, least: int, most: int) -> None:
        if self.value < least:
            raise self._wrong(self.value, f"less than {least}", f"the largest is {most}")
        if self.value > most:
            raise self._wrong(self.value, f"more than {most}", f"the least is {least}")

    def _choice(self, spelling: Spelling) -> str:
        """Check a word that must be one of a few; a switch may be written as other switches are."""
        word = self.value.lower()
        if "off" in spelling.choices:
            with suppress(ValueError):
                word = _ON_OFF[read_switch(word)]
        if word not in spelling.choices:
            hint = f"choose from: {', '.join(spelling.choices)}"
            raise self._wrong(self.value, "not one of its values", hint)
        return str(word)

    def _wrong(self, value: Any, problem: str, hint: str) -> KwokctlError:
        made = UsageError if self.is_flag else ConfigError
        return made(f"{self.place} is '{value}', {problem}", hint=hint)


def _whole_path(text: str) -> str:
    """Let a file that is here mean the same to later commands, whatever folder they run in."""
    file, sign, member = text.partition("#")
    if not is_file(file):
        return text
    return f"{expanded(file).absolute()}{sign}{member}"
