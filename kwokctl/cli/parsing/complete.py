"""Lists values for shell completion; fast, and empty when something is wrong."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kwokctl.components.catalog import catalog, usual_options
from kwokctl.config.options import spellings
from kwokctl.errors import UnavailableError
from kwokctl.host.paths import WorkDir, default_workdir
from kwokctl.model import ClusterName

_FILES = frozenset({"FILE", "PROGRAM", "IMAGE-OR-FILE"})
"""What a value is called that may be the path of a file."""


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
    from kwokctl.artifacts.resolve import ArtifactSource

    return list(ArtifactSource)


def _stage_sets() -> list[str]:
    from kwokctl.components.stage_sets import NONE, shipped_sets

    return [*shipped_sets(), NONE]


_VALUES: Mapping[str, Callable[[], Sequence[str]]] = {
    "name": clusters,
    "level": lambda: ("DEBUG", "INFO", "WARN", "ERROR"),
    "component": lambda: (*catalog(), "audit"),
    "components": lambda: tuple(catalog()),
    "enable": lambda: tuple(catalog()),
    "disable": lambda: tuple(catalog()),
    "kind": lambda: ("node", "pod"),
    "runtime": _runtimes,
    "artifact_source": _sources,
    "stage": _stage_sets,
}
"""Values of parameters that do not declare them, by the parameter's name."""


def values(param: Any) -> Sequence[str]:
    """List the words that an option or argument takes; none if any word will do."""
    if declared := getattr(getattr(param.type, "func", None), "choices", ()):
        return tuple(declared)
    if found := next((s.choices for s in spellings(usual_options()) if s.field == param.name), ()):
        return found
    offered = _VALUES.get(param.name)
    return offered() if offered else ()


def is_list(param: Any) -> bool:
    """Return whether commas part the values of a parameter."""
    return "," in (param.metavar or "")


def is_file(param: Any) -> bool:
    """Return whether a parameter takes the path of a file."""
    return param.metavar in _FILES
