"""Streams of random numbers in which each number is computed from its position, not from the one before it.

So a number depends on nothing else that is drawn: a stream that is added, or read in another order, leaves
all others as they were. The function is BLAKE2b (RFC 7693), whose results are the same everywhere.
"""

from hashlib import blake2b
from typing import Self

import msgspec

_KEY = 32
_NUMBER = 8
_BITS = 52
"""So many that half of the last one can be added without rounding: the result is never 0 or 1."""
_STEP = 2.0**-_BITS


class DrawStream(msgspec.Struct, frozen=True):
    """The numbers that belong to a seed and names."""

    key: bytes

    @classmethod
    def of(cls, seed: int, *names: str) -> Self:
        """Return the stream of a seed and names, such as those of a load and of a parameter."""
        # As JSON, `a, b` and `ab` are different names.
        named = msgspec.json.encode((str(seed), *names))
        return cls(blake2b(named, digest_size=_KEY).digest())

    def below(self, name: str) -> "DrawStream":
        """Return the stream of one more name."""
        return DrawStream(blake2b(name.encode(), key=self.key, digest_size=_KEY).digest())

    def at(self, index: int) -> float:
        """Return the number at a position, from 0 on: above 0 and below 1, and uniform between."""
        position = index.to_bytes(_NUMBER, "big")
        drawn = blake2b(position, key=self.key, digest_size=_NUMBER).digest()
        return ((int.from_bytes(drawn, "big") >> (64 - _BITS)) + 0.5) * _STEP
