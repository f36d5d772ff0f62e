"""Recognises engines' errors for ports of this host that are taken."""

import re

from kwokctl.errors import ConflictError
from kwokctl.host.ports import in_use

_TAKEN = ("address already in use", "port is already allocated")
_PORT = re.compile(r"(?:\d+(?:\.\d+){3}|\]):(\d+)")
"""Behind an address: the first of a line is that of this host."""


def conflict(name: str, said: str | None) -> ConflictError | None:
    """Return the error for what an engine said, if that is of a port wanted for what is named."""
    lines = [line for line in (said or "").splitlines() if any(words in line for words in _TAKEN)]
    if not lines:
        return None
    found = _PORT.search(lines[0])
    error = in_use(name, int(found[1])) if found else _unnamed(name)
    error.detail = said
    return error


def _unnamed(name: str) -> ConflictError:
    return ConflictError(
        f"a port wanted for '{name}' is in use",
        hint="end the program that uses it, or choose another port for the cluster",
    )
