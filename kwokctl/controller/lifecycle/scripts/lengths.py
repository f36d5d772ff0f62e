"""The lengths that `sleep` is given, as coreutils read them."""

import math
import re
from collections.abc import Sequence

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_LENGTH = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([smhd]?)")


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
