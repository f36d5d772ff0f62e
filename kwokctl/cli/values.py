"""Turns single words of the command line into values, and says which word was wrong."""

import re
from collections.abc import Callable

from kwokctl.errors import UsageError

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
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|μs|ns)")
_SWITCH = {"1": True, "t": True, "true": True, "0": False, "f": False, "false": False}


def read_switch(flag: str, text: str) -> bool:
    """Read the value of a switch as Go's flags do: `true`, `T`, `1`, `false`, `F`, `0`."""
    if text.lower() not in _SWITCH:
        raise UsageError(f"'{flag}' is a switch: '{text}' is neither 'true' nor 'false'")
    return _SWITCH[text.lower()]


def duration(flag: str) -> Callable[[str], float]:
    """Make the reader of a duration: `90`, `90s`, `1.5h` or `1h15m`; it returns seconds."""

    def read(text: str) -> float:
        seconds = _seconds(text.strip())
        if seconds is None:
            raise UsageError(
                f"'{flag}' is '{text}', not a duration", hint="for example: 90s, 15m or 1h30m"
            )
        return seconds

    return read


def whole_number(flag: str, *, least: int | None = None) -> Callable[[str], int]:
    """Make the reader of a whole number that is not below `least`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError as e:
            raise UsageError(f"'{flag}' is '{text}', not a whole number") from e
        if least is not None and number < least:
            raise UsageError(f"'{flag}' is {number}, less than {least}")
        return number

    return read


def one_of(flag: str, *choices: str) -> Callable[[str], str]:
    """Make the reader of a word that must be one of `choices`."""

    def read(text: str) -> str:
        if text not in choices:
            raise UsageError(f"'{flag}' is '{text}'", hint=f"choose from: {', '.join(choices)}")
        return text

    return read


def _seconds(text: str) -> float | None:
    if re.fullmatch(r"\d+(?:\.\d*)?|\.\d+", text):
        return float(text)
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
