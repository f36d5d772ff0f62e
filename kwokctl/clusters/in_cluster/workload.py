"""The processes of the controller in a cluster, and what keeps them running."""

import hashlib
from collections.abc import Iterator, Mapping

from kwokctl.clusters.in_cluster.config_map import FILE, settings
from kwokctl.clusters.in_cluster.manifest_request import (
    FAKE_LABEL,
    NAME,
    PORT,
    THROUGH_SERVICE,
    ManifestRequest,
)
from kwokctl.json_value import Json

_LABELS = {"app.kubernetes.io/name": NAME}
_FOLDER = "/etc/kwok"
_PRIORITY = 1_000_000
"""Above the pods of users, below those of the system: a fleet without its controller is lost."""
_USER = 65532
_DIGITS = 12
"""Of the hash of the configuration, which restarts the pods when it changes."""
VARIABLES = {
    "POD_IP": "status.podIP",
    "POD_NAME": "metadata.name",
    "POD_NAMESPACE": "metadata.namespace",
    "POD_UID": "metadata.uid",
}
"""The variables that tell a controller its own pod, and the fields that they are taken from."""


def workload(request: ManifestRequest) -> Iterator[Mapping[str, Json]]:
    """Yield the Service, the Deployment and what protects it."""
    metadata = {"name": NAME, "namespace": request.namespace, "labels": dict(_LABELS)}
    yield {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": NAME},
        "value": _PRIORITY,
        "description": "The controllers of fake nodes.",
    }
    # Before the Deployment: its pods find the address of the Service in their environment.
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {
            "selector": dict(_LABELS),
            "ports": [{"name": "kubelet", "port": PORT, "targetPort": "kubelet"}],
        },
    }
    yield {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": dict(_LABELS)}},
    }
    yield {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": request.size.replicas,
            "selector": {"matchLabels": dict(_LABELS)},
            "strategy": {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}},
            "template": _template(request),
        },
    }


def _template(request: ManifestRequest) -> Mapping[str, Json]:
    written = str(settings(request)["data"][FILE])
    digest = hashlib.sha256(written.encode()).hexdigest()[:_DIGITS]
    return {
        "metadata": {
            "labels": dict(_LABELS),
            "annotations": {"kwokctl.dev/configuration": f"sha256-{digest}"},
        },
        "spec": {
            "serviceAccountName": NAME,
            "priorityClassName": NAME,
            "terminationGracePeriodSeconds": 10,
            "affinity": {"nodeAffinity": _on_real_nodes()},
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": dict(_LABELS)},
                }
            ],
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": _USER,
                "runAsGroup": _USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [_container(request)],
            "volumes": [
                {"name": "configuration", "configMap": {"name": NAME}},
                # The certificate of the server is made again at each start.
                {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}},
            ],
        },
    }


def _on_real_nodes() -> Mapping[str, Json]:
    key, value = FAKE_LABEL
    expression = {"key": key, "operator": "NotIn", "values": [value]}
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [expression]}]
        }
    }


def _container(request: ManifestRequest) -> Mapping[str, Json]:
    return {
        "name": "controller",
        "image": request.image,
        "args": list(_arguments(request)),
        "env": list(_environment(request)),
        "ports": [{"name": "kubelet", "containerPort": PORT}],
        "startupProbe": _probe("/livez", periodSeconds=2, failureThreshold=60),
        "livenessProbe": _probe("/livez", periodSeconds=10, timeoutSeconds=5, failureThreshold=6),
        "readinessProbe": _probe("/readyz", periodSeconds=5, timeoutSeconds=5),
        # No limit of the processor: a controller that is throttled renews its leases too late.
        "resources": {
            "requests": {"cpu": "500m", "memory": _quantity(request.size.memory_request)},
            "limits": {"memory": _quantity(request.size.memory_limit)},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "configuration", "mountPath": _FOLDER, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - the container's own
        ],
    }


def _arguments(request: ManifestRequest) -> Iterator[str]:
    yield f"--config={_FOLDER}/{FILE}"
    if request.kubelet_through == THROUGH_SERVICE:
        # Any replica answers for any node; the address of one would be lost with it.
        yield f"--node-ip=$({NAME.upper().replace('-', '_')}_SERVICE_HOST)"
    else:
        yield "--node-ip=$(POD_IP)"
    if request.has_kubelet_pods:
        yield "--pods=kubelet"


def _environment(request: ManifestRequest) -> Iterator[Mapping[str, Json]]:
    for name, path in VARIABLES.items():
        yield {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
    if request.api_server:
        host, port = request.api_server
        yield {"name": "KUBERNETES_SERVICE_HOST", "value": host}
        yield {"name": "KUBERNETES_SERVICE_PORT", "value": str(port)}


def _probe(path: str, **times: int) -> Mapping[str, Json]:
    return {"httpGet": {"path": path, "port": "kubelet"}, **times}


def _quantity(mebibytes: int) -> str:
    return f"{mebibytes}Mi" if mebibytes % 1024 else f"{mebibytes // 1024}Gi"
