"""Places in a fleet as expressions of CEL, for `where`: they can be joined with `&&` and `||`.

Units of a fleet are called after their set of nodes, their level and their number: `dgx-h100-rack-0003`.
"""

import json

from kwokctl.errors import UsageError


def rack(number: int, of: str = "") -> str:
    """Return the expression for the nodes of a rack; `of` is the set of nodes, all sets without it."""
    return _unit("rack", number, of)


def leaf(number: int, of: str = "") -> str:
    """Return the expression for the nodes below a leaf switch; `of` as for `rack`."""
    return _unit("leaf", number, of)


def spine(number: int, of: str = "") -> str:
    """Return the expression for the nodes below a spine switch; `of` as for `rack`."""
    return _unit("spine", number, of)


def feed(number: int, of: str = "") -> str:
    """Return the expression for the nodes on a power feed; `of` as for `rack`."""
    return _unit("feed", number, of)


def zone(name: str) -> str:
    """Return the expression for the nodes of a zone, which has a name of its own."""
    return f"zone == {json.dumps(name)}"


def _unit(level: str, number: int, of: str) -> str:
    if number < 0:
        raise UsageError(f"the {level} is {number}", hint="units are counted from 0")
    tail = f"-{level}-{number:04}"
    return f"{level} == {json.dumps(of + tail)}" if of else f"{level}.endsWith({json.dumps(tail)})"
