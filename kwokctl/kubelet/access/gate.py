"""Lets clients pass that are known and have the right to their request.

The rights are those of a kubelet's own table,
https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/#kubelet-authorization,
with the fine-grained ones: several are several ways to the same right.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from kwokctl.embedded.http.http_server import Certificate
from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.kubelet.access.reviews import ANONYMOUS, ClientIdentity, NodeAccess, of_certificate
from kwokctl.kubelet.fleet.views import FleetView

_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_SUBRESOURCES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("/stats", ("stats",)),
    ("/metrics", ("metrics",)),
    ("/discovery", ("metrics",)),  # no kubelet's: it says where metrics are
    ("/logs", ("log",)),
    ("/checkpoint", ("checkpoint",)),
    ("/statusz", ("statusz",)),
    ("/flagz", ("configz",)),
    ("/pods", ("pods", "proxy")),
    ("/runningpods", ("pods", "proxy")),
    ("/healthz", ("healthz", "proxy")),
    ("/configz", ("configz", "proxy")),
)
_OTHERS = ("proxy",)


def verb(method: str) -> str:
    """Return the verb of a method, empty for an unknown one."""
    return _VERBS.get(method, "")


def subresources(path: str) -> tuple[str, ...]:
    """Return the subresources of `nodes`; a right to any one of them is a right to the path."""
    found = (names for root, names in _SUBRESOURCES if path == root or path.startswith(f"{root}/"))
    return next(found, _OTHERS)


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
        gives every known user every right.
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


_OF_PODS = frozenset({"containerLogs", "exec", "attach", "portForward", "run"})


def node_of(fleet: FleetView) -> NodeOf:
    """Return what finds it: the node of the pod in the path, or the one that the path names."""

    async def find(request: Request) -> str:
        first, *more = request.segments
        if first in _OF_PODS and len(more) >= 2:
            pod = await fleet.pod(more[0], more[1])
            return pod.node if pod is not None else ""
        if first in {"metrics", "stats", "logs"} and len(more) >= 2 and more[0] == "nodes":
            return more[1]
        return ""

    return find
