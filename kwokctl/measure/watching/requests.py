"""The requests of a pod as one short text, with which pods of one size are found."""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

Amounts = Mapping[str, str | int | float]
_QUANTITY = re.compile(r"([-+]?[0-9.]+)([A-Za-z]*)")
_POWERS = {
    "n": Decimal(10) ** -9,
    "u": Decimal(10) ** -6,
    "m": Decimal(10) ** -3,
    "": Decimal(1),
    **{unit: Decimal(1000) ** power for power, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", 1)},
}


def text_of_requests(containers: Iterable[Amounts]) -> str:
    """Return the sums of what containers request, such as `cpu=1,memory=1Gi`; empty without requests."""
    sums: dict[str, str] = {}
    for amounts in containers:
        for resource, amount in amounts.items():
            text = str(amount)
            sums[resource] = _sum(sums[resource], text) if resource in sums else text
    return ",".join(f"{resource}={sums[resource]}" for resource in sorted(sums))


def _sum(one: str, other: str) -> str:
    """Add two quantities; those of one unit keep it."""
    parts = [_QUANTITY.fullmatch(each) for each in (one, other)]
    if not all(part and part[2] in _POWERS for part in parts):
        return f"{one}+{other}"
    (first, unit), (second, further) = ((Decimal(p[1]), p[2]) for p in parts if p)
    if unit == further:
        return f"{first + second:f}{unit}"
    total = first * _POWERS[unit] + second * _POWERS[further]
    return f"{total.normalize():f}"
