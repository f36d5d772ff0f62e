"""The ConfigMap of the controller in a cluster: its options, Stages and other documents.

Stages and options are chosen by the rules for a new cluster.
"""

from collections.abc import Mapping, Sequence

from kwokctl.clusters.in_cluster.manifest_request import NAME, PORT, ManifestRequest
from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.components.catalog import usual_options
from kwokctl.components.heartbeat import REAL
from kwokctl.components.stage_sets import KUBELET_PODS, check_word
from kwokctl.config.config_documents import Document
from kwokctl.config.declaring import OptionValue
from kwokctl.config.document_kinds import CONFIGURATION, FOR_KUBELET, PROGRAM
from kwokctl.config.options import with_values
from kwokctl.controller.configuration import SELECTING, given_options
from kwokctl.errors import UsageError
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


_DECIDED = {
    "kubeconfig": "it has a service account",
    "nodeIP": "--kubelet-through decides it",
    "nodePort": "it is the port of the Service",
    "serverAddress": "it is the port of the Service",
    "tlsCertFile": "it makes a certificate",
    "tlsPrivateKeyFile": "it makes a certificate",
    "enableCRDs": "--crds gives it all kinds",
}
"""Options that have no place in a cluster, and why."""


def chosen_stages(
    words: Sequence[str], documents: Sequence[Document]
) -> tuple[Mapping[str, Json], ...]:
    """Return the Stages of the sets that are named, the default ones of other parts, and the user's."""
    for word in words:
        if found := check_word(word):
            raise UsageError(f"'--stage' is '{word}', {found.problem}", hint=found.hint)
    chosen: dict[str, OptionValue] = {
        "stage": tuple(words),
        "node_heartbeat": REAL,
        "heartbeat_factor": 1,
    }
    return stages_in_force(with_values(usual_options(), chosen), documents).documents


def has_kubelet_pods(words: Sequence[str]) -> bool:
    """Return whether one of the sets is `pod-kubelet`, which has no Stages for pods."""
    return KUBELET_PODS in words


def kubelet_documents(documents: Sequence[Document]) -> tuple[Mapping[str, Json], ...]:
    """Return the user's documents of what kubelets answer, and of what containers do."""
    return tuple(each.body for each in documents if each.kind in (*FOR_KUBELET, PROGRAM))


def chosen_options(documents: Sequence[Document]) -> Mapping[str, Json]:
    """Return the options of the user's KwokConfiguration; UsageError for one without a place."""
    options = given_options(documents)
    for name, why in _DECIDED.items():
        if options.get(name):
            raise UsageError(
                f"'KwokConfiguration.options.{name}' has no effect in a cluster: {why}",
                hint="leave it out",
            )
    return options
