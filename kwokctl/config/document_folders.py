"""Finds the YAML files of a folder: all of them, or those that its kustomization lists."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from kwokctl.errors import ConfigError, NotServedError
from kwokctl.expr import yaml

_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_SUFFIXES = (".yaml", ".yml")
_SUPPORTED = frozenset({"apiVersion", "kind", "metadata", "resources"})
_DEEPEST = 16
"""Folders within folders: more is a circle."""


def files_of(folder: Path) -> list[Path]:
    """Return the files of a folder, or those that its kustomization lists, in their order.

    Raises ConfigError if there is none or one is missing, and NotServedError for a kustomization
    that does more than list files.
    """
    found = list(_files(folder, 0))
    if not found:
        raise ConfigError(
            f"the folder '{folder}' has no YAML file",
            hint="give a file, or a folder with files that end in .yaml",
        )
    return found


def _files(folder: Path, depth: int) -> Iterator[Path]:
    if depth > _DEEPEST:
        raise ConfigError(f"the kustomization in '{folder}' includes itself")
    for name in _KUSTOMIZATIONS:
        if (folder / name).is_file():
            yield from _listed(folder / name, depth)
            return
    names = sorted(entry for entry in folder.iterdir() if entry.suffix in _SUFFIXES)
    yield from (path for path in names if path.is_file())


def _listed(kustomization: Path, depth: int) -> Iterator[Path]:
    try:
        body = yaml.load(kustomization.read_text(encoding="utf-8")) or {}
    except ConfigError as e:
        raise ConfigError(f"'{kustomization}' is not valid YAML: {e}", hint=e.hint) from e
    for resource in _resources(kustomization, body):
        path = kustomization.parent / resource
        if path.is_dir():
            yield from _files(path, depth + 1)
        elif path.is_file():
            yield path
        else:
            raise ConfigError(f"'{kustomization}' lists '{resource}', which does not exist")


def _resources(kustomization: Path, body: object) -> list[str]:
    if not isinstance(body, Mapping):
        raise ConfigError(f"'{kustomization}' is not a mapping")
    for field, value in body.items():
        if value and field not in _SUPPORTED:
            raise NotServedError(
                f"'{kustomization}': '{field}' is not supported",
                hint=f"render it first: kubectl kustomize {kustomization.parent} | "
                "kwokctl --config - ...",
            )
    resources = body.get("resources") or []
    if not isinstance(resources, list) or not all(isinstance(each, str) for each in resources):
        raise ConfigError(f"'{kustomization}': 'resources' must be a list of files")
    return resources
