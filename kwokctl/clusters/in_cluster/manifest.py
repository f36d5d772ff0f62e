"""All objects of the controller in a cluster, in an order in which they can be applied."""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.clusters.in_cluster.accounts import accounts
from kwokctl.clusters.in_cluster.config_map import settings
from kwokctl.clusters.in_cluster.manifest_request import NAME, ManifestRequest
from kwokctl.clusters.in_cluster.steering import steering
from kwokctl.clusters.in_cluster.workload import workload
from kwokctl.clusters.launching.custom_resources import definitions_of
from kwokctl.json_value import Json


def manifest(request: ManifestRequest) -> Iterator[Mapping[str, Json]]:
    """Yield the objects; ConfigError for Stages that no rights can be derived from."""
    yield namespace(request)
    yield from definitions_of(sorted(request.custom_kinds))
    yield from accounts(request)
    yield settings(request)
    yield from flow_control(request)
    yield from workload(request)
    if request.steering:
        yield from steering(request.steering)


def namespace(request: ManifestRequest) -> Mapping[str, Json]:
    """Return the namespace, which admits only pods without rights to their node."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": request.namespace, "labels": labels},
    }


_HEARTBEATS = (
    ("", ("nodes", "nodes/status")),
    ("coordination.k8s.io", ("leases",)),
)


def flow_control(request: ManifestRequest) -> Iterator[Mapping[str, Json]]:
    """Yield a schema for heartbeats, and one for all else.

    The levels, and the order of the two, are those that Kubernetes has for kubelets by itself
    (https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#defaults).
    """
    heartbeats = [_rule([within], resources) for within, resources in _HEARTBEATS]
    yield _schema(request, f"{NAME}-heartbeats", "node-high", 401, heartbeats)
    yield _schema(request, NAME, "system", 501, [_rule(["*"], ["*"])])


def _schema(
    request: ManifestRequest, name: str, level: str, precedence: int, rules: Sequence[Json]
) -> Mapping[str, Json]:
    account = {"name": NAME, "namespace": request.namespace}
    return {
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": "FlowSchema",
        "metadata": {"name": name},
        "spec": {
            "distinguisherMethod": {"type": "ByUser"},
            "matchingPrecedence": precedence,
            "priorityLevelConfiguration": {"name": level},
            "rules": [
                {
                    "resourceRules": list(rules),
                    "subjects": [{"kind": "ServiceAccount", "serviceAccount": account}],
                }
            ],
        },
    }


def _rule(groups: Sequence[str], resources: Sequence[str]) -> Mapping[str, Json]:
    return {
        "apiGroups": list(groups),
        "resources": list(resources),
        "verbs": ["*"],
        "clusterScope": True,
        "namespaces": ["*"],
    }
