"""Reads what a request asks of the Kubernetes API, as far as faults depend on it. Pure.

The API server reads paths by the same rules:
https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb.
"""

from urllib.parse import parse_qs, unquote

import msgspec

from kwokctl.kube.resource import FAULTS, LEASES, NODE_LEASES

CONTROLLER_USER = "kwok-controller"
"""The user that the controller of a cluster is; only who has its token is that user."""
_HEALTH = frozenset({"healthz", "livez", "readyz", "metrics"})
_OWN_LEASE = "kwokctl-"
"""The beginning of the names of Leases that kwokctl keeps beside those of nodes."""
_FALSE = frozenset({"0", "f", "F", "false", "False", "FALSE"})
_VERBS = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_CORE_PARTS, _GROUP_PARTS = 2, 3
"""The number of segments before the resource: `api/v1`, `apis/apps/v1`."""


class ApiRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    user: str
    """Empty if the client shows no credential, or one that only the API server can read."""
    user_agent: str
    verb: str
    """As RBAC has it, such as `list`; for what is no resource, the method in lower case."""
    group: str = ""
    resource: str = ""
    """With its subresource, such as `pods/status`; empty for what is no resource."""
    namespace: str = ""
    name: str = ""
    is_health: bool = False
    """Whether it asks for the health or the metrics of the API server."""

    @property
    def is_watch(self) -> bool:
        """Whether its answer is a stream of what happens."""
        return self.verb == "watch"

    @property
    def is_exempt(self) -> bool:
        """Whether no fault may hit it: health, and what faults are made, shown and cleared with.

        Those are requests of all users for kwokctl's own kinds, and requests of its controller that are not its kubelets'.
        """
        if self.is_health or self.group == FAULTS.group:
            return True
        if self.user != CONTROLLER_USER:
            return False
        return not self._is_of_a_kubelet

    @property
    def _is_of_a_kubelet(self) -> bool:
        kind, _, _ = self.resource.partition("/")
        if self.group == LEASES.group and kind == LEASES.plural:
            return self.namespace == NODE_LEASES and not (
                self.name.startswith(_OWN_LEASE) or not self.name
            )
        return self.group == "" and kind in ("nodes", "pods", "events")


def api_request(
    method: str, path: str, query: str, *, user: str = "", user_agent: str = ""
) -> ApiRequest:
    """Read the method, the path and the query of a request, as they were sent."""
    parts = [unquote(each) for each in path.strip("/").split("/")]
    before = {"api": _CORE_PARTS, "apis": _GROUP_PARTS}.get(parts[0], 0)
    if not before or len(parts) <= before:
        return ApiRequest(
            user=user,
            user_agent=user_agent,
            verb=method.lower(),
            is_health=parts[0] in _HEALTH,
        )
    group = parts[1] if parts[0] == "apis" else ""
    namespace, rest = _placed(parts[before:])
    kind, name = rest[0], rest[1] if len(rest) > 1 else ""
    below = f"/{rest[2]}" if len(rest) > 2 else ""
    return ApiRequest(
        user=user,
        user_agent=user_agent,
        verb=_verb(method, query, has_name=bool(name)),
        group=group,
        resource=f"{kind}{below}",
        namespace=namespace,
        name=name,
    )


def _placed(parts: list[str]) -> tuple[str, list[str]]:
    """Split `namespaces/NAME/RESOURCE…`; a namespace itself, its status and its finalizers are resources."""
    if parts[0] != "namespaces" or len(parts) < 3 or parts[2] in ("status", "finalize"):
        return "", parts
    return parts[1], parts[2:]


def _verb(method: str, query: str, *, has_name: bool) -> str:
    verb = _VERBS.get(method, method.lower())
    if verb == "delete" and not has_name:
        return "deletecollection"
    if verb == "get" and not has_name:
        return "watch" if _is_watch(query) else "list"
    # A single object is watched with a selector of its name, and with `watch` in old clients.
    return "watch" if verb == "get" and _is_watch(query) else verb


def _is_watch(query: str) -> bool:
    values = parse_qs(query).get("watch", []) if "watch" in query else []
    return bool(values) and values[0] not in _FALSE
