"""Sprig's functions that return another value each time; the caller's own of their names take their place."""

import string
from base64 import b64encode
from collections.abc import Callable
from random import SystemRandom
from typing import Protocol

from kwokctl.expr.gotemplate.functions.arguments import count, text
from kwokctl.expr.gotemplate.template_error import TemplateError

_LONGEST = 1_000_000


class Randomness(Protocol):
    """A source of random values."""

    def below(self, limit: int) -> int:
        """Return a whole number from 0 to below `limit`."""
        ...

    def choices(self, population: str, *, k: int) -> list[str]:
        """Return that many letters of a text."""
        ...

    def randbytes(self, number: int) -> bytes:
        """Return that many bytes."""
        ...


class _System(SystemRandom):
    def below(self, limit: int) -> int:
        """Return a whole number, with one read of the system's randomness."""
        return self.randrange(limit)


class _Functions:
    """The functions, with values from a source."""

    def __init__(self, source: Randomness) -> None:
        self._source = source

    def of(self, characters: str) -> Callable[[object], str]:
        """Return what writes a text of some characters."""
        choices = self._source.choices

        def function(length: object) -> str:
            if not 0 <= count(length) <= _LONGEST:
                raise TemplateError(f"a random text cannot have {length} characters")
            return "".join(choices(characters, k=count(length)))

        return function

    def in_base64(self, number: object) -> str:
        if not 0 <= count(number) <= _LONGEST:
            raise TemplateError(f"there cannot be {number} random bytes")
        return b64encode(self._source.randbytes(count(number))).decode()

    def integer(self, low: object, high: object) -> int:
        if count(high) <= count(low):
            raise TemplateError("'randInt' needs a lower and a higher bound")
        return count(low) + self._source.below(count(high) - count(low))

    def shuffled(self, value: object) -> str:
        letters = list(text(value))
        # Each place from the last on gets one of those that are left (Fisher and Yates).
        for place in range(len(letters) - 1, 0, -1):
            other = self._source.below(place + 1)
            letters[place], letters[other] = letters[other], letters[place]
        return "".join(letters)

    def uuid(self) -> str:
        from uuid import UUID  # hardly any template needs it

        return str(UUID(bytes=self._source.randbytes(16), version=4))


def random_functions(source: Randomness) -> dict[str, Callable[..., object]]:
    """Return the functions by name, with values from a source."""
    functions = _Functions(source)
    return {
        "randAlpha": functions.of(string.ascii_letters),
        "randAlphaNum": functions.of(string.ascii_letters + string.digits),
        "randAscii": functions.of("".join(map(chr, range(0x20, 0x7F)))),
        "randBytes": functions.in_base64,
        "randInt": functions.integer,
        "randNumeric": functions.of(string.digits),
        "shuffle": functions.shuffled,
        "uuidv4": functions.uuid,
    }


RANDOM = random_functions(_System())
