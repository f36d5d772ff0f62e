"""Turns single words of the command line into values, and says which word was wrong."""

import re
from collections.abc import Callable

from kwokctl.config import flag_words
from kwokctl.config.checks import INT32, Check, InvalidText, is_file, is_folder
from kwokctl.errors import UsageError
from kwokctl.kube.names import LABEL_RULE, is_label, is_label_value
from kwokctl.waits import USUAL

AS_IT_MOVES = "as-it-moves"
"""The value of an option to wait that is given without one."""

_UNITS = {
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ns": 1e-9,
}
_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PART = re.compile(rf"({_NUMBER})(h|ms|m|s|us|µs|μs|ns)")
_LONGEST = 2**63 / 1e9
"""Seconds that a duration of Go can hold."""


def read_switch(flag: str, text: str) -> bool:
    """Read the value of a switch as Go's flags do: `true`, `T`, `1`, `false`, `F`, `0`."""
    try:
        return flag_words.read_switch(text)
    except ValueError as e:
        raise UsageError(f"'{flag}' is a switch: '{text}' is neither 'true' nor 'false'") from e


def duration(flag: str) -> Callable[[str], float]:
    """Make the reader of a duration: `90`, `90s`, `1.5h` or `1h15m`; it returns seconds."""

    def read(text: str) -> float:
        seconds = _seconds(text.strip())
        if seconds is None or seconds > _LONGEST:
            raise UsageError(
                f"'{flag}' is '{text}', not a duration", hint="for example: 90s, 15m or 1h30m"
            )
        return seconds

    return read


def waiting(flag: str) -> Callable[[str], float]:
    """Make the reader of how long to wait: a duration, or as long as something moves."""
    read = duration(flag)
    return lambda text: USUAL if text == AS_IT_MOVES else read(text)


def whole_number(flag: str, *, least: int = INT32[0], most: int = INT32[1]) -> Callable[[str], int]:
    """Make the reader of a whole number from `least` to `most`."""

    def read(text: str) -> int:
        try:
            number = flag_words.read_whole(str(text))  # a default comes as a number
        except ValueError as e:
            raise UsageError(f"'{flag}' is '{text}', not a whole number") from e
        if number < least:
            raise UsageError(f"'{flag}' is {number}, less than {least}")
        if number > most:
            raise UsageError(f"'{flag}' is {number}, more than {most}")
        return number

    return read


def number(flag: str, *, least: float, most: float) -> Callable[[str], float]:
    """Make the reader of a decimal number from `least` to `most`."""

    def read(text: str) -> float:
        if not re.fullmatch(_NUMBER, str(text)):  # a default comes as a number
            raise UsageError(f"'{flag}' is '{text}', not a number", hint="for example: 0.5")
        value = float(text)
        if not least <= value <= most:
            raise UsageError(f"'{flag}' is {text}, not a number from {least:g} to {most:g}")
        return value

    return read


def checked(flag: str, check: Check) -> Callable[[str], str]:
    """Make the reader of a text that a check accepts; an empty one means "not given"."""

    def read(text: str) -> str:
        if text and (fault := check(text)):
            raise UsageError(f"'{flag}' is '{text}', {fault.problem}", hint=fault.hint)
        return text

    return read


def file_to_write(flag: str) -> Callable[[str], str]:
    """Make the reader of a path that can become a file."""

    def read(text: str) -> str:
        if not text.strip() or is_folder(text):
            raise UsageError(f"'{flag}' is '{text}', not a file", hint="give the path of a file")
        return text

    return read


def folder_to_write(flag: str) -> Callable[[str], str]:
    """Make the reader of a path that is a folder, or can become one."""

    def read(text: str) -> str:
        if not text.strip() or is_file(text):
            raise UsageError(
                f"'{flag}' is '{text}', not a folder", hint="give the path of a folder"
            )
        return text

    return read


def folder_to_read(flag: str) -> Callable[[str], str]:
    """Make the reader of the path of a folder that exists."""

    def read(text: str) -> str:
        if not is_folder(text):
            raise UsageError(
                f"'{flag}' is '{text}', not a folder", hint="give the path of a folder"
            )
        return text

    return read


def one_of(flag: str, *choices: str) -> Callable[[str], str]:
    """Make the reader of a word that must be one of `choices`; an empty one means none."""
    words = tuple(choice for choice in choices if choice)

    def read(text: str) -> str:
        if text not in choices:
            raise UsageError(f"'{flag}' is '{text}'", hint=f"choose from: {', '.join(words)}")
        return text

    vars(read)["choices"] = words  # what shells complete, and help shows
    return read


def _seconds(text: str) -> float | None:
    if re.fullmatch(_NUMBER, text):
        return float(text)
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def namespace_name(word: str) -> InvalidText | None:
    """Accept the name of a namespace."""
    return None if is_label(word) else InvalidText("not the name of a namespace", LABEL_RULE)


def label_value(word: str) -> InvalidText | None:
    """Accept what can be the value of a label."""
    hint = "use at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
    return None if is_label_value(word) else InvalidText("not a value of a label", hint)
