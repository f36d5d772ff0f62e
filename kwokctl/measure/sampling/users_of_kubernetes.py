"""Knows the users of Kubernetes' own programs: what they do to nodes and pods is no reaction to a fault.

The service accounts are those of kube-controller-manager that write nodes or delete pods:
https://kubernetes.io/docs/reference/access-authn-authz/rbac/#controller-roles
"""

_ACCOUNT = "system:serviceaccount:kube-system:"
_NODE = "system:node:"
_PROGRAMS = frozenset({
    "system:kube-controller-manager", "system:kube-scheduler", "system:apiserver",
})  # fmt: skip
_CONTROLLERS = frozenset({
    "attachdetach-controller", "cronjob-controller", "daemon-set-controller", "generic-garbage-collector", "job-controller",
    "namespace-controller", "node-controller", "node-lifecycle-controller", "pod-garbage-collector", "replicaset-controller",
    "replication-controller", "route-controller", "statefulset-controller", "ttl-controller",
})  # fmt: skip


def is_of_kubernetes(user: str) -> bool:
    """Return whether a user is one of Kubernetes' own programs, which other programs in `kube-system` are not."""
    if user.startswith(_ACCOUNT):
        return user.removeprefix(_ACCOUNT) in _CONTROLLERS
    return user in _PROGRAMS or user.startswith(_NODE)
