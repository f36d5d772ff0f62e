"""Finds out who a client of the proxy is: by its certificate for the API server, and by its token for faults. Pure.

The API server believes the headers `X-Remote-…` of a client that shows the certificate of its front proxy
(https://kubernetes.io/docs/reference/access-authn-authz/authentication/#authenticating-proxy). So the proxy shows that
only on behalf of clients whose certificate it has verified, and passes no such header of a client on.
"""

import base64
import binascii
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

ANONYMOUS = "system:anonymous"
TRUSTED_HEADERS = "x-remote-"
"""The beginning of the headers, in lower case, that the API server believes of its front proxy."""
_BEARER = "bearer"
_COMMON_NAME, _ORGANIZATION = "commonName", "organizationName"


class UnfitNameError(Exception):
    """A name in a certificate that no header can carry unchanged: the API server would read the name of another user."""


class CertifiedUser(msgspec.Struct, frozen=True, kw_only=True):
    """The user of a verified certificate."""

    name: str
    groups: tuple[str, ...] = ()

    @property
    def headers(self) -> bytes:
        """The lines that tell the API server."""
        lines = [("X-Remote-User", self.name), *(("X-Remote-Group", each) for each in self.groups)]
        return b"".join(f"{name}: {value}\r\n".encode() for name, value in lines)


def certified_user(certificate: Mapping[str, Any] | None) -> CertifiedUser | None:
    """Return the user that a verified certificate names, as the API server reads it; None without one.

    Raises UnfitNameError for a name with control characters, or with spaces at its ends, which are lost in headers.
    """
    if not certificate:
        return None
    parts = [pair for part in certificate.get("subject", ()) for pair in part]
    names = [value for key, value in parts if key == _COMMON_NAME]
    if not names or not names[-1]:
        return None
    groups = tuple(value for key, value in parts if key == _ORGANIZATION)
    for each in (names[-1], *groups):
        if not each or each != each.strip() or not each.isprintable():
            raise UnfitNameError(f"the certificate names {each!r}, which no header can carry")
    return CertifiedUser(name=names[-1], groups=groups)


def bearer_token(authorizations: Sequence[str]) -> str:
    """Return the token of a request with these `Authorization` headers, as the API server reads it; empty without one.

    It reads the first header alone, and of it what stands between the first two spaces.
    """
    scheme, _, rest = (authorizations[0] if authorizations else "").strip().partition(" ")
    return rest.partition(" ")[0] if scheme.lower() == _BEARER else ""


class Tokens:
    """The users of bearer tokens, for faults to match; whether a token is valid, only the API server says."""

    def __init__(self, users: Mapping[str, str]) -> None:
        """Know these tokens, and those of service accounts, which name their user."""
        self._users = users

    @classmethod
    def of(cls, file: Path) -> "Tokens":
        """Read the file that the API server reads."""
        with file.open(encoding="ascii", errors="replace", newline="") as rows:
            return cls({row[0]: row[1] for row in csv.reader(rows) if len(row) >= 2})

    def user(self, authorizations: Sequence[str]) -> str:
        """Return the user of a request with these `Authorization` headers."""
        if not authorizations:
            return ANONYMOUS
        token = bearer_token(authorizations)
        return self._users.get(token) or _subject(token)


class _Claims(msgspec.Struct):
    sub: str = ""


def _subject(token: str) -> str:
    """Return whom a JSON Web Token names, which is not verified: a forged one is refused by the API server."""
    parts = token.split(".")
    if len(parts) != 3:
        return ""
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return msgspec.json.decode(payload, type=_Claims).sub
    except (binascii.Error, ValueError, msgspec.DecodeError):
        return ""
