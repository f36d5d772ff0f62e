"""A policy with which the API server sends pods that are meant for fake nodes to fake nodes.

Operators make pods of their own, and many do not let users set where they run. A label of the pod, or
of its namespace, says it instead.
"""

from collections.abc import Iterator, Mapping

from kwokctl.clusters.in_cluster.manifest_request import FAKE_LABEL
from kwokctl.json_value import Json

NAME = "kwok-steer-pods"
MARK = ("kwok.x-k8s.io/node", "fake")
"""The label of such pods and namespaces, and the taint of nodes that take no others."""
_GROUP = "admissionregistration.k8s.io"
_LABELLED = '{holder}.?metadata.?labels[?"{key}"].orValue("") == "{value}"'


def steering(version: str) -> Iterator[Mapping[str, Json]]:
    """Yield the policy and its binding, in a version of the API."""
    yield {
        "apiVersion": f"{_GROUP}/{version}",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": NAME},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "IfNeeded",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                    }
                ]
            },
            "matchConditions": [{"name": "is-meant-for-fake-nodes", "expression": _is_meant()}],
            "mutations": [
                {"patchType": "JSONPatch", "jsonPatch": {"expression": _patch()}},
            ],
        },
    }
    yield {
        "apiVersion": f"{_GROUP}/{version}",
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": NAME},
        "spec": {"policyName": NAME},
    }


def _is_meant() -> str:
    key, value = MARK
    pod = _LABELLED.format(holder="object", key=key, value=value)
    namespace = _LABELLED.format(holder="namespaceObject", key=key, value=value)
    return f"{pod} || {namespace}"


def _patch() -> str:
    """Write the CEL of the change; what pods demand of nodes beside it still holds."""
    label, value = FAKE_LABEL
    key, mark = MARK
    taint = f'key: "{key}", operator: "Equal", value: "{mark}"'
    return f"""[
  has(object.spec.nodeSelector)
    ? JSONPatch{{op: "add", path: "/spec/nodeSelector/{label}", value: "{value}"}}
    : JSONPatch{{op: "add", path: "/spec/nodeSelector", value: {{"{label}": "{value}"}}}},
  has(object.spec.tolerations)
    ? JSONPatch{{op: "add", path: "/spec/tolerations/-", value: Object.spec.tolerations{{{taint}}}}}
    : JSONPatch{{op: "add", path: "/spec/tolerations", value: [Object.spec.tolerations{{{taint}}}]}}
]
"""
