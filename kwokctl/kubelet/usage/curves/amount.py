"""An amount of a resource: a quantity of Kubernetes, or a share of what a container requests."""

from functools import lru_cache

import msgspec

from kwokctl.expr.cel.cel_errors import CelValueError
from kwokctl.expr.cel.values.quantities import parse_quantity


class Amount(msgspec.Struct, frozen=True):
    """A number, or a factor of the request."""

    number: float
    is_share: bool = False

    def of(self, request: float) -> float:
        """Return the amount for a container that requests so much."""
        return self.number * request if self.is_share else self.number


@lru_cache(maxsize=4096)
def read_amount(given: str | float) -> Amount:
    """Read `250m`, `1.5`, `64Mi` or `80%`; raise ValueError for an invalid amount, or one below 0."""
    text = str(given).strip()
    is_share = text.endswith("%")
    try:
        number = float(text[:-1]) / 100 if is_share else float(parse_quantity(text))
    except (CelValueError, ValueError) as e:
        raise ValueError(f"'{given}' is neither a quantity nor a share such as '80%'") from e
    if not 0 <= number < float("inf"):
        raise ValueError(f"'{given}' is not an amount that can be used")
    return Amount(number, is_share)
