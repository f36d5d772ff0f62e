"""Kubernetes quantities as whole bytes.

The syntax is that of https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

import re
from decimal import Decimal

from kwokctl.errors import ConfigError

_POWERS = {
    "": 1,
    **{unit: 1000**power for power, unit in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    **{unit: 1024**power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([kMGTPE]|[KMGTPE]i)?")


def to_bytes(text: str) -> int:
    """Read a quantity of bytes such as `8Gi`; raise ConfigError for a text that is not a quantity."""
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"'{text}' is not a size", hint="for example: 8Gi, 512Mi or 1000000")
    number, unit = match.groups(default="")
    return int(Decimal(number) * _POWERS[unit])


def to_text(size: int) -> str:
    """Write bytes as a quantity of three digits or so: `8Gi`, `1.2Gi`, `512Mi`."""
    power = max((n for n in range(len(_BINARY)) if size >= 1024**n), default=0)
    number = size / 1024**power
    is_short = number >= 10 or number == int(number)
    return (f"{number:.0f}" if is_short else f"{number:.1f}") + _BINARY[power]
