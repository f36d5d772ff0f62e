"""The configuration of the controller in a cluster: its options and Stages in a ConfigMap."""

from collections.abc import Mapping

from kwokctl.clusters.in_cluster.request import NAME, PORT, ManifestRequest
from kwokctl.config.document_kinds import CONFIGURATION
from kwokctl.controller.configuration import SELECTING
from kwokctl.expr import yaml
from kwokctl.json_value import Json

FILE = "kwok.yaml"
LEASE_SECONDS = 40
_USUAL: Mapping[str, Json] = {
    "manageNodesWithAnnotationSelector": "kwok.x-k8s.io/node=fake",
    "nodeLeaseDurationSeconds": LEASE_SECONDS,
    "nodePort": PORT,
}


def settings(request: ManifestRequest) -> Mapping[str, Json]:
    """Return the ConfigMap."""
    documents = [_configuration(request), *map(dict, (*request.stages, *request.documents))]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": request.namespace},
        "data": {FILE: yaml.dump_all(documents)},
    }


def lease_seconds(options: Mapping[str, Json]) -> int:
    """Return how long leases of nodes last with these options of the user."""
    return int({**_USUAL, **options}["nodeLeaseDurationSeconds"])


def _configuration(request: ManifestRequest) -> Mapping[str, Json]:
    selects = any(request.options.get(name) for name in SELECTING)
    usual = {name: value for name, value in _USUAL.items() if not (selects and name in SELECTING)}
    options = {**usual, **request.options, "nodePort": PORT}
    if request.custom_kinds:
        options["enableCRDs"] = sorted(request.custom_kinds)
    return {
        "apiVersion": CONFIGURATION,
        "kind": "KwokConfiguration",
        "options": dict(sorted(options.items())),
    }
