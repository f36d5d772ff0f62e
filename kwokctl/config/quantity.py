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
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([kMGTPE]|[KMGTPE]i)?")


def to_bytes(text: str) -> int:
    """Read a quantity of bytes such as `8Gi`; raise ConfigError if it is none."""
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"'{text}' is not a size", hint="for example: 8Gi, 512Mi or 1000000")
    number, unit = match.groups(default="")
    return int(Decimal(number) * _POWERS[unit])
