"""What a request asks of the API."""

import pytest

from kwokctl.api_proxy.api_request import CONTROLLER_USER, ApiRequest, api_request


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("GET", "/api/v1/nodes", "", ("list", "", "nodes", "", "")),
        ("GET", "/api/v1/nodes", "watch=true&resourceVersion=5", ("watch", "", "nodes", "", "")),
        ("GET", "/api/v1/nodes", "watch=false", ("list", "", "nodes", "", "")),
        ("GET", "/api/v1/nodes/n-1", "", ("get", "", "nodes", "", "n-1")),
        ("PATCH", "/api/v1/nodes/n-1/status", "", ("patch", "", "nodes/status", "", "n-1")),
        ("GET", "/api/v1/namespaces/a/pods", "", ("list", "", "pods", "a", "")),
        ("GET", "/api/v1/namespaces/a", "", ("get", "", "namespaces", "", "a")),
        ("PUT", "/api/v1/namespaces/a/status", "", ("update", "", "namespaces/status", "", "a")),
        ("POST", "/api/v1/namespaces/a/pods/p/binding", "", ("create", "", "pods/binding", "a", "p")),
        ("DELETE", "/api/v1/namespaces/a/pods", "", ("deletecollection", "", "pods", "a", "")),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n", "", ("update", "coordination.k8s.io", "leases", "kube-node-lease", "n")),
        ("GET", "/apis/apps/v1", "", ("get", "", "", "", "")),
        ("GET", "/version", "", ("get", "", "", "", "")),
        ("GET", "/", "", ("get", "", "", "", "")),
    ],
)  # fmt: skip
def test_a_request_is_read_as_the_api_server_reads_it(
    method: str, path: str, query: str, expected: tuple[str, ...]
) -> None:
    found = api_request(method, path, query)

    assert (found.verb, found.group, found.resource, found.namespace, found.name) == expected


def asked(path: str, *, user: str = "somebody", method: str = "PATCH") -> ApiRequest:
    return api_request(method, path, "", user=user)


LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


@pytest.mark.parametrize("path", ["/readyz", "/livez/ping", "/healthz", "/metrics"])
def test_no_fault_hits_what_is_asked_of_the_health_of_the_api_server(path: str) -> None:
    assert asked(path, method="GET").is_exempt


def test_no_fault_hits_what_clears_faults_whoever_asks() -> None:
    assert asked("/apis/kwokctl.dev/v1alpha1/faults/a", method="DELETE").is_exempt
    assert not asked("/apis/example.com/v1/faults/a", method="DELETE").is_exempt


@pytest.mark.parametrize(
    ("path", "is_exempt"),
    [
        ("/api/v1/nodes/n-1/status", False),
        ("/api/v1/namespaces/a/pods/p/status", False),
        (f"{LEASES}/n-1", False),
        (f"{LEASES}/kwokctl-fault-clock", True),
        (f"{LEASES}/kwokctl-member-x", True),
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", True),
    ],
)
def test_of_the_controller_what_its_kubelets_write_is_hit_and_nothing_else(
    path: str, is_exempt: bool
) -> None:
    assert asked(path, user=CONTROLLER_USER).is_exempt is is_exempt
    assert not asked(path).is_exempt
