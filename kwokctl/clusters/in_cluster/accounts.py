"""The identity of the controller in a cluster, and what it may do."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from kwokctl.clusters.in_cluster.plurals import group, plural
from kwokctl.clusters.in_cluster.request import NAME, ManifestRequest
from kwokctl.clusters.in_cluster.stage_rights import EVENTS, READ, ApiRight, stage_rights
from kwokctl.config.document_kinds import KWOK, STAGE
from kwokctl.controller.documents import replaced
from kwokctl.controller.stages.model import POD
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODE_LEASES

_RBAC = "rbac.authorization.k8s.io"
_LEASES = "coordination.k8s.io"
_REVIEWS = (
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
)
"""With which the server learns whose a token is, and what its user may do."""


def cluster_rights(request: ManifestRequest) -> set[ApiRight]:
    """Return the rights to objects of all namespaces."""
    rights = stage_rights(request.stages)
    # Nodes and pods are followed even if no Stage is for them: addresses, logs, usage.
    rights |= {ApiRight("", resource, verb) for resource in ("nodes", "pods") for verb in READ}
    rights |= {ApiRight(within, resource, "create") for within, resource in _REVIEWS}
    if _plays_pods(request):
        # An annotation selects the rules of a kubelet for a single pod.
        rights |= {ApiRight("", "pods/status", "patch"), ApiRight("", "pods", "delete")}
    # Of such pods, counted as a kubelet does, and of objects that Stages lead in a circle.
    rights |= {ApiRight("", EVENTS, verb) for verb in ("create", "patch")}
    for kind in request.custom_kinds:
        resource = plural(KWOK, kind)
        rights |= {ApiRight(group(KWOK), resource, verb) for verb in READ}
        # Those that are wrong get a condition.
        rights.add(ApiRight(group(KWOK), f"{resource}/status", "patch"))
    return rights


def _plays_pods(request: ManifestRequest) -> bool:
    kinds = {stage["spec"]["resourceRef"]["kind"] for stage in request.stages}
    return request.has_kubelet_pods or POD.name in kinds


def lease_rights() -> set[ApiRight]:
    """Return the rights to leases in the namespace of those of nodes."""
    # Controllers remove what others of them that are gone have left there.
    return {ApiRight(_LEASES, "leases", verb) for verb in (*READ, "create", "update", "delete")}


def replaced_rights() -> set[ApiRight]:
    """Return the rights to the names of replaced Stages, in the namespace that keeps them."""
    kept = {ApiRight("", "configmaps", verb, replaced.NAME) for verb in (*READ, "patch")}
    # A right to create cannot name the object.
    return {*kept, ApiRight("", "configmaps", "create")}


def rules(rights: Iterable[ApiRight]) -> list[Json]:
    """Write rights as the rules of a role; resources with the same verbs share one."""
    verbs: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for right in rights:
        verbs[right.group, right.resource, right.name].add(right.verb)
    alike: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (within, resource, name), found in sorted(verbs.items()):
        alike[within, name, tuple(sorted(found))].append(resource)
    return [
        {
            "apiGroups": [within],
            "resources": resources,
            **({"resourceNames": [name]} if name else {}),
            "verbs": list(found),
        }
        for (within, name, found), resources in sorted(alike.items(), key=_by_resource)
    ]


def _by_resource(rule: tuple[tuple[str, str, tuple[str, ...]], list[str]]) -> tuple[str, list[str]]:
    return rule[0][0], rule[1]


def accounts(request: ManifestRequest) -> Iterator[Mapping[str, Json]]:
    """Yield the service account, its roles and their bindings."""
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": request.namespace}
    yield {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": NAME, "namespace": request.namespace},
    }
    yield _role("ClusterRole", {"name": NAME}, cluster_rights(request))
    yield _binding({"name": NAME}, "ClusterRole", NAME, subject)
    in_leases = {"name": NAME, "namespace": NODE_LEASES}
    yield _role("Role", in_leases, lease_rights())
    yield _binding(in_leases, "Role", NAME, subject)
    if STAGE in request.custom_kinds:
        kept = {"name": f"{NAME}-stages", "namespace": replaced.NAMESPACE}
        yield _role("Role", kept, replaced_rights())
        yield _binding(kept, "Role", kept["name"], subject)
    # The authority of clients' certificates: the API server shows one when it asks for logs.
    yield _binding(
        {"name": NAME, "namespace": "kube-system"},
        "Role",
        "extension-apiserver-authentication-reader",
        subject,
    )


def _role(kind: str, metadata: Mapping[str, str], rights: set[ApiRight]) -> Mapping[str, Json]:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": dict(metadata),
        "rules": rules(rights),
    }


def _binding(
    metadata: Mapping[str, str], kind: str, role: str, subject: Mapping[str, str]
) -> Mapping[str, Json]:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding" if "namespace" in metadata else "ClusterRoleBinding",
        "metadata": dict(metadata),
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": role},
        "subjects": [dict(subject)],
    }
