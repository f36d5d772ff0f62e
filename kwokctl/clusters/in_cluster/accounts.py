"""The account of the controller in a cluster, with the rights that it needs and no others."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from kwokctl.clusters.in_cluster.fault_rights import CLOCK_VERBS, FAULT_RIGHTS
from kwokctl.clusters.in_cluster.manifest_request import NAME, ManifestRequest
from kwokctl.clusters.in_cluster.repair_rights import REPAIR_RIGHTS
from kwokctl.clusters.in_cluster.stage_rights import (
    EVENTS,
    READ,
    ApiRight,
    group,
    plural,
    stage_rights,
)
from kwokctl.config.document_kinds import FAULT, KWOK, REPAIR, STAGE
from kwokctl.controller.documents import replaced
from kwokctl.controller.stages.compiled_stage import POD
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODE_LEASES

_CLAIMS = "resource.k8s.io"
_DRIVER_RIGHTS = frozenset(
    {
        ApiRight(_CLAIMS, "resourceclaims", "get"),
        ApiRight(_CLAIMS, "resourceclaims/status", "patch"),
        ApiRight(_CLAIMS, "resourceclaims/driver", "arbitrary-node:patch"),
        *(ApiRight(_CLAIMS, "resourceslices", verb) for verb in ("list", "patch")),
    }
)
"""With which the controller stands in for DRA drivers; Kubernetes asks for the last one from 1.36 on."""
_TRAINING_RIGHTS = frozenset(
    ApiRight(within, resource, verb)
    for within, resource in (("batch", "jobs"), ("jobset.x-k8s.io", "jobsets"))
    for verb in ("list", "watch", "patch")
)
"""With which the controller writes into Jobs and JobSets how far their training has come, once a pod says that it trains."""
_RBAC = "rbac.authorization.k8s.io"
_LEASES = "coordination.k8s.io"
_REVIEWS = (
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
)
"""With which the server learns whose a token is, and what its user may do."""
_FEATURE_GATES: Json = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
"""The right to the metrics of the API server, which say what gates are on."""


_OF_KINDS = {FAULT: FAULT_RIGHTS, REPAIR: (*FAULT_RIGHTS, *REPAIR_RIGHTS)}
"""By kind, the rights for what kwokctl itself does: a node that is repaired shows a Fault."""


def cluster_rights(request: ManifestRequest) -> set[ApiRight]:
    """Return the rights to objects of all namespaces."""
    rights = stage_rights(request.stages)
    # Nodes and pods are followed even if no Stage is for them: addresses, logs, usage.
    rights |= {ApiRight("", resource, verb) for resource in ("nodes", "pods") for verb in READ}
    rights |= {ApiRight(within, resource, "create") for within, resource in _REVIEWS}
    if _plays_pods(request):
        # An annotation selects the rules of a kubelet for a single pod.
        rights |= {ApiRight("", "pods/status", "patch"), ApiRight("", "pods", "delete")}
        rights |= _DRIVER_RIGHTS | _TRAINING_RIGHTS
    # Of such pods, counted as a kubelet does, and of objects that Stages lead in a circle.
    rights |= {ApiRight("", EVENTS, verb) for verb in ("create", "patch")}
    for kind in _OF_KINDS.keys() & request.custom_kinds:
        rights |= {
            ApiRight(within, resource, verb, name)
            for within, resource, verbs, name in _OF_KINDS[kind]
            for verb in verbs
        }
    for kind in (each for each in request.custom_kinds if each not in _OF_KINDS):
        resource = plural(KWOK, kind)
        rights |= {ApiRight(group(KWOK), resource, verb) for verb in READ}
        # Those that are wrong get a condition.
        rights.add(ApiRight(group(KWOK), f"{resource}/status", "patch"))
    return rights


def _plays_pods(request: ManifestRequest) -> bool:
    kinds = {stage["spec"]["resourceRef"]["kind"] for stage in request.stages}
    return request.has_kubelet_pods or POD.name in kinds


def lease_rights(kinds: Collection[str] = ()) -> set[ApiRight]:
    """Return the rights to leases in the namespace of those of nodes, where these kinds are custom resources."""
    # Controllers remove what others of them that are gone have left there.
    verbs = (
        *READ,
        "create",
        "update",
        "delete",
        *(CLOCK_VERBS if {FAULT, REPAIR} & {*kinds} else ()),
    )
    return {ApiRight(_LEASES, "leases", verb) for verb in verbs}


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
    of_cluster = _role("ClusterRole", {"name": NAME}, cluster_rights(request))
    yield {**of_cluster, "rules": [*of_cluster["rules"], _FEATURE_GATES]}
    yield _binding({"name": NAME}, "ClusterRole", NAME, subject)
    in_leases = {"name": NAME, "namespace": NODE_LEASES}
    yield _role("Role", in_leases, lease_rights(request.custom_kinds))
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
