"""Decides which clients get an answer: every route names a right, and a credential gives it.

The credential is a bearer token in a file that only the owner of the cluster can read. The controller
makes a new one whenever it starts, so that a token that another program has
seen, one that had taken the port meanwhile, is worthless afterwards.
"""

import asyncio
import hmac
from enum import Enum
from pathlib import Path

from kwokctl.errors import UnavailableError
from kwokctl.host.tokens import new_token

_SCHEME = b"bearer"


class Right(Enum):
    """What a client must be allowed to do to get an answer."""

    NONE = "none"
    """For every client: answers that reveal no more than that the controller lives."""
    OWNER = "owner"
    """For clients that can read the cluster's own files."""


class Authorizer:
    """Knows which credentials give which rights."""

    def __init__(self, token: str | None) -> None:
        """Take `token` for the owner's; without one no credential is."""
        self._token = token.encode() if token else None

    def allows(self, right: Right, authorization: bytes) -> bool:
        """Tell whether the value of an `Authorization` header gives a right."""
        if right is Right.NONE:
            return True
        scheme, _, shown = authorization.partition(b" ")
        if self._token is None or scheme.lower() != _SCHEME:
            return False
        # In a time that does not depend on how much of it is right.
        return hmac.compare_digest(shown.strip(), self._token)


async def owner_authorizer(token_file: Path | None) -> Authorizer:
    """Write a new token to a file, and return what authorizes its bearers; without a file nothing is."""
    if token_file is None:
        return Authorizer(None)
    try:
        return Authorizer(await asyncio.to_thread(new_token, token_file))
    except OSError as e:
        raise UnavailableError(
            f"the token cannot be written to '{token_file}': {e.strerror}",
            hint="give another file with --server-token-file",
        ) from e
