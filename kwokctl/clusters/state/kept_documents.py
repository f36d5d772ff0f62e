"""Selects the user's documents that a cluster keeps for its controller, its kubelet server, and `scale`.

They lie in the cluster's `kwok.yaml`, which every controller is given: the embedded one, and one of
the user's own, which may support more of them.
"""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import CONFIGURATION, FOR_KUBELET, PROGRAM
from kwokctl.config.options import ClusterOptions
from kwokctl.controller.configuration import KIND
from kwokctl.errors import UsageError
from kwokctl.host.paths import expanded
from kwokctl.json_value import Json
from kwokctl.runtime import BringsKubernetes, Runtime

_PATHS = frozenset({"kubeconfig", "logsFile", "tlsCertFile", "tlsPrivateKeyFile", "workDir"})
"""Fields that hold a path of the machine on which `create cluster` is called."""
_USUAL_PARALLELISM: Mapping[str, int] = {
    "podPlayStageParallelism": 4,
    "nodePlayStageParallelism": 4,
    "nodeLeaseParallelism": 4,
    "podsOnNodeSyncParallelism": 1,
}
"""The parallelism of the original controller. It is written out for a controller given by the user:
0, which means a default to the embedded one, may mean nothing at all to another."""
SETTLED_BY_CLUSTER = {
    "kubeconfig": "the cluster's own",
    "nodeLeaseDurationSeconds": "--node-lease-duration-seconds",
    "nodePort": "--kubelet-port",
    "serverAddress": "--bind-address and --controller-port",
    "tlsCertFile": "the cluster's own",
    "tlsPrivateKeyFile": "the cluster's own",
}
"""Options of the controller that every cluster passes as flags, and what decides them."""
FOR_SCALE = "KwokctlResource"
"""The kind of document that is a template for `scale`."""
FOR_RUNTIME = "Cluster"
"""The kind of document that is for the program with which a runtime makes clusters."""


def kept_documents(
    options: ClusterOptions, documents: Sequence[Document]
) -> tuple[Mapping[str, Json], ...]:
    """Return the documents that the controller of a cluster is given beside its Stages.

    Several of kind KwokConfiguration become one. Relative paths are those of the caller's folder.
    """
    configurations = [each for each in documents if each.kind == KIND]
    others = [each.body for each in documents if each.kind in (*FOR_KUBELET, PROGRAM)]
    own = options.of(KwokControllerOptions)
    parallelism = _parallelism(own.parallelism) if own.binary else {}
    merged = [_merged(configurations, parallelism)] if configurations or own.binary else []
    return tuple(_whole_paths(body) for body in (*merged, *others))


def resource_templates(documents: Sequence[Document]) -> tuple[Mapping[str, Json], ...]:
    """Return the documents that `scale` is to know in a cluster."""
    return tuple(document.body for document in documents if document.kind == FOR_SCALE)


def controller_options(kept: Sequence[Mapping[str, Json]]) -> Mapping[str, Json]:
    """Return the options of the controller among the documents that a cluster keeps."""
    return next((body.get("options") or {} for body in kept if body.get("kind") == KIND), {})


def is_kept(body: Mapping[str, Json]) -> bool:
    """Return whether a document of a saved cluster is one for its controller."""
    return body.get("kind") not in {"Stage", FOR_RUNTIME, FOR_SCALE}


def remarks(documents: Sequence[Document]) -> Iterator[str]:
    """List, a line each, the options that a new cluster's controller ignores."""
    given = {name for each in documents if each.kind == KIND for name in _options_of(each)}
    for name, decider in SETTLED_BY_CLUSTER.items():
        if name in given:
            yield f"'{KIND}.options.{name}' is ignored: the cluster sets it ({decider})"


def _parallelism(number: int) -> Mapping[str, int]:
    """Return the options of parallelism for the user's own controller, where no document sets others."""
    given = ("podPlayStageParallelism", "nodePlayStageParallelism") if number else ()
    return {**_USUAL_PARALLELISM, **dict.fromkeys(given, number)}


def _merged(documents: Sequence[Document], usual: Mapping[str, int]) -> dict[str, Json]:
    options: dict[str, Json] = {}
    rest: dict[str, Json] = {}
    for document in documents:
        options.update(_options_of(document))
        rest.update({key: value for key, value in document.body.items() if key != "options"})
    options |= {name: options.get(name) or many for name, many in usual.items()}
    return {**rest, "apiVersion": CONFIGURATION, "kind": KIND, "options": options}


def _options_of(document: Document) -> Mapping[str, Json]:
    options = document.body.get("options") or {}
    if not isinstance(options, Mapping):
        raise document.fault("options", "must be a mapping")
    return options


def _whole_paths(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {
            key: str(expanded(item).absolute())
            if key in _PATHS and isinstance(item, str) and item
            else _whole_paths(item)
            for key, item in value.items()
        }
    return [_whole_paths(item) for item in value] if isinstance(value, list) else value


def runtime_documents(
    runtime: Runtime, documents: Sequence[Document]
) -> tuple[Mapping[str, Json], ...]:
    """Return the user's documents for the program that the runtime makes clusters with.

    Raises UsageError where the runtime has no use for them.
    """
    group = runtime.documents if isinstance(runtime, BringsKubernetes) else ""
    found = [document for document in documents if document.kind == FOR_RUNTIME]
    for document in found:
        if not group or not document.api_version.startswith(f"{group}/"):
            raise UsageError(
                f"{document.source}: a '{document.kind}' of '{document.api_version}' is not for the "
                f"runtime '{runtime.name}'",
                hint="leave it out, or choose with --runtime the runtime that it is for",
            )
    return tuple(document.body for document in found)
