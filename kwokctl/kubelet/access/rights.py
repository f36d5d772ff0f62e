"""The right that each path of a kubelet needs, from the kubelet's own table.

https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/#kubelet-authorization,
with the fine-grained ones: several are several ways to the same right.
"""

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
