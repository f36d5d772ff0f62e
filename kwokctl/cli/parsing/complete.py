"""Lists values for shell completion; fast, and empty when something is wrong."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from kwokctl.artifacts.versions import known_kube_versions
from kwokctl.cli.parsing.parameters import Parameter
from kwokctl.components.catalog import catalog, usual_options
from kwokctl.config.document_kinds import CUSTOM
from kwokctl.config.options import spellings
from kwokctl.errors import KwokctlError, UnavailableError
from kwokctl.host.paths import WorkDir, default_workdir
from kwokctl.json_value import Json
from kwokctl.model import ClusterName

_FILES = frozenset({"FILE", "PROGRAM", "IMAGE-OR-FILE", "SET-OR-FILE", "CLUSTER|FILE"})
"""The names of values that may be paths of files."""
_FOLDER = "DIR"


def clusters() -> list[str]:
    """List the clusters on disk."""
    try:
        folder = WorkDir(default_workdir()).clusters
    except UnavailableError:
        return []
    return sorted(file.parent.name for file in folder.glob("*/kwok.yaml"))


def kubeconfig(name: str) -> str:
    """Return the path of a cluster's own kubeconfig, whether or not there is such a cluster."""
    return str(WorkDir(default_workdir()).cluster(ClusterName(name)).kubeconfig)


def _runtimes() -> list[str]:
    from kwokctl import registry

    return ["auto", *registry.names()]


def _sources() -> list[str]:
    from kwokctl.artifacts.resolve_programs import ArtifactSource

    return list(ArtifactSource)


def _stage_sets() -> list[str]:
    from kwokctl.components.stage_sets import NONE, shipped_sets

    return [*shipped_sets(), NONE]


def _selectable() -> list[str]:
    """List the components and the add-ons that a cluster may have."""
    from kwokctl.config.add_ons.folder import shipped

    return [*catalog(), *shipped()]


def _kinds() -> tuple[str, ...]:
    from kwokctl.clusters.object_files.exporting.chosen_kinds import DEFAULT

    return DEFAULT


def components(cluster: str) -> list[str]:
    """List the components of a cluster; those that there are where it cannot be read."""
    from kwokctl.expr import yaml

    try:
        saved = WorkDir(default_workdir()).cluster(ClusterName(cluster)).saved
        head: Json = next(yaml.documents(saved.read_text(encoding="utf-8")), None)
        return [str(component["name"]) for component in head["components"]]
    except (OSError, KwokctlError, LookupError, TypeError, ValueError):
        return list(catalog())


def _classes() -> Sequence[str]:
    """List the built-in classes of faults."""
    from kwokctl.faults.classes.catalogue import FaultCatalogue

    return FaultCatalogue().names


def _dialects() -> Sequence[str]:
    """List the built-in dialects of faults."""
    from kwokctl.faults.classes.catalogue import FaultCatalogue

    return FaultCatalogue().dialect_names


_OF_CLUSTER: Mapping[str, Callable[[str], Sequence[str]]] = {
    "component": components,
    "log": lambda cluster: (*components(cluster), "audit"),
}
"""Values that differ from cluster to cluster, by the parameter's name."""
_VALUES: Mapping[str, Callable[[], Sequence[str]]] = {
    "name": clusters,
    "level": lambda: ("DEBUG", "INFO", "WARN", "ERROR"),
    "components": _selectable,
    "enable": _selectable,
    "disable": _selectable,
    "enable_crds": lambda: CUSTOM,
    "kinds": _kinds,
    "kind": lambda: ("node", "pod"),
    "kube_version": known_kube_versions,
    "runtime": _runtimes,
    "artifact_source": _sources,
    "stage": _stage_sets,
}
"""Values of parameters that do not declare them, by the parameter's name."""
_BY_METAVAR: Mapping[str, Callable[[], Sequence[str]]] = {
    "SET-OR-FILE": _stage_sets,
    "CLUSTER|FILE": clusters,
    "CLASS": _classes,
    "DIALECT": _dialects,
}
"""Functions that return the words for a value, by its metavar."""


def values(param: Parameter, cluster: str) -> Sequence[str]:
    """List the words that an option or argument takes; none if any word will do."""
    if declared := getattr(getattr(param.type, "func", None), "choices", ()):
        return tuple(declared)
    name = str(param.name)
    if found := next((s.choices for s in spellings(usual_options()) if s.field == name), ()):
        return found
    if of_cluster := _OF_CLUSTER.get(name):
        return of_cluster(cluster)
    offered = _VALUES.get(name) or _BY_METAVAR.get((param.metavar or "").removesuffix("..."))
    return offered() if offered else ()


def is_list(param: Parameter) -> bool:
    """Return whether commas part the values of a parameter."""
    return "," in (param.metavar or "")


def paths(param: Parameter) -> Literal["files", "folders"] | None:
    """Return which paths a parameter takes; None if it takes none."""
    name = (param.metavar or "").removesuffix("...")
    if name == _FOLDER:
        return "folders"
    return "files" if name in _FILES else None
