"""Lets clients pass that are known and have the right to what they ask for."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.embedded.http.server import Certificate
from kwokctl.kubelet.access.client import ANONYMOUS, ClientIdentity, of_certificate
from kwokctl.kubelet.access.reviews import NodeAccess
from kwokctl.kubelet.access.rights import subresources, verb

_SCHEME = "bearer"


class Reviewer(Protocol):
    """Knows whose a token is, and what users may do."""

    async def holder(self, token: str) -> ClientIdentity | None:
        """Return whose token it is."""
        ...

    async def allows(self, who: ClientIdentity, access: NodeAccess) -> bool:
        """Return whether a user has a right."""
        ...


NodeOf = Callable[[Request], Awaitable[str]]
"""Returns the node that a request is about; empty if it is about no node, or an unknown one."""


class Gate:
    """Authenticates, then authorises, as kubelets do."""

    def __init__(
        self, reviewer: Reviewer, node_of: NodeOf, *, anonymous: bool, allow_all: bool
    ) -> None:
        """Ask `reviewer`.

        With `anonymous` clients without a credential are the user `system:anonymous`; `allow_all`
        gives everybody every right who is known.
        """
        self._reviewer = reviewer
        self._node_of = node_of
        self._anonymous = anonymous
        self._allow_all = allow_all

    async def admit(self, request: Request, certificate: Certificate) -> None:
        """Raise RefusedError: 401 for a client that is not known, 403 for one without the right."""
        who = await self._who(request, certificate)
        if self._allow_all:
            return
        names, what = subresources(request.path), verb(request.method)
        # A right to all nodes is requested first: for thousands of nodes it is one question.
        if await self._has_any(who, what, names, ""):
            return
        node = await self._node_of(request)
        if node and await self._has_any(who, what, names, node):
            return
        rights = " or ".join(f"nodes/{name}" for name in names)
        at = f" of node '{node}'" if node else ""
        raise RefusedError(403, f"user '{who.username}' may not {what} {rights}{at}")

    async def _who(self, request: Request, certificate: Certificate) -> ClientIdentity:
        found = of_certificate(certificate) if certificate else None
        if found is not None:
            return found
        scheme, _, token = request.header("authorization").partition(" ")
        if scheme.lower() == _SCHEME and token.strip():
            found = await self._reviewer.holder(token.strip())
            if found is not None:
                return found
        elif self._anonymous:
            return ANONYMOUS
        raise RefusedError(401, "authenticate with a client certificate or a token of the cluster")

    async def _has_any(
        self, who: ClientIdentity, what: str, names: tuple[str, ...], node: str
    ) -> bool:
        for name in names:
            access = NodeAccess(verb=what, subresource=name, node=node)
            if await self._reviewer.allows(who, access):
                return True
        return False
