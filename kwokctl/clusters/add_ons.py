"""Lists what a cluster may have in addition, optional components and add-ons; copies one to change it."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kwokctl import assets
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.components.catalog import catalog, usual_options
from kwokctl.config.add_ons.folder import SHIPPED, read_add_on, shipped
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ConflictError, UsageError
from kwokctl.model import ClusterName


class ListedAddOn(msgspec.Struct, frozen=True, kw_only=True):
    """One that 'create cluster --enable' takes, or that a cluster has."""

    name: str
    version: str
    about: str
    components: tuple[str, ...]
    enabled: bool | None
    """Whether the cluster has it; None without a cluster."""


def listed_add_ons(home: Home, cluster: ClusterName, *, is_named: bool) -> list[ListedAddOn]:
    """List all that come with kwokctl, and those of the user's own folders that a cluster has.

    Raises NotFoundError if the cluster was named by the user, and does not exist.
    """
    paths = home.paths(cluster)
    saved = load(paths, cluster) if is_named or paths.saved.is_file() else None
    return sorted([*_components(saved), *_add_ons(saved)], key=lambda each: each.name)


def copy_add_on(name: str, to: Path) -> Path:
    """Copy an add-on that comes with kwokctl into a folder below `to`; return that.

    Raises UsageError for a name that none of them has, and ConflictError if the folder exists.
    """
    known = shipped()
    if name not in known:
        near = did_you_mean(name, known)
        raise UsageError(
            f"no add-on that comes with kwokctl is called '{name}'",
            hint=near or f"there are: {', '.join(known)}",
        )
    target = to / name
    if target.exists():
        raise ConflictError(
            f"'{target}' exists", hint="choose another folder: nothing is overwritten"
        )
    try:
        shutil.copytree(assets.path(SHIPPED) / name, target)
    except OSError as e:
        raise UsageError(
            f"cannot write '{target}': {e.strerror}", hint="choose another folder"
        ) from e
    return target


def _components(saved: Saved | None) -> Iterator[ListedAddOn]:
    """Yield the components that a cluster has only where they were requested."""
    usual = usual_options()
    for name, each in catalog().items():
        if name not in usual.selection.components:
            yield ListedAddOn(
                name=name,
                version=each.version(saved.options if saved else usual),
                about=_about(name, each.build.__module__),
                components=(name,),
                enabled=name in saved.names if saved else None,
            )


def _about(name: str, module: str) -> str:
    """Return what the module of a component says of it."""
    first = (sys.modules[module].__doc__ or "").partition("\n")[0]
    text = first.removeprefix("Describes ").removeprefix(f"{name}: ")
    return text[:1].upper() + text[1:]


def _add_ons(saved: Saved | None) -> Iterator[ListedAddOn]:
    extras = saved.options.extras if saved else ()
    of_cluster: dict[str, list[str]] = {}
    for extra in extras:
        if extra.add_on:
            of_cluster.setdefault(extra.add_on.name, []).append(extra.name)
    for name in shipped():
        found = read_add_on(assets.path(SHIPPED) / name)
        yield ListedAddOn(
            name=name,
            version=found.version,
            about=found.about,
            components=tuple(str(each["name"]) for each in found.document.body["components"]),
            enabled=name in of_cluster if saved else None,
        )
    for name, components in of_cluster.items():
        if name not in shipped():
            version = next(each.version for each in extras if each.name == components[0])
            yield ListedAddOn(
                name=name, version=version, about="An add-on of your own.",
                components=tuple(components), enabled=True,
            )  # fmt: skip
