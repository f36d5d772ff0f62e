import pytest

from kwokctl.kube.resource import LEASES, NODES, PODS


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (PODS.path(), "/api/v1/pods"),
        (PODS.path("ns"), "/api/v1/namespaces/ns/pods"),
        (PODS.path("ns", "a"), "/api/v1/namespaces/ns/pods/a"),
        (PODS.path("ns", "a", "status"), "/api/v1/namespaces/ns/pods/a/status"),
        (NODES.path("ignored", "n"), "/api/v1/nodes/n"),
        (LEASES.path("ns", "l"), "/apis/coordination.k8s.io/v1/namespaces/ns/leases/l"),
        (PODS.path("ns", "a/../b c?d"), "/api/v1/namespaces/ns/pods/a%2F..%2Fb%20c%3Fd"),
        (NODES.path(None, "system:node"), "/api/v1/nodes/system:node"),
    ],
)
def test_paths_are_those_of_the_api(path: str, expected: str) -> None:
    assert path == expected


def test_the_api_version_of_the_core_group_has_no_group() -> None:
    assert (PODS.api_version, LEASES.api_version) == ("v1", "coordination.k8s.io/v1")
