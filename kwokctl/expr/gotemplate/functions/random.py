"""Sprig's functions that return another value each time; the caller's own of their names take their place."""

import string
from base64 import b64encode
from collections.abc import Callable
from random import SystemRandom

from kwokctl.expr.gotemplate.functions.arguments import count, text
from kwokctl.expr.gotemplate.template_error import TemplateError

_SYSTEM = SystemRandom()
_LONGEST = 1_000_000


def _random(characters: str) -> Callable[[object], str]:
    def function(length: object) -> str:
        if not 0 <= count(length) <= _LONGEST:
            raise TemplateError(f"a random text cannot have {length} characters")
        return "".join(_SYSTEM.choices(characters, k=count(length)))

    return function


def _bytes(number: object) -> str:
    """Return bytes in base64."""
    if not 0 <= count(number) <= _LONGEST:
        raise TemplateError(f"there cannot be {number} random bytes")
    return b64encode(_SYSTEM.randbytes(count(number))).decode()


def _integer(low: object, high: object) -> int:
    if count(high) <= count(low):
        raise TemplateError("'randInt' needs a lower and a higher bound")
    return _SYSTEM.randrange(count(low), count(high))


def _shuffled(value: object) -> str:
    letters = text(value)
    return "".join(_SYSTEM.sample(letters, k=len(letters)))


def _uuid() -> str:
    from uuid import uuid4  # hardly any template needs it

    return str(uuid4())


RANDOM: dict[str, Callable[..., object]] = {
    "randAlpha": _random(string.ascii_letters),
    "randAlphaNum": _random(string.ascii_letters + string.digits),
    "randAscii": _random("".join(map(chr, range(0x20, 0x7F)))),
    "randBytes": _bytes,
    "randInt": _integer,
    "randNumeric": _random(string.digits),
    "shuffle": _shuffled,
    "uuidv4": _uuid,
}
