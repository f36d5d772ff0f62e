"""Names objects as the API server does."""

from os import urandom

_VARIANT = "89ab"


def new_uid() -> str:
    """Return a random UUID of version 4 (RFC 9562), at half the cost of `uuid.uuid4`."""
    digits = urandom(16).hex()
    variant = _VARIANT[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
