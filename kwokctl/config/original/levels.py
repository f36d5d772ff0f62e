"""Reads levels of the log as the original has them: `DEBUG`, `-4`, `INFO+2`."""

import re

_NAMED = {"DEBUG": -4, "INFO": 0, "WARN": 4, "ERROR": 8}
_LEVEL = re.compile(r"(DEBUG|INFO|WARN|ERROR)?([+-]?[0-9]{1,4})?", re.IGNORECASE)


def number(text: str) -> int:
    """Return a level as a number: 0 for INFO, less for more; ValueError for an invalid one."""
    match = _LEVEL.fullmatch(text.strip())
    if match is None or not text.strip():
        raise ValueError(text)
    name, offset = match.groups()
    return _NAMED[name.upper() if name else "INFO"] + int(offset or 0)
