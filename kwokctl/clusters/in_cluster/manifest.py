"""All objects of the controller in a cluster, in an order in which they can be applied."""

from collections.abc import Iterator, Mapping

from kwokctl.clusters.in_cluster.accounts import accounts
from kwokctl.clusters.in_cluster.configuration import settings
from kwokctl.clusters.in_cluster.flow_control import flow_control
from kwokctl.clusters.in_cluster.request import ManifestRequest
from kwokctl.clusters.in_cluster.steering import steering
from kwokctl.clusters.in_cluster.workload import workload
from kwokctl.clusters.launching.custom_resources import shipped_definition
from kwokctl.json_value import Json


def manifest(request: ManifestRequest) -> Iterator[Mapping[str, Json]]:
    """Yield the objects; ConfigError for Stages that no rights can be derived from."""
    yield namespace(request)
    for kind in sorted(request.custom_kinds):
        yield from shipped_definition(kind)
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
