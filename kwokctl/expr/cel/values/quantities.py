"""Kubernetes quantities, exactly.

The arithmetic is that of https://pkg.go.dev/k8s.io/apimachinery/pkg/api/resource#Quantity and of
kwok, whose products and quotients have thousandths:
https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/utils/cel/quantity.go.
"""

import re
from functools import lru_cache

from kwokctl.expr.cel.cel_errors import CelValueError

_NANO = 10**9
_MILLI = 10**6
_LARGEST = 2**63
_DECIMAL = {
    unit: power for power, unit in enumerate(("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), -3)
}
_BINARY = {unit: power for power, unit in enumerate(("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))}
_SHAPE = re.compile(
    r"(?P<sign>[-+]?)(?P<whole>[0-9]*)(?:\.(?P<rest>[0-9]*))?"
    r"(?:(?P<binary>[KMGTPE]i)|(?P<decimal>[numkMGTPE]?)|[eE](?P<exponent>[-+]?[0-9]+))"
)
_REMEMBERED = 4096


class CelQuantity:
    """An amount in billionths, and how it is written."""

    __slots__ = ("nanos", "places", "suffix")

    def __init__(self, nanos: int, suffix: str = "decimal", places: int = 0) -> None:
        """Keep the amount; `suffix` is `decimal`, `binary` or `exponent`.

        `places` is the number of decimals that it was written or calculated with.
        """
        self.nanos = nanos
        self.suffix = suffix
        self.places = places

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __str__(self) -> str:
        """Write it with the largest suffix that leaves a whole number."""
        if not self.nanos:
            return "0"
        if self.suffix == "binary" and abs(self.nanos) >= 1024 * _NANO and not self.nanos % _NANO:
            return _with_binary_suffix(self.nanos // _NANO)
        return _with_decimal_suffix(self.nanos, exponent=self.suffix == "exponent")

    def __eq__(self, other: object) -> bool:
        """Compare the amounts alone."""
        return isinstance(other, CelQuantity) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __lt__(self, other: "CelQuantity") -> bool:
        return self.nanos < other.nanos

    def __le__(self, other: "CelQuantity") -> bool:
        return self.nanos <= other.nanos

    def __gt__(self, other: "CelQuantity") -> bool:
        return self.nanos > other.nanos

    def __ge__(self, other: "CelQuantity") -> bool:
        return self.nanos >= other.nanos

    def __add__(self, other: "CelQuantity") -> "CelQuantity":
        """Add, in the notation of the first that is not zero."""
        return self._combined(self.nanos + other.nanos, other)

    def __sub__(self, other: "CelQuantity") -> "CelQuantity":
        """Subtract, in the notation of the first that is not zero."""
        return self._combined(self.nanos - other.nanos, other)

    def __neg__(self) -> "CelQuantity":
        return CelQuantity(-self.nanos, self.suffix, self.places)

    def __float__(self) -> float:
        """Return the amount as a float, rounded as Kubernetes does."""
        return float(self.nanos * 10**self.places // _NANO) * float(f"1e{-self.places}")

    def _combined(self, nanos: int, other: "CelQuantity") -> "CelQuantity":
        """Return a sum, in the notation of the first that is not zero."""
        places = max(one.places for one in (self, other) if one.nanos or one is self)
        return CelQuantity(nanos, (self if self.nanos else other).suffix, places)

    def thousandths(self) -> int:
        """Return the thousandths, rounded away from zero."""
        size = -(-abs(self.nanos) // _MILLI)
        return size if self.nanos >= 0 else -size


NOTHING = CelQuantity(0)
_LONGEST, _MOST_POWER, _SHOWN = 100, 100, 40
"""Characters of a text, and the power of ten in it: a text of ten letters such as `1e99999999` has as many digits as a disk has bytes."""


@lru_cache(_REMEMBERED)
def parse_quantity(text: str) -> CelQuantity:
    """Read a quantity; raise CelValueError for a text that is not a quantity."""
    match = _SHAPE.fullmatch(text)
    if match is None or not (match["whole"] or match["rest"]):
        raise CelValueError(f"'{text}' is not a quantity")
    if len(text) > _LONGEST or abs(int(match["exponent"] or 0)) > _MOST_POWER:
        raise CelValueError(f"the quantity '{text:.{_SHOWN}}' is too large, or too exact")
    digits, places = match["whole"] + (match["rest"] or ""), len(match["rest"] or "")
    suffix, base, power = _suffix(match)
    scale = power if base == 2 else power + 9
    up = int(digits) * (2**power * _NANO if base == 2 else 10 ** max(scale, 0))
    down = 10 ** (places + (0 if base == 2 else max(-scale, 0)))
    nanos = -(-up // down)
    if base == 2:
        nanos = min(nanos, (_LARGEST - 1) * _NANO)
        suffix = "decimal" if 0 < nanos < _NANO else suffix
    places = min(places if base == 2 else places - power, 9)
    return CelQuantity(-nanos if match["sign"] == "-" else nanos, suffix, max(places, 0))


def _suffix(match: re.Match[str]) -> tuple[str, int, int]:
    """Return the kind of the suffix, its base and its power."""
    if match["binary"]:
        return "binary", 2, _BINARY[match["binary"]] * 10
    if match["exponent"]:
        return "exponent", 10, int(match["exponent"])
    return "decimal", 10, _DECIMAL[match["decimal"] or ""] * 3


def in_thousandths(number: int) -> CelQuantity:
    """Return the number of thousandths, of 64 bits."""
    return CelQuantity(((number + _LARGEST) % (2 * _LARGEST) - _LARGEST) * _MILLI, places=3)


def _with_binary_suffix(whole: int) -> str:
    power = 0
    while not whole % 1024 and power < len(_BINARY) - 1:
        whole, power = whole // 1024, power + 1
    return f"{whole}{list(_BINARY)[power]}"


def _with_decimal_suffix(nanos: int, *, exponent: bool) -> str:
    power = -3
    while not nanos % 1000 and power < 6:
        nanos, power = nanos // 1000, power + 1
    if exponent:
        return f"{nanos}e{power * 3}" if power else str(nanos)
    unit = next(unit for unit, found in _DECIMAL.items() if found == power)
    return f"{nanos}{unit}"
