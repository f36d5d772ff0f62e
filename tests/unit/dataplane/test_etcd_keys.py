""""""

import pytest

from kwokctl.dataplane.etcd_keys import Keys, in_words, is_readable
from kwokctl.kube.resource import DEPLOYMENTS, LEASES, NODES, PODS, SERVICES, Resource

WIDGETS = Resource("example.com", "v1", "widgets", "Widget", namespaced=True)
INGRESSES = Resource("networking.k8s.io", "v1", "ingresses", "Ingress", namespaced=True)
GATEWAYS = Resource("gateway.networking.k8s.io", "v1", "gateways", "Gateway", namespaced=True)


@pytest.mark.parametrize(
    ("resource", "namespace", "key"),
    [
        (NODES, None, "/registry/minions/x"),
        (PODS, "ns", "/registry/pods/ns/x"),
        (LEASES, "ns", "/registry/leases/ns/x"),
        (SERVICES, "ns", "/registry/services/specs/ns/x"),
        (DEPLOYMENTS, "ns", "/registry/deployments/ns/x"),
        (INGRESSES, "ns", "/registry/ingress/ns/x"),
        (WIDGETS, "ns", "/registry/example.com/widgets/ns/x"),
    ],
)
def test_every_kind_has_its_place(resource: Resource, namespace: str | None, key: str) -> None:
    assert Keys("/registry").key(resource, namespace, "x") == key.encode()


@pytest.mark.parametrize(
    ("path", "resource", "rest"),
    [
        ("minions/node-0", "nodes", "node-0"),
        ("pods/default/web", "pods", "default/web"),
        ("services/specs/default/web", "services", "default/web"),
        ("services/endpoints/default/web", "endpoints", "default/web"),
        ("controllers/default/old", "replicationcontrollers", "default/old"),
        ("ingress/default/web", "ingresses", "default/web"),
        ("example.com/widgets/default/a", "widgets.example.com", "default/a"),
    ],
)
def test_a_path_is_named_as_kubectl_names_it(path: str, resource: str, rest: str) -> None:
    assert in_words(path) == (resource, rest)


def test_a_prefix_may_be_written_in_any_way() -> None:
    assert {Keys(prefix).key(NODES, None, "x") for prefix in ("a/b", "/a/b", "/a/b/")} == {
        b"/a/b/minions/x"
    }


def test_a_group_of_kubernetes_own_may_be_built_in_or_custom() -> None:
    assert Keys("/r").candidates(GATEWAYS, "ns", "x") == (
        b"/r/gateways/ns/x",
        b"/r/gateway.networking.k8s.io/gateways/ns/x",
    )
    assert Keys("/r").candidates(PODS, "ns", "x") == (b"/r/pods/ns/x",)


def test_encrypted_values_are_recognized() -> None:
    assert is_readable(b'{"kind":"Pod"}')
    assert is_readable(b"k8s\x00\n\x0f")
    assert not is_readable(b"k8s:enc:aescbc:v1:key1:\x12")
