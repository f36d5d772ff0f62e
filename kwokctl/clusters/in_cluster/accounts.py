"""The account of the controller in a cluster, with the rights that its Stages need and no others."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kwokctl.clusters.in_cluster.manifest_request import NAME, ManifestRequest
from kwokctl.clusters.launching.custom_resources import shipped_definition
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import KWOK, STAGE
from kwokctl.controller.documents import replaced
from kwokctl.controller.stages.compiled_stage import (
    POD,
    ApplyStep,
    DeleteStep,
    EventStep,
    FinalizersStep,
    Kind,
    PatchStep,
    Stage,
    Step,
)
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.errors import ConfigError
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODE_LEASES

_IRREGULAR = {"Endpoints": "endpoints"}
"""Of all kinds that Kubernetes serves by itself only this one does not follow the rule."""


def plural(api_version: str, kind: str) -> str:
    """Return the plural of a kind: of a shipped definition, else as Kubernetes' clients guess it.

    The rule is that of UnsafeGuessKindToResource
    (https://pkg.go.dev/k8s.io/apimachinery/pkg/api/meta#UnsafeGuessKindToResource).
    """
    if api_version == KWOK:
        for definition in shipped_definition(kind):
            return str(definition["spec"]["names"]["plural"])
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    word = kind.lower()
    if word.endswith("s"):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def group(api_version: str) -> str:
    """Return the group of an apiVersion, empty for the core group."""
    return api_version.partition("/")[0] if "/" in api_version else ""


_API_VERSION = re.compile(r"^apiVersion: *([A-Za-z0-9./-]+) *$", re.MULTILINE)
_KIND = re.compile(r"^kind: *([A-Za-z0-9]+) *$", re.MULTILINE)
READ = ("get", "list", "watch")
EVENTS = "events"
USERS = "users"


class ApiRight(msgspec.Struct, frozen=True, order=True):
    """One thing that may be done to the objects of one resource."""

    group: str
    resource: str
    """With a subresource, if it is about that: `pods/status`."""
    verb: str
    name: str = ""
    """Of the only object; empty for all."""


def stage_rights(bodies: Sequence[Mapping[str, Json]]) -> set[ApiRight]:
    """Return the rights that these Stages need; ConfigError for one that cannot be read."""
    documents = [_document(body) for body in bodies]
    return {
        right
        for stage, document in zip(read_stages(documents), documents, strict=True)
        for right in _rights(stage, document)
    }


def _rights(stage: Stage, document: Document) -> Iterator[ApiRight]:
    resource = plural(stage.kind.api_version, stage.kind.name)
    within = group(stage.kind.api_version)
    for verb in READ:
        yield ApiRight(within, resource, verb)
    for step in stage.steps:
        yield from _of_step(step, within, resource, document)


def _of_step(step: Step, within: str, resource: str, document: Document) -> Iterator[ApiRight]:
    match step:
        case EventStep():
            yield ApiRight("", EVENTS, "create")
        case FinalizersStep():
            yield ApiRight(within, resource, "patch")
        case DeleteStep():
            yield ApiRight(within, resource, "delete")
        case PatchStep(as_user=user) | ApplyStep(as_user=user) if user:
            # What the user may do is for those to say who have made the user.
            yield ApiRight("", USERS, "impersonate", user)
        case PatchStep():
            yield ApiRight(within, _below(resource, step.subresource), "patch")
        case ApplyStep():
            yield from _of_apply(step, document)


def _of_apply(step: ApplyStep, document: Document) -> Iterator[ApiRight]:
    kind = _applied(document, step.field)
    within, resource = group(kind.api_version), plural(kind.api_version, kind.name)
    if not step.subresource:
        yield ApiRight(within, resource, "create")
    yield ApiRight(within, _below(resource, step.subresource), "patch")


def _below(resource: str, subresource: str) -> str:
    return f"{resource}/{subresource}" if subresource else resource


def _applied(document: Document, field: str) -> Kind:
    """Return what a template applies; ConfigError if only rendering would say it."""
    template = _at(document.body, field)
    version, kind = _API_VERSION.search(template), _KIND.search(template)
    if not (version and kind):
        raise document.fault(
            field,
            "does not say which kind it applies before it is rendered, so no right can be derived",
            hint="write 'apiVersion' and 'kind' at the beginning of lines, without templates in them",
        )
    return Kind(version[1], kind[1])


def _at(body: Json, field: str) -> str:
    """Return the text at a place such as `spec.steps[0].apply.template`."""
    found = body
    for word in re.findall(r"[^.\[\]]+", field):
        found = found[int(word)] if word.isdecimal() else found[word]
    return str(found)


def _document(body: Mapping[str, Json]) -> Document:
    name = str((body.get("metadata") or {}).get("name") or "")
    if not name:
        raise ConfigError("a Stage has no name", hint="write metadata.name")
    return Document(kind="Stage", api_version="", name=name, body=dict(body), source=name)


_CLAIMS = "resource.k8s.io"
_DRIVER_RIGHTS = frozenset(
    {
        ApiRight(_CLAIMS, "resourceclaims", "get"),
        ApiRight(_CLAIMS, "resourceclaims/status", "patch"),
        ApiRight(_CLAIMS, "resourceclaims/driver", "arbitrary-node:patch"),
    }
)
"""With which the controller stands in for DRA drivers; Kubernetes asks for the last one from 1.36 on."""
_RBAC = "rbac.authorization.k8s.io"
_LEASES = "coordination.k8s.io"
_REVIEWS = (
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
)
"""With which the server learns whose a token is, and what its user may do."""
_FEATURE_GATES: Json = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
"""The right to the metrics of the API server, which say what gates are on."""


def cluster_rights(request: ManifestRequest) -> set[ApiRight]:
    """Return the rights to objects of all namespaces."""
    rights = stage_rights(request.stages)
    # Nodes and pods are followed even if no Stage is for them: addresses, logs, usage.
    rights |= {ApiRight("", resource, verb) for resource in ("nodes", "pods") for verb in READ}
    rights |= {ApiRight(within, resource, "create") for within, resource in _REVIEWS}
    if _plays_pods(request):
        # An annotation selects the rules of a kubelet for a single pod.
        rights |= {ApiRight("", "pods/status", "patch"), ApiRight("", "pods", "delete")}
        rights |= _DRIVER_RIGHTS
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
    of_cluster = _role("ClusterRole", {"name": NAME}, cluster_rights(request))
    yield {**of_cluster, "rules": [*of_cluster["rules"], _FEATURE_GATES]}
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
