"""The container whose use is wanted."""

from collections.abc import Callable

import msgspec

from kwokctl.kubelet.usage.curves.amount import read_amount
from kwokctl.kubelet.usage.curves.curve import Curve


class UsageSubject(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that the use of a resource by a container may depend on."""

    request: float
    """The amount of the resource that it requests."""
    started: float
    """The time of its start, as a POSIX time stamp."""
    number: int
    """A random number that is stable: a hash of the container, different for each container."""
    expressed: Callable[[str], Curve]
    """Returns the use that an expression gives."""

    def amount(self, given: str | float) -> float:
        """Return an amount, which may be a share of the request."""
        return read_amount(given).of(self.request)
