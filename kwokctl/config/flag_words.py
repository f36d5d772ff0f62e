"""Reads single words as the original's flags read them, and nothing more generous: numbers, switches, levels of the log.

Python's own conversions accept digits of other scripts, underscores, blanks and the names of what
is not a number; a typing error must not be read as a value. Levels are `DEBUG`, `-4`, `INFO+2`.
"""

import re

_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)", re.ASCII)
_LONGEST = 25
"""More digits than any number that Kubernetes has a field for."""
_SWITCH = {"1": True, "t": True, "true": True, "0": False, "f": False, "false": False}


def read_whole(text: str) -> int:
    """Read a whole number in ASCII digits; raise ValueError for anything else."""
    if not _WHOLE.fullmatch(text) or len(text) > _LONGEST:
        raise ValueError(text)
    return int(text)


def read_number(text: str) -> float:
    """Read a decimal number in ASCII digits, a whole one as such; raise ValueError for anything else."""
    if not _DECIMAL.fullmatch(text) or len(text) > _LONGEST:
        raise ValueError(text)
    number = float(text)
    return int(number) if number == int(number) else number


def read_switch(text: str) -> bool:
    """Read `true`, `T`, `1`, `false`, `F` or `0`; raise ValueError for anything else."""
    if text.lower() not in _SWITCH:
        raise ValueError(text)
    return _SWITCH[text.lower()]


_NAMED = {"DEBUG": -4, "INFO": 0, "WARN": 4, "ERROR": 8}
_LEVEL = re.compile(r"(DEBUG|INFO|WARN|ERROR)?([+-]?[0-9]{1,4})?", re.IGNORECASE)


def read_level(text: str) -> int:
    """Return a level as a number: 0 for INFO, less for more; ValueError for an invalid one."""
    match = _LEVEL.fullmatch(text.strip())
    if match is None or not text.strip():
        raise ValueError(text)
    name, offset = match.groups()
    return _NAMED[name.upper() if name else "INFO"] + int(offset or 0)
