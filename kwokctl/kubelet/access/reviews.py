"""Asks the API server who shows a token, and what a user may do; remembers it as kubelets do."""

import hashlib
import secrets
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kwokctl.kube.client import Client
from kwokctl.kubelet.access.timed_cache import TimedCache


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


_TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
_ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_TOKEN_LASTS = 120.0
_ALLOWED_LASTS, _DENIED_LASTS = 300.0, 30.0
"""Seconds, the defaults of kubelets
(https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/)."""


class _User(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}


class _TokenStatus(msgspec.Struct):
    authenticated: bool = False
    user: _User = msgspec.field(default_factory=_User)


class _TokenReview(msgspec.Struct):
    status: _TokenStatus


class _AccessStatus(msgspec.Struct):
    allowed: bool = False


class _AccessReview(msgspec.Struct):
    status: _AccessStatus


class NodeAccess(msgspec.Struct, frozen=True, kw_only=True):
    """The access to nodes that a user asks for."""

    verb: str
    subresource: str
    node: str = ""
    """Empty for every node."""


class Reviews:
    """Token and access reviews; every method raises ApiError when the API server does not answer."""

    def __init__(self, client: Client, clock: Callable[[], float]) -> None:
        """Ask with `client`."""
        self._client = client
        self._secret = secrets.token_bytes(32)
        self._tokens: TimedCache[bytes, ClientIdentity | None] = TimedCache(
            clock, lambda _: _TOKEN_LASTS
        )
        self._access: TimedCache[tuple[ClientIdentity, NodeAccess], bool] = TimedCache(
            clock, lambda allowed: _ALLOWED_LASTS if allowed else _DENIED_LASTS
        )

    async def holder(self, token: str) -> ClientIdentity | None:
        """Return whose token it is, None if it belongs to no user."""
        # Tokens are not kept, only hashes that cannot be turned back into them.
        key = hashlib.blake2b(token.encode(), key=self._secret).digest()
        return await self._tokens.get(key, lambda: self._ask_holder(token))

    async def allows(self, who: ClientIdentity, access: NodeAccess) -> bool:
        """Return whether a user has a right."""
        return await self._access.get((who, access), lambda: self._ask_access(who, access))

    async def _ask_holder(self, token: str) -> ClientIdentity | None:
        answer = await self._post(_TOKENS, "authentication.k8s.io/v1", "TokenReview", token=token)
        status = msgspec.json.decode(answer, type=_TokenReview).status
        if not status.authenticated:
            return None
        user = status.user
        return ClientIdentity(
            username=user.username,
            uid=user.uid,
            groups=tuple(dict.fromkeys((*user.groups, AUTHENTICATED))),
            extra=tuple((key, tuple(values)) for key, values in sorted(user.extra.items())),
        )

    async def _ask_access(self, who: ClientIdentity, access: NodeAccess) -> bool:
        attributes = {"verb": access.verb, "version": "v1", "resource": "nodes"}
        attributes |= {"subresource": access.subresource}
        if access.node:
            attributes["name"] = access.node
        answer = await self._post(
            _ACCESS,
            "authorization.k8s.io/v1",
            "SubjectAccessReview",
            resourceAttributes=attributes,
            user=who.username,
            uid=who.uid,
            groups=who.groups,
            extra=dict(who.extra),
        )
        return msgspec.json.decode(answer, type=_AccessReview).status.allowed

    async def _post(self, path: str, api_version: str, kind: str, **spec: object) -> bytes:
        body = {"apiVersion": api_version, "kind": kind, "spec": spec}
        return await self._client.call("POST", path, msgspec.json.encode(body))
