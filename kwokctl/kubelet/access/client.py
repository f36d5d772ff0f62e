"""Identifies a client, by its certificate or through the API server."""

from collections.abc import Mapping
from typing import Any

import msgspec


class ClientIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """A user of the cluster."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


AUTHENTICATED = "system:authenticated"
ANONYMOUS = ClientIdentity(username="system:anonymous", groups=("system:unauthenticated",))


def of_certificate(certificate: Mapping[str, Any]) -> ClientIdentity | None:
    """Return the user of a verified certificate: common name and organizations.

    https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates
    """
    parts = [pair for group in certificate.get("subject", ()) for pair in group]
    names = [value for key, value in parts if key == "commonName"]
    if not names:
        return None
    groups = tuple(value for key, value in parts if key == "organizationName")
    return ClientIdentity(username=names[0], groups=(*groups, AUTHENTICATED))
