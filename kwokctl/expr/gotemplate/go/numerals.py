"""Formats floats like Go."""

from decimal import Decimal
from math import isfinite, isnan

_PLAIN_BELOW = 1e21
_PLAIN_FROM = 1e-6
_LARGEST = 2**63


def shortest(value: float) -> str:
    """Return a float as `%v` writes it: the fewest digits, with an exponent from 1e+06 on."""
    if not isfinite(value):
        return "NaN" if isnan(value) else f"{value:+f}".replace("inf", "Inf")
    number = Decimal(float.__repr__(value)).normalize()
    exponent = number.adjusted()
    if not number or -5 < exponent < 6:
        return f"{number:f}"
    return f"{number.scaleb(-exponent):f}e{exponent:+03d}"


def json_number(value: float) -> str:
    """Return a number as JSON has it once Go has written it.

    An integer beyond 64 bits is a float there. https://pkg.go.dev/encoding/json#Marshal
    """
    if isinstance(value, int) and -_LARGEST <= value < _LARGEST:
        return int.__repr__(value)
    value = float(value)
    if not isfinite(value):
        return shortest(value)
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return f"{Decimal(float.__repr__(value)).normalize():f}"
    number = Decimal(float.__repr__(value)).normalize()
    exponent = number.adjusted()
    sign, digits = "-" if exponent < 0 else "+", abs(exponent)
    return f"{number.scaleb(-exponent):f}e{sign}{digits if digits < 10 else f'{digits:02d}'}"
