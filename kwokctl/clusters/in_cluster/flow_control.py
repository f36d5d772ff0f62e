"""The flow control of the API server for the controller: its requests rank like those of kubelets."""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.clusters.in_cluster.request import NAME, ManifestRequest
from kwokctl.json_value import Json

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
